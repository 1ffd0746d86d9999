//! What the metadata tells of methods, fields and parameters.

use crate::metadata::value::DefaultValue;
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
