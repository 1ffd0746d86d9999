//! The values of custom attributes (ECMA-335 II.23.3).
//!
//! A blob does not say of which types the arguments of the constructor are: its signature does. Nor
//! does it say how wide an enumeration is: that is asked for.
//!
//! ```
//! use clr_profiler_il::attribute::{AttributeValue, Member, Value};
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // [Label("cart", 7, Loud = true)]
//! let blob = b"\x01\x00\x04cart\x07\x00\x00\x00\x01\x00\x54\x02\x04Loud\x01";
//! let constructor = MethodSig::new(TypeSig::Void, vec![TypeSig::String, TypeSig::I4]);
//! let label = AttributeValue::decode(blob, &constructor.params, |_| None)?;
//! assert_eq!(label.fixed, [Value::String(Some("cart".to_owned())), Value::I4(7)]);
//! assert_eq!(label.named[0].member, Member::Property);
//! assert_eq!(label.get("Loud"), Some(&Value::Bool(true)));
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
    /// The arguments of its constructor.
    pub fixed: Vec<Value>,
    /// The fields and properties that are set.
    pub named: Vec<NamedArgument>,
}

impl AttributeValue {
    /// Reads a whole blob: `parameters` are those of the constructor's signature, those of generic
    /// types replaced by what they stand for; `underlying` says of which type the values of an
    /// enumeration are.
    ///
    /// A parameter of any class is taken for `System.Type`: no other class may stand there. An empty
    /// blob is that of a constructor without parameters.
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

    /// What a field or property was set to.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let named = self.named.iter().find(|argument| argument.name == name);
        named.map(|argument| &argument.value)
    }
}

/// A field or property that is set.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArgument {
    /// Which of both it is.
    pub member: Member,
    /// Its name.
    pub name: String,
    /// What it is set to.
    pub value: Value,
}

/// What a [`NamedArgument`] sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A field.
    Field,
    /// A property.
    Property,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A `bool`.
    Bool(bool),
    /// A `char`: a unit of UTF-16.
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
    /// A text, or null.
    String(Option<String>),
    /// A `System.Type` by its name, as reflection writes it, or null.
    Type(Option<String>),
    /// A value of an enumeration.
    Enum {
        /// The enumeration.
        enum_type: EnumType,
        /// The number.
        value: Box<Value>,
    },
    /// The elements of an array, or null.
    Array(Option<Vec<Value>>),
    /// What an argument of the type `object` holds.
    Boxed(Box<Value>),
}

/// An enumeration, as an attribute names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EnumType {
    /// By the token in the constructor's signature.
    Token(TypeToken),
    /// By its name as reflection writes it, with the assembly where that is another one:
    /// `Shop.Cart+Kind, Shop, Version=1.0.0.0`.
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
