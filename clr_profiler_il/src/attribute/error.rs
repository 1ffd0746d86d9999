use std::error::Error;
use std::fmt;

use super::EnumType;
use crate::messages::messages;
use crate::signature::{SignatureErrorKind, TypeSig};

messages! {
    /// Which rule of custom attributes is broken (ECMA-335 II.23.3).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum AttributeErrorKind {
        /// The blob ends inside a value.
        UnexpectedEnd => "the blob ends inside a value";
        /// Bytes follow the last argument: this many.
        TrailingBytes(count: usize) => "{count} bytes follow the last argument";
        /// The blob begins with this number instead of 1.
        WrongProlog(found: u16) => "0x{found:04x} in the place of 0x0001";
        /// A length of a text that breaks a rule of compressed integers.
        Length(kind: SignatureErrorKind) => "the length of a text: {kind}";
        /// A text that is no UTF-8.
        InvalidText => "a text that is no UTF-8";
        /// A name that is null.
        NullName => "a name that is null";
        /// A named argument that is neither a field (0x53) nor a property (0x54).
        UnknownMember(byte: u8) => "0x{byte:02x} is no field and no property";
        /// A byte that is no type of a named or boxed argument.
        UnknownType(byte: u8) => "0x{byte:02x} is no type of an argument";
        /// A parameter of a type that attributes cannot have.
        ParameterType(found: Box<TypeSig>) => "a constructor of an attribute cannot take {found:?}";
        /// An array of arrays.
        NestedArray => "an array of arrays";
        /// An array that announces more elements than bytes are left.
        CountExceedsBlob {
            /// The announced number of elements.
            count: u32,
            /// The bytes left in the blob.
            remaining: usize,
        } => "{count} elements are announced, {remaining} bytes are left";
        /// An enumeration that nobody knows, so that its width is not known.
        UnknownEnum(name: EnumType) => "the enumeration {name} is not known, nor how wide it is";
        /// The type of an enumeration's values cannot be one.
        NoEnum {
            /// The enumeration.
            enum_type: EnumType,
            /// What is said to be the type of its values.
            underlying: Box<TypeSig>,
        } => "{enum_type} is no enumeration: it holds {underlying:?}";
        /// Arrays of objects nested too deep.
        TooDeep => "arrays of objects nested too deep";
    }
}

/// A custom attribute that breaks a rule, and where.
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

    /// Where: the offset in the blob of what breaks the rule.
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
