//! The values of custom attributes (ECMA-335 II.23.3).
//!
//! A blob does not contain the types of the constructor's arguments: decoding needs the
//! constructor's signature. Nor does it contain the width of an enumeration: decoding asks the
//! caller for it.
//!
//! ```
//! use clr_profiler_il::attribute::{ArgumentValue, AttributeValue, NamedArgumentKind};
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // [Label("cart", 7, Loud = true)]
//! let blob = b"\x01\x00\x04cart\x07\x00\x00\x00\x01\x00\x54\x02\x04Loud\x01";
//! let constructor = MethodSig::new(TypeSig::Void, vec![TypeSig::String, TypeSig::I4]);
//! let label = AttributeValue::decode(blob, &constructor.params, |_| None)?;
//! assert_eq!(label.fixed, [ArgumentValue::String(Some("cart".to_owned())), ArgumentValue::I4(7)]);
//! assert_eq!(label.named[0].member, NamedArgumentKind::Property);
//! assert_eq!(label.get("Loud"), Some(&ArgumentValue::Bool(true)));
//! # Ok(())
//! # }
//! ```

mod error;
mod reader;

use std::fmt;
use std::sync::Arc;

use crate::signature::TypeSig;
use crate::token::TypeToken;

pub use error::{AttributeError, AttributeErrorKind};

/// The arguments of a custom attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeValue {
    /// The arguments of the constructor.
    pub fixed: Vec<ArgumentValue>,
    /// The fields and properties that are set.
    pub named: Vec<NamedArgument>,
}

impl AttributeValue {
    /// Reads a whole blob. `parameters` are the parameter types of the constructor's signature,
    /// with type parameters substituted; `underlying` returns the underlying type of an
    /// enumeration.
    ///
    /// A parameter of any class type is read as a `System.Type`, because no other class is allowed.
    /// An empty blob is accepted for a constructor without parameters.
    ///
    /// # Errors
    ///
    /// The first broken rule of ECMA-335 II.23.3 and its offset.
    pub fn decode(
        blob: &[u8],
        parameters: &[TypeSig],
        underlying: impl FnMut(&EnumType) -> Option<TypeSig>,
    ) -> Result<Self, AttributeError> {
        reader::Reader::new(blob, underlying).attribute(parameters)
    }

    /// The value of a named field or property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ArgumentValue> {
        let named = self.named.iter().find(|argument| argument.name == name);
        named.map(|argument| &argument.value)
    }
}

/// A field or property that is set.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArgument {
    /// Whether it is a field or a property.
    pub member: NamedArgumentKind,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ArgumentValue,
}

/// The kind of member that a [`NamedArgument`] sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedArgumentKind {
    /// A field.
    Field,
    /// A property.
    Property,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A `bool`.
    Bool(bool),
    /// A `char`, a UTF-16 code unit.
    Char(u16),
    /// An `sbyte`.
    I1(i8),
    /// A `byte`.
    U1(u8),
    /// A `short`.
    I2(i16),
    /// A `ushort`.
    U2(u16),
    /// An `int`.
    I4(i32),
    /// A `uint`.
    U4(u32),
    /// A `long`.
    I8(i64),
    /// A `ulong`.
    U8(u64),
    /// A `float`.
    R4(f32),
    /// A `double`.
    R8(f64),
    /// A string, or null.
    String(Option<String>),
    /// A `System.Type` by its reflection name, or null.
    Type(Option<String>),
    /// A value of an enumeration.
    Enum {
        /// The enumeration.
        enum_type: EnumType,
        /// The number.
        value: Box<ArgumentValue>,
    },
    /// The elements of an array, or null.
    Array(Option<Vec<ArgumentValue>>),
    /// The boxed argument of a parameter of type `object`.
    Boxed(Box<ArgumentValue>),
}

/// An enumeration, as an attribute names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EnumType {
    /// By the token in the constructor's signature.
    Token(TypeToken),
    /// By its reflection name, with the assembly if it is in another one: `Shop.Cart+Kind, Shop,
    /// Version=1.0.0.0`.
    Name(Arc<str>),
}

impl fmt::Display for EnumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => write!(f, "{}", token.token()),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests;
