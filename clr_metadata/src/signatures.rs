//! Signatures, and the kinds of types.

use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, SignatureError,
    StandAloneSig, TypeSig, TypeSpecSig,
};
use clr_profiler_il::token::{self, Token, TokenTable, TypeDef, TypeToken};

use crate::columns::MethodDefOrRef;
use crate::error::{ErrorKind, Result};
use crate::heaps::BlobIndex;
use crate::metadata::Metadata;
use crate::names::wrong;

/// A signature that a blob can contain.
pub trait Signature: Sized {
    #[doc(hidden)]
    fn parse_blob(blob: &[u8]) -> std::result::Result<Self, SignatureError>;
}

macro_rules! signatures {
    ($($name:ident)*) => {$(
        impl Signature for $name {
            fn parse_blob(blob: &[u8]) -> std::result::Result<Self, SignatureError> {
                Self::parse(blob)
            }
        }
    )*};
}

signatures! {
    FieldSig LocalsSig MemberRefSig MethodSig MethodSpecSig PropertySig StandAloneSig TypeSpecSig
}

/// The kind of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A class, delegates included.
    Class,
    /// An interface.
    Interface,
    /// A structure.
    ValueType,
    /// An enumeration, with the type of its values.
    Enum(TypeSig),
}

impl<'a> Metadata<'a> {
    /// The blob of a signature as its type.
    ///
    /// ```
    /// use clr_metadata::Image;
    /// use clr_metadata::token::MethodDef;
    /// use clr_profiler_il::signature::MethodSig;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = include_bytes!("../../tests/profilees/Basics.dll");
    /// let metadata = Image::parse(file)?.metadata()?;
    /// for method in metadata.tokens::<MethodDef>() {
    ///     let signature: MethodSig = metadata.signature(metadata.row(method)?.signature)?;
    ///     println!("{method} has {} parameters", signature.params.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the blob exceeds its heap, or is no signature of this type.
    pub fn signature<S: Signature>(&self, index: BlobIndex) -> Result<S> {
        let blob = self.heaps.blob(index)?;
        S::parse_blob(blob.data())
            .map_err(|error| blob.error(ErrorKind::Signature(error.kind()), error.offset()))
    }

    /// The signature of a method by the operand of a `call`: a `MethodDef`, a `MemberRef`, or a `MethodSpec`, whose
    /// generic method it is. Also that of a `StandAloneSig`, the operand of a `calli`.
    ///
    /// # Errors
    ///
    /// If the token is not one of a method, or if a row or blob is malformed.
    pub fn method_signature(&self, method: impl Into<Token>) -> Result<MethodSig> {
        let method = method.into();
        match method.table() {
            TokenTable::METHOD_DEF => {
                self.signature(self.row(self.typed::<token::MethodDef>(method)?)?.signature)
            }
            TokenTable::MEMBER_REF => {
                let row = self.row(self.typed::<token::MemberRef>(method)?)?;
                match self.signature(row.signature)? {
                    MemberRefSig::Method(signature) => Ok(signature),
                    MemberRefSig::Field(_) => Err(wrong(method)),
                }
            }
            TokenTable::METHOD_SPEC => {
                match self.row(self.typed::<token::MethodSpec>(method)?)?.method {
                    // Not itself a `MethodSpec`: the recursion is one step deep.
                    MethodDefOrRef::MethodDef(method) => self.method_signature(method),
                    MethodDefOrRef::MemberRef(method) => self.method_signature(method),
                }
            }
            TokenTable::STAND_ALONE_SIG => {
                let row = self.row(self.typed::<token::StandAloneSig>(method)?)?;
                match self.signature(row.signature)? {
                    StandAloneSig::Method(signature) => Ok(signature),
                    _ => Err(wrong(method)),
                }
            }
            _ => Err(wrong(method)),
        }
    }

    /// The signature of a field by the operand of an `ldfld`: a `FieldDef` or a `MemberRef`.
    ///
    /// # Errors
    ///
    /// If the token is not one of a field, or if the row or its blob is malformed.
    pub fn field_signature(&self, field: impl Into<Token>) -> Result<FieldSig> {
        let field = field.into();
        if field.table() == TokenTable::FIELD_DEF {
            return self.signature(self.row(self.typed::<token::FieldDef>(field)?)?.signature);
        }
        let row = self.row(self.typed::<token::MemberRef>(field)?)?;
        match self.signature(row.signature)? {
            MemberRefSig::Field(signature) => Ok(signature),
            MemberRefSig::Method(_) => Err(wrong(field)),
        }
    }

    /// The kind of a type that is defined here.
    ///
    /// # Errors
    ///
    /// If there is no such type, or if a row, name or signature is malformed.
    pub fn type_kind(&self, of: TypeDef) -> Result<TypeKind> {
        let row = self.row(of)?;
        if row.attributes.is_interface() {
            return Ok(TypeKind::Interface);
        }
        if row.extends.is_nil() || matches!(row.extends, TypeToken::Spec(_)) {
            return Ok(TypeKind::Class);
        }
        let base = self.type_name(row.extends)?;
        if base.namespace != "System" {
            return Ok(TypeKind::Class);
        }
        match base.name {
            "Enum" => self.enum_values(of).map(TypeKind::Enum),
            // The base of all enumerations is itself a class.
            "ValueType" if !self.type_name(of.into())?.is("System.Enum") => Ok(TypeKind::ValueType),
            _ => Ok(TypeKind::Class),
        }
    }

    /// The type of the values of an enumeration: that of its only instance field.
    fn enum_values(&self, of: TypeDef) -> Result<TypeSig> {
        for field in self.fields(of) {
            if !self.row(field)?.attributes.is_static() {
                return Ok(self.field_signature(field)?.field_type);
            }
        }
        Err(wrong(of.token()))
    }
}
