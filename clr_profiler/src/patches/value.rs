//! The Rust types of the values that a patch reads and writes.

use crate::error::{Error, Result};
use crate::rewrite::Primitive;

/// A value that was read from a call.
#[derive(Debug)]
pub enum Read {
    /// A primitive, with its bits.
    #[doc(hidden)]
    Number(Primitive, u64),
    /// A string, or null.
    #[doc(hidden)]
    Text(Option<Vec<u16>>),
}

/// A value to be written.
#[derive(Debug)]
pub enum Written {
    #[doc(hidden)]
    Number(Primitive, u64),
    #[doc(hidden)]
    Text(Option<Vec<u16>>),
}

mod sealed {
    pub trait Sealed {}
}
pub(super) use sealed::Sealed;

/// A Rust type as which a [`Call`](super::Call) reads a value.
///
/// | Rust | .NET |
/// |---|---|
/// | `bool` | `bool` |
/// | `char`, `u16` | `char` |
/// | `i8` to `i64`, `u8` to `u64`, `isize`, `usize` | the same integer; an enumeration of this underlying type; a struct that wraps one |
/// | `f32`, `f64` | `float`, `double` |
/// | `String` | a string that is not null; invalid UTF-16 is replaced |
/// | `Option<String>` | a string |
#[diagnostic::on_unimplemented(message = "a patch cannot read a value as `{Self}`")]
pub trait CallValue: Sealed + Sized {
    #[doc(hidden)]
    fn from_call(value: Read) -> Result<Self>;

    /// That of a number of this type; `None` if it is none.
    #[doc(hidden)]
    #[inline]
    fn from_number(_: Primitive, _: u64) -> Option<Self> {
        None
    }
}

/// A Rust type that a [`Call`](super::Call) writes: those of [`CallValue`], `&str` and `Option<&str>`.
#[diagnostic::on_unimplemented(message = "a patch cannot write a value of `{Self}`")]
pub trait IntoCallValue: Sealed {
    #[doc(hidden)]
    fn into_call(self, wanted: Option<Primitive>) -> Written;

    /// The bits of a number of this type; `None` if it is none.
    #[doc(hidden)]
    #[inline]
    fn number(&self, _: Primitive) -> Option<u64> {
        None
    }
}

/// The type of a number, in Rust and in C#.
pub(super) fn type_of(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "`bool`",
        Primitive::Char => "`char` or `u16` (C# `char`)",
        Primitive::I1 => "`i8` (C# `sbyte`)",
        Primitive::U1 => "`u8` (C# `byte`)",
        Primitive::I2 => "`i16` (C# `short`)",
        Primitive::U2 => "`u16` (C# `ushort`)",
        Primitive::I4 => "`i32` (C# `int`)",
        Primitive::U4 => "`u32` (C# `uint`)",
        Primitive::I8 => "`i64` (C# `long`)",
        Primitive::U8 => "`u64` (C# `ulong`)",
        Primitive::R4 => "`f32` (C# `float`)",
        Primitive::R8 => "`f64` (C# `double`)",
        Primitive::NativeInt => "`isize` (C# `nint`)",
        Primitive::NativeUint => "`usize` (C# `nuint`)",
    }
}

impl Written {
    /// For messages.
    pub(super) fn shown(&self) -> &'static str {
        match self {
            Self::Number(primitive, _) => type_of(*primitive),
            Self::Text(Some(_)) => "a string",
            Self::Text(None) => "null",
        }
    }
}

fn other_type(wanted: &str, value: &Read) -> Error {
    let found = match value {
        Read::Number(primitive, _) => type_of(*primitive),
        Read::Text(_) => "`Option<String>` (C# `string`)",
    };
    Error::other(format!("read it as {found}, not as `{wanted}`"))
}

/// A row: the Rust type, the types of .NET that it reads, the first of which it writes, and the conversions.
macro_rules! numbers {
    ($($type:ty: $first:ident $(| $more:ident)*, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl Sealed for $type {}

        impl CallValue for $type {
            fn from_call(value: Read) -> Result<Self> {
                match value {
                    Read::Number(Primitive::$first $(| Primitive::$more)*, bits) => $from_bits(bits),
                    other => Err(other_type(stringify!($type), &other)),
                }
            }

            #[inline]
            fn from_number(primitive: Primitive, bits: u64) -> Option<Self> {
                match primitive {
                    Primitive::$first $(| Primitive::$more)* => {
                        let read: Result<Self> = $from_bits(bits);
                        read.ok()
                    }
                    _ => None,
                }
            }
        }

        impl IntoCallValue for $type {
            fn into_call(self, wanted: Option<Primitive>) -> Written {
                let primitive = match wanted {
                    $(Some(Primitive::$more) => Primitive::$more,)*
                    _ => Primitive::$first,
                };
                Written::Number(primitive, $to_bits(self))
            }

            #[inline]
            fn number(&self, primitive: Primitive) -> Option<u64> {
                match primitive {
                    Primitive::$first $(| Primitive::$more)* => Some($to_bits(*self)),
                    _ => None,
                }
            }
        }
    )*};
}

numbers! {
    bool: Bool, u64::from, |bits: u64| Ok(bits as u8 != 0);
    char: Char, |value: char| u64::from(u16::try_from(u32::from(value)).unwrap_or(0xfffd)), |bits: u64| {
        let unit = bits as u16;
        char::from_u32(u32::from(unit))
            .ok_or_else(|| Error::other(format!("{unit:#06x} is half of a character: read it as `u16`")))
    };
    i8: I1, |value: i8| u64::from(value.cast_unsigned()), |bits: u64| Ok(bits as i8);
    u8: U1, u64::from, |bits: u64| Ok(bits as u8);
    i16: I2, |value: i16| u64::from(value.cast_unsigned()), |bits: u64| Ok(bits as i16);
    u16: U2 | Char, u64::from, |bits: u64| Ok(bits as u16);
    i32: I4, |value: i32| u64::from(value.cast_unsigned()), |bits: u64| Ok(bits as i32);
    u32: U4, u64::from, |bits: u64| Ok(bits as u32);
    i64: I8, |value: i64| value.cast_unsigned(), |bits: u64| Ok(bits as i64);
    u64: U8, |value: u64| value, Ok;
    isize: NativeInt, |value: isize| value.cast_unsigned() as u64, |bits: u64| Ok(bits as isize);
    usize: NativeUint, |value: usize| value as u64, |bits: u64| Ok(bits as usize);
    f32: R4, |value: f32| u64::from(value.to_bits()), |bits: u64| Ok(f32::from_bits(bits as u32));
    f64: R8, f64::to_bits, |bits: u64| Ok(f64::from_bits(bits));
}

/// A value in a text: of any type until it is known what it is for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Text(String),
    Number(String),
}

/// The bits of a number of a type.
#[derive(Debug)]
pub(super) struct Number(pub(super) Primitive, pub(super) u64);

impl Sealed for Number {}

impl IntoCallValue for Number {
    fn into_call(self, _: Option<Primitive>) -> Written {
        Written::Number(self.0, self.1)
    }
}

/// The bits of the number that a text has, in a type.
pub(super) fn parse_number(primitive: Primitive, text: &str) -> Option<u64> {
    fn bits<T: std::str::FromStr + IntoCallValue>(text: &str) -> Option<u64> {
        match text.parse::<T>().ok()?.into_call(None) {
            Written::Number(_, bits) => Some(bits),
            Written::Text(_) => None,
        }
    }
    match primitive {
        Primitive::Bool => bits::<bool>(text),
        Primitive::Char => bits::<char>(text),
        Primitive::I1 => bits::<i8>(text),
        Primitive::U1 => bits::<u8>(text),
        Primitive::I2 => bits::<i16>(text),
        Primitive::U2 => bits::<u16>(text),
        Primitive::I4 => bits::<i32>(text),
        Primitive::U4 => bits::<u32>(text),
        Primitive::I8 => bits::<i64>(text),
        Primitive::U8 => bits::<u64>(text),
        Primitive::R4 => bits::<f32>(text),
        Primitive::R8 => bits::<f64>(text),
        Primitive::NativeInt => bits::<isize>(text),
        Primitive::NativeUint => bits::<usize>(text),
    }
}

impl Sealed for String {}
impl Sealed for Option<String> {}
impl Sealed for &str {}
impl Sealed for Option<&str> {}

impl CallValue for Option<String> {
    fn from_call(value: Read) -> Result<Self> {
        match value {
            Read::Text(text) => Ok(text.map(|units| String::from_utf16_lossy(&units))),
            other => Err(other_type("Option<String>", &other)),
        }
    }
}

impl CallValue for String {
    fn from_call(value: Read) -> Result<Self> {
        match value {
            Read::Text(None) => Err(Error::other("it is null: read it as `Option<String>`")),
            Read::Text(Some(units)) => Ok(Self::from_utf16_lossy(&units)),
            other => Err(other_type("String", &other)),
        }
    }
}

impl IntoCallValue for Option<&str> {
    fn into_call(self, _: Option<Primitive>) -> Written {
        Written::Text(self.map(|text| text.encode_utf16().collect()))
    }
}

impl IntoCallValue for &str {
    fn into_call(self, wanted: Option<Primitive>) -> Written {
        Some(self).into_call(wanted)
    }
}

impl IntoCallValue for String {
    fn into_call(self, wanted: Option<Primitive>) -> Written {
        self.as_str().into_call(wanted)
    }
}

impl IntoCallValue for Option<String> {
    fn into_call(self, wanted: Option<Primitive>) -> Written {
        self.as_deref().into_call(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through<T: CallValue + IntoCallValue>(value: T) -> T {
        match value.into_call(None) {
            Written::Number(primitive, bits) => {
                T::from_call(Read::Number(primitive, bits)).unwrap()
            }
            Written::Text(text) => T::from_call(Read::Text(text)).unwrap(),
        }
    }

    #[test]
    fn values_survive_both_ways() {
        assert_eq!(through(-7_i8), -7);
        assert_eq!(through(i16::MIN), i16::MIN);
        assert_eq!(through(-1_i32), -1);
        assert_eq!(through(i64::MIN), i64::MIN);
        assert_eq!(through(u64::MAX), u64::MAX);
        assert_eq!(through(-2.5_f32), -2.5);
        assert_eq!(through(1e300), 1e300);
        assert!(through(true));
        assert_eq!(through('ß'), 'ß');
        assert_eq!(through(-3_isize), -3);
        assert_eq!(through("a\u{1F600}".to_owned()), "a\u{1F600}");
        assert_eq!(through(None::<String>), None);
    }

    #[test]
    fn other_types_are_refused() {
        assert!(i32::from_call(Read::Number(Primitive::U4, 1)).is_err());
        assert!(i64::from_call(Read::Number(Primitive::I4, 1)).is_err());
        assert!(String::from_call(Read::Text(None)).is_err());
        assert!(String::from_call(Read::Number(Primitive::I4, 1)).is_err());
        assert!(char::from_call(Read::Number(Primitive::Char, 0xd800)).is_err());
        assert_eq!(parse_number(Primitive::I2, "-2"), Some(0xfffe));
        assert_eq!(parse_number(Primitive::Bool, "true"), Some(1));
        assert_eq!(parse_number(Primitive::U1, "256"), None);
        assert_eq!(
            u16::from_call(Read::Number(Primitive::Char, 0xd800)).unwrap(),
            0xd800
        );
    }
}
