//! What the metadata tells of methods, fields and parameters.

use crate::error::{Error, Result};
use crate::metadata::value::DefaultValue;
use clr_profiler_il::signature::{FieldSig, MemberRefSig, MethodSig};
use clr_profiler_il::token::{MethodDef, Token, TypeDef};

/// A method that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorMethodAttr`, ECMA-335 II.23.1.10.
    pub attributes: u32,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// Where its body stands in the image; zero where it has none there.
    pub rva: u32,
    /// How it is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    pub implementation: u32,
}

impl MethodProps {
    /// The signature.
    ///
    /// # Errors
    ///
    /// Where it breaks a rule of ECMA-335 II.23.2: which one, and where.
    pub fn signature(&self) -> Result<MethodSig> {
        MethodSig::parse(&self.signature_blob)
            .map_err(|error| Error::invalid("the signature of the method", error))
    }
}

/// A field that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorFieldAttr`, ECMA-335 II.23.1.5.
    pub attributes: u32,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// The value of a literal.
    pub value: Option<DefaultValue>,
}

impl FieldProps {
    /// The signature.
    ///
    /// # Errors
    ///
    /// Where it breaks a rule of ECMA-335 II.23.2: which one, and where.
    pub fn signature(&self) -> Result<FieldSig> {
        FieldSig::parse(&self.signature_blob)
            .map_err(|error| Error::invalid("the signature of the field", error))
    }
}

/// A method or field that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorMethodAttr` or `CorFieldAttr`.
    pub attributes: u32,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// Where a method's body stands in the image.
    pub rva: u32,
    /// How a method is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    pub implementation: u32,
    /// The value of a literal field.
    pub value: Option<DefaultValue>,
}

/// A method or field that a module uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberRefProps {
    /// Where to look for it: a type of any kind, a module, or a method with variable arguments.
    pub parent: Token,
    /// Its name.
    pub name: String,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
}

macro_rules! member_signature {
    ($($name:ident)*) => {$(
        impl $name {
            /// The signature: of a method or of a field.
            ///
            /// # Errors
            ///
            /// Where it breaks a rule of ECMA-335 II.23.2: which one, and where.
            pub fn signature(&self) -> Result<MemberRefSig> {
                MemberRefSig::parse(&self.signature_blob)
                    .map_err(|error| Error::invalid("the signature of the member", error))
            }
        }
    )*};
}
member_signature!(MemberProps MemberRefProps);

/// A parameter of a method that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamProps {
    /// The method.
    pub method: MethodDef,
    /// Which parameter: 1 is the first one, 0 the value that is returned.
    pub sequence: u32,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorParamAttr`, ECMA-335 II.23.1.13.
    pub attributes: u32,
    /// Its default.
    pub value: Option<DefaultValue>,
}

/// Where the body of a method or the data of a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rva {
    /// The address in the image; zero where there is nothing there.
    pub rva: u32,
    /// How a method is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    pub implementation: u32,
}
