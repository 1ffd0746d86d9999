//! The values of local constants.

use clr_profiler_il::signature::SignatureErrorKind;
use clr_profiler_il::token::{self, TypeToken};

use super::cursor::Cursor;
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::heaps::UserString;

/// A local constant, such as `const int Limit = 5` in a method.
#[derive(Clone, Copy, Debug)]
pub struct LocalConstant<'a> {
    /// The row of the constant.
    pub token: token::LocalConstant,
    /// The name.
    pub name: &'a str,
    pub(super) signature: Bytes<'a>,
}

/// The type and value of a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalConstantValue<'a> {
    /// The custom modifiers of the type, and whether each is required (`modreq`).
    pub modifiers: Vec<(TypeToken, bool)>,
    /// The value.
    pub value: Constant<'a>,
    /// The enumeration of which the value is; `None` for other types.
    pub enumeration: Option<TypeToken>,
}

/// The value of a local constant.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Constant<'a> {
    /// A `bool`.
    Bool(bool),
    /// A `char`: a UTF-16 code unit.
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
    String(Option<UserString<'a>>),
    /// Null, of the type `object`.
    Object,
    /// A value of a class.
    Class {
        /// The class.
        class: TypeToken,
        /// Its value in the form of that type; empty for null.
        value: &'a [u8],
    },
    /// A value of a value type that is no enumeration.
    ValueType {
        /// The type.
        value_type: TypeToken,
        /// Its value; empty for the default. A `System.Decimal` has a byte with the scale and, as its highest bit,
        /// the sign, followed by the low, middle and high part in four bytes each. A `System.DateTime` has its ticks in eight bytes.
        value: &'a [u8],
    },
}

impl<'a> LocalConstant<'a> {
    /// The bytes of its type and value.
    #[must_use]
    pub const fn signature(&self) -> &'a [u8] {
        self.signature.data()
    }

    /// Its type and value.
    ///
    /// # Errors
    ///
    /// If the blob is malformed.
    pub fn value(&self) -> Result<LocalConstantValue<'a>> {
        let mut cursor = Cursor::new(self.signature);
        let mut modifiers = Vec::new();
        loop {
            let start = cursor;
            let is_required = match cursor.u8()? {
                0x1f => true,
                0x20 => false,
                element => {
                    let value = value(element, &mut cursor, start)?;
                    let enumeration = match value {
                        _ if cursor.is_at_end() => None,
                        Constant::R4(_) | Constant::R8(_) => {
                            return Err(cursor.error(ErrorKind::Constant(element)));
                        }
                        _ => Some(cursor.type_token()?),
                    };
                    if !cursor.is_at_end() {
                        return Err(cursor.error(ErrorKind::Constant(element)));
                    }
                    return Ok(LocalConstantValue {
                        modifiers,
                        value,
                        enumeration,
                    });
                }
            };
            modifiers.push((cursor.type_token()?, is_required));
        }
    }
}

/// The value after the byte of an element type (ECMA-335 II.23.1.16).
fn value<'a>(element: u8, cursor: &mut Cursor<'a>, start: Cursor<'a>) -> Result<Constant<'a>> {
    Ok(match element {
        0x02 => Constant::Bool(cursor.u8()? != 0),
        0x03 => Constant::Char(cursor.u16()?),
        0x04 => Constant::I1(i8::from_le_bytes(cursor.array()?)),
        0x05 => Constant::U1(cursor.u8()?),
        0x06 => Constant::I2(i16::from_le_bytes(cursor.array()?)),
        0x07 => Constant::U2(cursor.u16()?),
        0x08 => Constant::I4(i32::from_le_bytes(cursor.array()?)),
        0x09 => Constant::U4(cursor.u32()?),
        0x0a => Constant::I8(i64::from_le_bytes(cursor.array()?)),
        0x0b => Constant::U8(u64::from_le_bytes(cursor.array()?)),
        0x0c => Constant::R4(f32::from_le_bytes(cursor.array()?)),
        0x0d => Constant::R8(f64::from_le_bytes(cursor.array()?)),
        0x0e => {
            let units = cursor.rest();
            match units.data() {
                [0xff] => Constant::String(None),
                data => {
                    let string = UserString::from_bytes(data);
                    let string = string.ok_or_else(|| units.error(ErrorKind::InvalidUserString, 0));
                    Constant::String(Some(string?))
                }
            }
        }
        0x11 => {
            let value_type = cursor.type_token()?;
            Constant::ValueType {
                value_type,
                value: cursor.rest().data(),
            }
        }
        0x12 => {
            let class = cursor.type_token()?;
            Constant::Class {
                class,
                value: cursor.rest().data(),
            }
        }
        0x1c => Constant::Object,
        _ => {
            let kind = SignatureErrorKind::UnknownElementType(element);
            return Err(start.error(ErrorKind::Signature(kind)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(blob: &[u8]) -> Result<LocalConstantValue<'_>> {
        let signature = Bytes::new(blob);
        LocalConstant {
            token: token::LocalConstant::NIL,
            name: "",
            signature,
        }
        .value()
    }

    fn plain(value: Constant<'_>) -> LocalConstantValue<'_> {
        LocalConstantValue {
            modifiers: Vec::new(),
            value,
            enumeration: None,
        }
    }

    #[test]
    fn each_type_has_its_size() {
        for (blob, value) in [
            (&[2, 1][..], Constant::Bool(true)),
            (&[3, 0x41, 0], Constant::Char(0x41)),
            (&[4, 0xff], Constant::I1(-1)),
            (&[5, 0xff], Constant::U1(255)),
            (&[6, 0xfe, 0xff], Constant::I2(-2)),
            (&[7, 0xfe, 0xff], Constant::U2(0xfffe)),
            (&[8, 0xfd, 0xff, 0xff, 0xff], Constant::I4(-3)),
            (&[9, 1, 0, 0, 0x80], Constant::U4(0x8000_0001)),
            (&[10, 1, 0, 0, 0, 0, 0, 0, 0x80], Constant::I8(i64::MIN + 1)),
            (
                &[11, 1, 0, 0, 0, 0, 0, 0, 0x80],
                Constant::U8((1 << 63) | 1),
            ),
            (&[12, 0, 0, 0x80, 0x3f], Constant::R4(1.0)),
            (&[13, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f], Constant::R8(1.0)),
            (&[14, 0xff], Constant::String(None)),
            (&[0x1c], Constant::Object),
        ] {
            assert_eq!(read(blob).unwrap(), plain(value));
            let end = read(&blob[..blob.len() - 1]);
            assert!(end.is_err() || blob == [14, 0xff], "{blob:x?}: {end:?}");
        }
        let Constant::String(Some(text)) = read(&[14, 0x41, 0, 0x3d, 0xd8]).unwrap().value else {
            panic!("no string");
        };
        assert_eq!(text.to_string_lossy(), "A\u{fffd}");
    }

    #[test]
    fn types_follow_values_of_enumerations() {
        // TypeRef 2.
        let day = TypeToken::Ref(token::TypeRef::from_row(2).unwrap());
        let read_value = read(&[0x1f, 9, 8, 3, 0, 0, 0, 9]).unwrap();
        assert_eq!(read_value.modifiers, [(day, true)]);
        assert_eq!(read_value.value, Constant::I4(3));
        assert_eq!(read_value.enumeration, Some(day));
        let decimal = read(&[0x11, 9, 0x82, 1, 2, 3]).unwrap();
        let value = &[0x82, 1, 2, 3][..];
        assert_eq!(
            decimal,
            plain(Constant::ValueType {
                value_type: day,
                value
            })
        );
        let null = Constant::Class {
            class: day,
            value: &[],
        };
        assert_eq!(read(&[0x12, 9]).unwrap(), plain(null));
    }

    #[test]
    fn impossible_values_are_errors() {
        for (blob, offset) in [
            (&[][..], 0),
            (&[0x1d, 8], 0),
            (&[8, 0, 0, 0, 0, 9, 0], 6),
            (&[12, 0, 0, 0, 0, 9], 5),
            (&[14, 0x41], 1),
        ] {
            assert_eq!(read(blob).unwrap_err().offset(), offset, "{blob:x?}");
        }
    }
}
