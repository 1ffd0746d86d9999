use std::borrow::Cow;

use clr_profiler_il::attributes::{
    CodeType, FieldAttributes, MethodImplAttributes, TypeAttributes,
};
use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, StandAloneSig, TypeSig,
    TypeSpecSig,
};
use clr_profiler_il::token::{Token, TokenTable};

use crate::error::{Error, ErrorKind, Result};
use crate::image::Image;
use crate::metadata::Metadata;

/// The columns that are read.
mod column {
    pub(super) const TYPE_REF_NAME: usize = 1;
    pub(super) const TYPE_DEF_FLAGS: usize = 0;
    pub(super) const TYPE_DEF_NAME: usize = 1;
    pub(super) const TYPE_DEF_EXTENDS: usize = 3;
    pub(super) const TYPE_DEF_FIELDS: usize = 4;
    pub(super) const FIELD_FLAGS: usize = 0;
    pub(super) const METHOD_RVA: usize = 0;
    pub(super) const METHOD_IMPL_FLAGS: usize = 1;
    pub(super) const METHOD_NAME: usize = 3;
    pub(super) const METHOD_SPEC_METHOD: usize = 0;
    pub(super) const ATTRIBUTE_CONSTRUCTOR: usize = 1;
    pub(super) const ATTRIBUTE_VALUE: usize = 2;
    pub(super) const ASSEMBLY_REF_NAME: usize = 6;
}

/// An assembly, or another module with metadata, in the bytes of its file.
#[derive(Debug)]
pub struct Assembly<'a> {
    image: Image<'a>,
    pub(crate) metadata: Metadata<'a>,
}

/// A method that the file defines.
#[derive(Clone, Debug)]
pub struct Method<'a> {
    /// Its `MethodDef` token.
    pub token: Token,
    /// Its name.
    pub name: Cow<'a, str>,
    /// The RVA of its body; 0 if it has none.
    pub rva: u32,
    /// Its IL body, from the first byte of the header to the last one of the code or of its
    /// sections; `None` for a method without one: abstract, from a native library, by the runtime.
    pub body: Option<&'a [u8]>,
    /// The blob of its signature, which [`Assembly::method_signature`] parses.
    pub signature: &'a [u8],
}

/// A signature in the metadata: the blob that one row refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The row.
    pub token: Token,
    /// The kind of the signature.
    pub kind: SignatureKind,
    /// Its bytes.
    pub blob: &'a [u8],
}

/// The kinds of [`Signature`], by the table that refers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignatureKind {
    /// Of a field defined here.
    Field,
    /// Of a method defined here.
    Method,
    /// Of a method or field defined elsewhere.
    MemberRef,
    /// Of the locals of a method, of a `calli`, or a type for debuggers.
    StandAlone,
    /// Of a property.
    Property,
    /// A type that is more than a name.
    TypeSpec,
    /// The type arguments of a generic method.
    MethodSpec,
}

impl SignatureKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Field,
        Self::Method,
        Self::MemberRef,
        Self::StandAlone,
        Self::Property,
        Self::TypeSpec,
        Self::MethodSpec,
    ];

    /// The table, and the column that refers to the blob.
    const fn place(self) -> (TokenTable, usize) {
        match self {
            Self::Field => (TokenTable::FIELD_DEF, 2),
            Self::Method => (TokenTable::METHOD_DEF, 4),
            Self::MemberRef => (TokenTable::MEMBER_REF, 2),
            Self::StandAlone => (TokenTable::STAND_ALONE_SIG, 0),
            Self::Property => (TokenTable::PROPERTY, 2),
            Self::TypeSpec => (TokenTable::TYPE_SPEC, 0),
            Self::MethodSpec => (TokenTable::METHOD_SPEC, 1),
        }
    }
}

/// The kind of a type, as far as its own file tells.
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
    /// The token is not one of a type defined here.
    Elsewhere,
}

impl<'a> Assembly<'a> {
    /// Reads the headers of a file; rows are read when they are requested.
    ///
    /// # Errors
    ///
    /// If the bytes are not a PE image with metadata, or are incomplete.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let image = Image::open(bytes)?;
        let metadata = Metadata::open(image.metadata()?)?;
        Ok(Self { image, metadata })
    }

    /// The number of rows of a table, which are numbered from 1.
    #[must_use]
    pub fn rows(&self, table: TokenTable) -> u32 {
        self.metadata.tables.rows(table)
    }

    /// The methods defined here, in the order of their tokens.
    ///
    /// An item is an error if its row, its name, its signature or its body's headers are broken.
    pub fn methods(&self) -> impl Iterator<Item = Result<Method<'a>>> {
        let tokens = self.metadata.tables.tokens(TokenTable::METHOD_DEF);
        tokens.map(|token| {
            let cell = |column| self.metadata.tables.cell(token, column);
            let rva = cell(column::METHOD_RVA)?;
            let implementation =
                MethodImplAttributes::from_bits_retain(cell(column::METHOD_IMPL_FLAGS)?);
            let has_body = rva != 0 && implementation.code_type() == CodeType::IL;
            Ok(Method {
                token,
                name: self.metadata.name(cell(column::METHOD_NAME)?)?,
                rva,
                body: has_body.then(|| self.image.body(rva)).transpose()?,
                signature: self.signature(token)?,
            })
        })
    }

    /// All signatures, table by table.
    pub fn signatures(&self) -> impl Iterator<Item = Result<Signature<'a>>> {
        SignatureKind::ALL.into_iter().flat_map(move |kind| {
            let tokens = self.metadata.tables.tokens(kind.place().0);
            tokens.map(move |token| {
                let blob = self.signature(token)?;
                Ok(Signature { token, kind, blob })
            })
        })
    }

    /// The blob of the signature that a token's row refers to.
    ///
    /// # Errors
    ///
    /// If the token's table has no signatures, or if the row or the blob does not exist.
    pub fn signature(&self, token: Token) -> Result<&'a [u8]> {
        let mut kinds = SignatureKind::ALL.into_iter();
        let kind = kinds
            .find(|kind| kind.place().0 == token.table())
            .ok_or(wrong(token))?;
        let offset = self.metadata.tables.cell(token, kind.place().1)?;
        self.metadata.blob(offset)
    }

    /// The signature of a method by the operand of a `call`: a `MethodDef`, a `MemberRef`, or a
    /// `MethodSpec`, for which it is the generic method's signature. Also that of a
    /// `StandAloneSig`, the operand of a `calli`.
    ///
    /// # Errors
    ///
    /// If the token is not one of a method, or if a row or blob on the way is broken.
    pub fn method_signature(&self, token: Token) -> Result<MethodSig> {
        match token.table() {
            TokenTable::METHOD_DEF => Ok(MethodSig::parse(self.signature(token)?)?),
            TokenTable::MEMBER_REF => match MemberRefSig::parse(self.signature(token)?)? {
                MemberRefSig::Method(signature) => Ok(signature),
                MemberRefSig::Field(_) => Err(wrong(token)),
            },
            TokenTable::STAND_ALONE_SIG => match StandAloneSig::parse(self.signature(token)?)? {
                StandAloneSig::Method(signature) => Ok(signature),
                _ => Err(wrong(token)),
            },
            TokenTable::METHOD_SPEC => {
                let tables = &self.metadata.tables;
                // A coded index that refers to methods only: this goes one step deep.
                self.method_signature(tables.coded(token, column::METHOD_SPEC_METHOD)?)
            }
            _ => Err(wrong(token)),
        }
    }

    /// The type arguments of a `MethodSpec`.
    ///
    /// # Errors
    ///
    /// If the token is not a `MethodSpec`, or if the row or its blob is broken.
    pub fn method_arguments(&self, token: Token) -> Result<MethodSpecSig> {
        let blob = self.signature_in(TokenTable::METHOD_SPEC, token)?;
        Ok(MethodSpecSig::parse(blob)?)
    }

    /// The signature of a field by the operand of an `ldfld`: a `FieldDef` or a `MemberRef`.
    ///
    /// # Errors
    ///
    /// If the token is not one of a field, or if the row or its blob is broken.
    pub fn field_signature(&self, token: Token) -> Result<FieldSig> {
        match token.table() {
            TokenTable::FIELD_DEF => Ok(FieldSig::parse(self.signature(token)?)?),
            TokenTable::MEMBER_REF => match MemberRefSig::parse(self.signature(token)?)? {
                MemberRefSig::Field(signature) => Ok(signature),
                MemberRefSig::Method(_) => Err(wrong(token)),
            },
            _ => Err(wrong(token)),
        }
    }

    /// The locals of the token in the header of a method body.
    ///
    /// # Errors
    ///
    /// If the token is not one of locals, or if the row or its blob is broken.
    pub fn locals(&self, token: Token) -> Result<LocalsSig> {
        let blob = self.signature_in(TokenTable::STAND_ALONE_SIG, token)?;
        Ok(LocalsSig::parse(blob)?)
    }

    /// The type of a `TypeSpec`.
    ///
    /// # Errors
    ///
    /// If the token is not a `TypeSpec`, or if the row or its blob is broken.
    pub fn type_spec(&self, token: Token) -> Result<TypeSpecSig> {
        let blob = self.signature_in(TokenTable::TYPE_SPEC, token)?;
        Ok(TypeSpecSig::parse(blob)?)
    }

    /// The constructor and the value of each custom attribute.
    ///
    /// An item is an error if its row or its blob is broken.
    pub fn custom_attributes(&self) -> impl Iterator<Item = Result<(Token, &'a [u8])>> {
        let tables = &self.metadata.tables;
        tables.tokens(TokenTable::CUSTOM_ATTRIBUTE).map(|token| {
            let constructor = tables.coded(token, column::ATTRIBUTE_CONSTRUCTOR)?;
            let value = tables.cell(token, column::ATTRIBUTE_VALUE)?;
            Ok((constructor, self.metadata.blob(value)?))
        })
    }

    /// The names of the assemblies that this one refers to.
    ///
    /// An item is an error if its row or its name is broken.
    pub fn references(&self) -> impl Iterator<Item = Result<Cow<'a, str>>> {
        let tables = &self.metadata.tables;
        tables.tokens(TokenTable::ASSEMBLY_REF).map(|token| {
            let name = tables.cell(token, column::ASSEMBLY_REF_NAME)?;
            self.metadata.name(name)
        })
    }

    /// Namespace and name of a `TypeDef` or a `TypeRef`.
    ///
    /// # Errors
    ///
    /// If the token is neither, or if the row or a name is broken.
    pub fn type_name(&self, token: Token) -> Result<(Cow<'a, str>, Cow<'a, str>)> {
        let column = match token.table() {
            TokenTable::TYPE_DEF => column::TYPE_DEF_NAME,
            TokenTable::TYPE_REF => column::TYPE_REF_NAME,
            _ => return Err(wrong(token)),
        };
        let name = |column| {
            self.metadata
                .name(self.metadata.tables.cell(token, column)?)
        };
        Ok((name(column + 1)?, name(column)?))
    }

    /// The kind of the type that a token refers to, if the type is defined here.
    ///
    /// # Errors
    ///
    /// If a row on the way is broken.
    pub fn type_kind(&self, token: Token) -> Result<TypeKind> {
        let tables = &self.metadata.tables;
        if token.table() != TokenTable::TYPE_DEF {
            return Ok(TypeKind::Elsewhere);
        }
        let attributes = tables.cell(token, column::TYPE_DEF_FLAGS)?;
        if TypeAttributes::from_bits_retain(attributes).is_interface() {
            return Ok(TypeKind::Interface);
        }
        let base = tables.coded(token, column::TYPE_DEF_EXTENDS)?;
        if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
            return Ok(TypeKind::Class);
        }
        match self.type_name(base)? {
            (namespace, _) if namespace != "System" => Ok(TypeKind::Class),
            (_, name) if name == "Enum" => self.enum_values(token).map(TypeKind::Enum),
            // The base of all enumerations is itself a class.
            (_, name) if name == "ValueType" && self.type_name(token)? != system("Enum") => {
                Ok(TypeKind::ValueType)
            }
            _ => Ok(TypeKind::Class),
        }
    }

    /// The type of an enumeration's values: that of its only instance field.
    fn enum_values(&self, token: Token) -> Result<TypeSig> {
        let tables = &self.metadata.tables;
        let first = tables.cell(token, column::TYPE_DEF_FIELDS)?;
        let end = match Token::from_row(TokenTable::TYPE_DEF, token.row() + 1) {
            Some(next) if next.row() <= self.rows(TokenTable::TYPE_DEF) => {
                tables.cell(next, column::TYPE_DEF_FIELDS)?
            }
            _ => self.rows(TokenTable::FIELD_DEF) + 1,
        };
        for field in (first..end).map_while(|row| Token::from_row(TokenTable::FIELD_DEF, row)) {
            let attributes = tables.cell(field, column::FIELD_FLAGS)?;
            if !FieldAttributes::from_bits_retain(attributes).is_static() {
                return Ok(self.field_signature(field)?.field_type);
            }
        }
        Err(wrong(token))
    }

    fn signature_in(&self, table: TokenTable, token: Token) -> Result<&'a [u8]> {
        if token.table() == table {
            self.signature(token)
        } else {
            Err(wrong(token))
        }
    }
}

const fn wrong(token: Token) -> Error {
    Error::new(ErrorKind::WrongToken(token), 0)
}

fn system(name: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    ("System".into(), name.into())
}
