use std::error::Error;
use std::fmt;

use super::EnumType;
use crate::messages::messages;
use crate::signature::{SignatureErrorKind, TypeSig};

messages! {
    /// The broken rule of custom attributes (ECMA-335 II.23.3).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum AttributeErrorKind {
        /// The blob ends inside a value.
        UnexpectedEnd => "the blob ends inside a value";
        /// This many bytes follow the last argument.
        TrailingBytes(count: usize) => "{count} bytes follow the last argument";
        /// The blob begins with this number instead of 1.
        WrongProlog(found: u16) => "0x{found:04x} instead of 0x0001";
        /// The length of a text breaks a rule of compressed integers.
        Length(kind: SignatureErrorKind) => "the length of a text: {kind}";
        /// A text that is not UTF-8.
        InvalidText => "a text that is not UTF-8";
        /// A name that is null.
        NullName => "a name that is null";
        /// The kind of a named argument is neither field (0x53) nor property (0x54).
        UnknownMember(byte: u8) => "0x{byte:02x} is neither a field nor a property";
        /// A byte that is not the type of a named or boxed argument.
        UnknownType(byte: u8) => "0x{byte:02x} is not an argument type";
        /// A parameter type that attributes cannot have.
        ParameterType(found: Box<TypeSig>) => "a constructor of an attribute cannot take {found:?}";
        /// An array of arrays.
        NestedArray => "an array of arrays";
        /// An array declares more elements than bytes are left.
        CountExceedsBlob {
            /// The declared number of elements.
            count: u32,
            /// The bytes left in the blob.
            remaining: usize,
        } => "{count} elements are declared, {remaining} bytes are left";
        /// An enumeration of unknown width.
        UnknownEnum(name: EnumType) => "the width of the enumeration {name} is not known";
        /// The underlying type of an enumeration cannot be one.
        NoEnum {
            /// The enumeration.
            enum_type: EnumType,
            /// The given underlying type.
            underlying: Box<TypeSig>,
        } => "{enum_type} is not an enumeration: its values are {underlying:?}";
        /// Arrays of objects nested too deep.
        TooDeep => "arrays of objects nested too deep";
    }
}

/// A broken rule of custom attributes, and its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeError {
    kind: AttributeErrorKind,
    offset: usize,
}

impl AttributeError {
    #[cold]
    pub(super) const fn new(kind: AttributeErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The broken rule.
    #[must_use]
    pub const fn kind(&self) -> &AttributeErrorKind {
        &self.kind
    }

    /// The offset in the blob of the item that breaks the rule.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for AttributeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom attribute, offset {}: {}", self.offset, self.kind)
    }
}

impl Error for AttributeError {}
