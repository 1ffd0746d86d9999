use std::error::Error;
use std::fmt;

use super::EnumType;
use crate::signature::{SignatureErrorKind, TypeSig};

/// Which rule of custom attributes is broken (ECMA-335 II.23.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeErrorKind {
    /// The blob ends inside a value.
    UnexpectedEnd,
    /// Bytes follow the last argument: this many.
    TrailingBytes(usize),
    /// The blob begins with this number instead of 1.
    WrongProlog(u16),
    /// A length of a text that breaks a rule of compressed integers.
    Length(SignatureErrorKind),
    /// A text that is no UTF-8.
    InvalidText,
    /// A name that is null.
    NullName,
    /// A named argument that is neither a field (0x53) nor a property (0x54).
    UnknownMember(u8),
    /// A byte that is no type of a named or boxed argument.
    UnknownType(u8),
    /// A parameter of a type that attributes cannot have.
    ParameterType(Box<TypeSig>),
    /// An array of arrays.
    NestedArray,
    /// An array that announces more elements than bytes are left.
    CountExceedsBlob {
        /// The announced number of elements.
        count: u32,
        /// The bytes left in the blob.
        remaining: usize,
    },
    /// An enumeration that nobody knows, so that its width is not known.
    UnknownEnum(EnumType),
    /// The type of an enumeration's values cannot be one.
    NoEnum {
        /// The enumeration.
        enum_type: EnumType,
        /// What is said to be the type of its values.
        underlying: Box<TypeSig>,
    },
    /// Arrays of objects nested too deep.
    TooDeep,
}

impl fmt::Display for AttributeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => write!(f, "the blob ends inside a value"),
            Self::TrailingBytes(count) => write!(f, "{count} bytes follow the last argument"),
            Self::WrongProlog(found) => write!(f, "0x{found:04x} in the place of 0x0001"),
            Self::Length(kind) => write!(f, "the length of a text: {kind}"),
            Self::InvalidText => write!(f, "a text that is no UTF-8"),
            Self::NullName => write!(f, "a name that is null"),
            Self::UnknownMember(byte) => write!(f, "0x{byte:02x} is no field and no property"),
            Self::UnknownType(byte) => write!(f, "0x{byte:02x} is no type of an argument"),
            Self::ParameterType(found) => {
                write!(f, "a constructor of an attribute cannot take {found:?}")
            }
            Self::NestedArray => write!(f, "an array of arrays"),
            Self::CountExceedsBlob { count, remaining } => write!(
                f,
                "{count} elements are announced, {remaining} bytes are left"
            ),
            Self::UnknownEnum(name) => {
                write!(f, "the enumeration {name} is not known, nor how wide it is")
            }
            Self::NoEnum {
                enum_type,
                underlying,
            } => write!(f, "{enum_type} is no enumeration: it holds {underlying:?}"),
            Self::TooDeep => write!(f, "arrays of objects nested too deep"),
        }
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
