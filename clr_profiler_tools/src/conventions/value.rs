//! The values of attributes.

use std::cmp::Ordering;
use std::fmt;

/// A value that a path has led to, or that an expression results in.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Value {
    /// There is none: an object on the path is null, or the member does not exist.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
    /// A value of an enumeration, with its name.
    Named(i64, String),
    /// Several values of one type.
    List(Vec<Value>),
}

impl Value {
    /// Whether it is `true`.
    #[must_use]
    pub fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Whether two values are equal; numbers of different types are if they are the same number.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Text(one), Self::Named(_, other)) | (Self::Named(_, one), Self::Text(other)) => {
                one == other
            }
            (Self::List(one), Self::List(other)) => one == other,
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }

    /// The order of two numbers, or of two texts.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            (Self::Int(one) | Self::Named(one, _), Self::Int(other) | Self::Named(other, _)) => {
                Some(one.cmp(other))
            }
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(number) | Self::Named(number, _) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as an integer; no value if it is none.
    #[must_use]
    pub fn to_int(&self) -> Self {
        match self {
            Self::Int(number) | Self::Named(number, _) => Self::Int(*number),
            Self::Float(number) if number.is_finite() => Self::Int(*number as i64),
            Self::Bool(is) => Self::Int(i64::from(*is)),
            Self::Text(text) => text.trim().parse().map_or(Self::Null, Self::Int),
            _ => Self::Null,
        }
    }

    /// The value as a floating-point number; no value if it is none.
    #[must_use]
    pub fn to_float(&self) -> Self {
        match self {
            Self::Text(text) => text.trim().parse().map_or(Self::Null, Self::Float),
            other => other.number().map_or(Self::Null, Self::Float),
        }
    }

    /// The value as a text; no value for none.
    #[must_use]
    pub fn to_text(&self) -> Self {
        match self {
            Self::Null => Self::Null,
            other => Self::Text(other.to_string()),
        }
    }

    /// The memory beyond the value itself.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Named(_, text) => text.len(),
            Self::List(all) => {
                size_of_val(all.as_slice()) + all.iter().map(Self::held_bytes).sum::<usize>()
            }
            _ => 0,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(is) => is.fmt(f),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) | Self::Named(_, text) => f.write_str(text),
            Self::List(all) => {
                for (number, value) in all.iter().enumerate() {
                    if number > 0 {
                        f.write_str(", ")?;
                    }
                    value.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}
