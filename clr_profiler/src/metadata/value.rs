//! [`ConstantValue`]: the constant of a field, parameter or property.

use std::ffi::c_void;

use crate::native::arguments;
use clr_profiler_sys as sys;

/// A constant: the value of a literal field, the default of a parameter or property
/// (ECMA-335 II.22.9).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstantValue {
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
    /// An `int`; also the value of most enumerations.
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
    /// A string.
    String(String),
    /// A string that is not valid UTF-16: it has lone surrogates.
    Utf16(Vec<u16>),
    /// A null reference.
    Null,
    /// A kind of constant that ECMA-335 does not define, by its element type; its size is not known.
    Unknown(u32),
}

/// A constant in the form that the writing calls take.
pub(crate) struct NativeValue {
    /// `CorElementType`.
    pub(super) element_type: u32,
    bytes: Vec<u8>,
    text: Vec<u16>,
    /// The length of a string in UTF-16 code units.
    pub(super) length: u32,
}

impl NativeValue {
    /// The bytes of the value; null if there are none.
    pub(super) fn start(&self) -> *const c_void {
        if self.element_type == sys::ELEMENT_TYPE_STRING {
            self.text.as_ptr().cast()
        } else if self.bytes.is_empty() {
            std::ptr::null()
        } else {
            self.bytes.as_ptr().cast()
        }
    }
}

arguments! {
    Option<&ConstantValue> => NativeValue = |value, _| Ok(ConstantValue::native(value));
}

/// Generates the conversions of the constants of fixed size.
///
/// `I4(i32) = ELEMENT_TYPE_I4;` becomes one arm in each direction.
macro_rules! numbers {
    ($($variant:ident($type:ty) = $element:ident;)*) => {
        /// # Safety
        ///
        /// `start` points to a value of the size of `element_type`.
        unsafe fn read_number(element_type: u32, start: *const c_void) -> Option<ConstantValue> {
            $(
                if element_type == sys::$element {
                    // SAFETY: the caller guarantees a value of that size; the read is unaligned, because
                    // blobs are not aligned.
                    let bytes = unsafe {
                        start.cast::<[u8; size_of::<$type>()]>().read_unaligned()
                    };
                    return Some(ConstantValue::$variant(<$type>::from_le_bytes(bytes)));
                }
            )*
            None
        }

        fn write_number(value: &ConstantValue) -> Option<(u32, Vec<u8>)> {
            match value {
                $(ConstantValue::$variant(value) => {
                    Some((sys::$element, value.to_le_bytes().to_vec()))
                })*
                _ => None,
            }
        }
    };
}

numbers! {
    Char(u16) = ELEMENT_TYPE_CHAR;
    I1(i8) = ELEMENT_TYPE_I1;
    U1(u8) = ELEMENT_TYPE_U1;
    I2(i16) = ELEMENT_TYPE_I2;
    U2(u16) = ELEMENT_TYPE_U2;
    I4(i32) = ELEMENT_TYPE_I4;
    U4(u32) = ELEMENT_TYPE_U4;
    I8(i64) = ELEMENT_TYPE_I8;
    U8(u64) = ELEMENT_TYPE_U8;
    R4(f32) = ELEMENT_TYPE_R4;
    R8(f64) = ELEMENT_TYPE_R8;
}

impl ConstantValue {
    /// The constant that a reading call returned, or `None`.
    ///
    /// # Safety
    ///
    /// `start` is null or points to a value of that type; a string has `length` code units.
    pub(crate) unsafe fn read(
        element_type: u32,
        start: *const c_void,
        length: u32,
    ) -> Option<Self> {
        let kind = element_type;
        if kind == sys::ELEMENT_TYPE_END || kind == sys::ELEMENT_TYPE_VOID {
            return None;
        }
        if kind == sys::ELEMENT_TYPE_STRING {
            let mut units = vec![0u16; if start.is_null() { 0 } else { length as usize }];
            if !units.is_empty() {
                // SAFETY: the caller guarantees `length` code units; the read is unaligned, because blobs are
                // not aligned.
                unsafe {
                    start
                        .cast::<u8>()
                        .copy_to_nonoverlapping(units.as_mut_ptr().cast(), units.len() * 2);
                }
            }
            return Some(match String::from_utf16(&units) {
                Ok(text) => Self::String(text),
                Err(_) => Self::Utf16(units),
            });
        }
        if kind == sys::ELEMENT_TYPE_CLASS {
            return Some(Self::Null);
        }
        if start.is_null() {
            return Some(Self::Unknown(element_type));
        }
        if kind == sys::ELEMENT_TYPE_BOOLEAN {
            // SAFETY: a `bool` has one byte.
            return Some(Self::Bool(unsafe { start.cast::<u8>().read() } != 0));
        }
        // SAFETY: the caller guarantees a value of the size of `element_type`.
        unsafe { read_number(element_type, start) }.or(Some(Self::Unknown(element_type)))
    }

    /// The constant for a writing call; `None` omits it.
    pub(super) fn native(value: Option<&Self>) -> NativeValue {
        let mut native = NativeValue {
            element_type: sys::ELEMENT_TYPE_VOID,
            bytes: Vec::new(),
            text: Vec::new(),
            length: 0,
        };
        let Some(value) = value else {
            return native;
        };
        match value {
            Self::Bool(value) => {
                native.element_type = sys::ELEMENT_TYPE_BOOLEAN;
                native.bytes = vec![u8::from(*value)];
            }
            Self::String(text) => native.text = text.encode_utf16().collect(),
            Self::Utf16(units) => native.text.clone_from(units),
            Self::Null => {
                native.element_type = sys::ELEMENT_TYPE_CLASS;
                native.bytes = vec![0; 4];
            }
            other => {
                if let Some((element_type, bytes)) = write_number(other) {
                    (native.element_type, native.bytes) = (element_type, bytes);
                }
            }
        }
        if matches!(value, Self::String(_) | Self::Utf16(_)) {
            native.element_type = sys::ELEMENT_TYPE_STRING;
            native.length = u32::try_from(native.text.len()).unwrap_or(u32::MAX);
            // An empty string needs an address, too.
            native.text.push(0);
        }
        native
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_there_and_back() {
        for value in [
            ConstantValue::Bool(true),
            ConstantValue::Char(0xD800),
            ConstantValue::I1(-1),
            ConstantValue::U1(200),
            ConstantValue::I2(-300),
            ConstantValue::U2(60_000),
            ConstantValue::I4(-70_000),
            ConstantValue::U4(4_000_000_000),
            ConstantValue::I8(i64::MIN),
            ConstantValue::U8(u64::MAX),
            ConstantValue::R4(1.5),
            ConstantValue::R8(-2.25),
            ConstantValue::String("ä€".to_owned()),
            ConstantValue::String(String::new()),
            ConstantValue::Utf16(vec![0x41, 0xD800]),
            ConstantValue::Null,
        ] {
            let native = ConstantValue::native(Some(&value));
            // SAFETY: the value is the one that was written above.
            let back =
                unsafe { ConstantValue::read(native.element_type, native.start(), native.length) };
            assert_eq!(back, Some(value));
        }
    }

    #[test]
    fn no_constant_is_none() {
        let native = ConstantValue::native(None);
        assert!(native.start().is_null());
        // SAFETY: null is allowed.
        unsafe {
            assert_eq!(
                ConstantValue::read(native.element_type, native.start(), 0),
                None
            );
            assert_eq!(ConstantValue::read(0, std::ptr::null(), 0), None);
            let strange = ConstantValue::read(0x7f, std::ptr::null(), 0);
            assert_eq!(strange, Some(ConstantValue::Unknown(0x7f)));
        }
    }
}
