//! Parameters of events, in EventPipe's binary form.

use uuid::Uuid;

use super::types::EventParameter;

/// Defines the parameter types of fixed size. A row has the native number of the type, the Rust type of its
/// values, and their encoding.
macro_rules! event_types {
    ($(
        $(#[$doc:meta])*
        $name:ident($type:ty) = $number:literal |$value:ident| $bytes:expr;
    )*) => {
        /// The type of an event's parameter.
        #[doc(alias = "COR_PRF_EVENTPIPE_PARAM_TYPE")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[allow(missing_docs, reason = "they are those of .NET")]
        #[non_exhaustive]
        pub enum EventType {
            $($name = $number,)*
            String = 0x12,
        }

        /// A value of an event's parameter.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum EventValue<'a> {
            $($(#[$doc])* $name($type),)*
            /// A text, truncated at its first zero character.
            String(&'a str),
            /// Several values of one type.
            Array(&'a [EventValue<'a>]),
        }

        impl EventValue<'_> {
            fn type_of(&self) -> Option<EventType> {
                match self {
                    $(Self::$name(_) => Some(EventType::$name),)*
                    Self::String(_) => Some(EventType::String),
                    Self::Array(_) => None,
                }
            }

            fn write(&self, out: &mut Vec<u8>) {
                match *self {
                    $(Self::$name($value) => out.extend($bytes),)*
                    Self::String(value) => {
                        let text = value.split('\0').next().unwrap_or_default();
                        out.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
                    }
                    Self::Array(values) => {
                        out.extend((values.len() as u16).to_le_bytes());
                        values.iter().for_each(|value| value.write(out));
                    }
                }
            }
        }
    };
}

event_types! {
    /// A Boolean value of 32 bits.
    Boolean(bool) = 0x3 |value| u32::from(value).to_le_bytes();
    /// A UTF-16 code unit.
    Char(u16) = 0x4 |value| value.to_le_bytes();
    /// A signed 8-bit integer.
    SByte(i8) = 0x5 |value| value.to_le_bytes();
    /// An unsigned 8-bit integer.
    Byte(u8) = 0x6 |value| value.to_le_bytes();
    /// A signed 16-bit integer.
    Int16(i16) = 0x7 |value| value.to_le_bytes();
    /// An unsigned 16-bit integer.
    UInt16(u16) = 0x8 |value| value.to_le_bytes();
    /// A signed 32-bit integer.
    Int32(i32) = 0x9 |value| value.to_le_bytes();
    /// An unsigned 32-bit integer.
    UInt32(u32) = 0xa |value| value.to_le_bytes();
    /// A signed 64-bit integer.
    Int64(i64) = 0xb |value| value.to_le_bytes();
    /// An unsigned 64-bit integer.
    UInt64(u64) = 0xc |value| value.to_le_bytes();
    /// A 32-bit floating-point number.
    Single(f32) = 0xd |value| value.to_le_bytes();
    /// A 64-bit floating-point number.
    Double(f64) = 0xe |value| value.to_le_bytes();
    /// A `System.Decimal` in its memory layout.
    Decimal([u8; 16]) = 0xf |value| value;
    /// A time, in units of 100 ns since the beginning of 1601, UTC.
    DateTime(i64) = 0x10 |value| value.to_le_bytes();
    /// A GUID.
    Guid(Uuid) = 0x11 |value| value.to_bytes_le();
}

/// Encodes the payload of an event, or returns why the values do not match the parameters.
pub(super) fn payload(
    parameters: &[EventParameter],
    values: &[EventValue<'_>],
) -> Result<Vec<u8>, String> {
    if parameters.len() != values.len() {
        return Err(format!(
            "the event has {} parameters, {} values were given",
            parameters.len(),
            values.len()
        ));
    }
    let mut payload = Vec::new();
    for (parameter, value) in parameters.iter().zip(values) {
        let fits = match (parameter.is_array, value) {
            (false, value) => value.type_of() == Some(parameter.r#type),
            (true, EventValue::Array(elements)) => elements
                .iter()
                .all(|element| element.type_of() == Some(parameter.r#type)),
            (true, _) => false,
        };
        if !fits {
            return Err(format!(
                "the parameter `{}` is {}{:?}, {value:?} was given",
                parameter.name,
                if parameter.is_array {
                    "an array of "
                } else {
                    ""
                },
                parameter.r#type,
            ));
        }
        if let EventValue::Array(elements) = value
            && elements.len() > u16::MAX as usize
        {
            return Err(format!(
                "the array `{}` has {} elements, 65535 is the limit",
                parameter.name,
                elements.len()
            ));
        }
        value.write(&mut payload);
    }
    Ok(payload)
}

/// Reads the parameters of a delivered event in order.
///
/// A method returns `None` if the payload ends before the value does, and does not advance then.
///
/// ```
/// use clr_profiler::events::EventPayloadReader;
///
/// let mut payload = EventPayloadReader::new(&[42, 0, 0, 0, b'h', 0, b'i', 0, 0, 0]);
/// assert_eq!(payload.u32(), Some(42));
/// assert_eq!(payload.string().as_deref(), Some("hi"));
/// assert_eq!(payload.u8(), None);
/// ```
#[derive(Clone, Debug)]
pub struct EventPayloadReader<'a> {
    rest: &'a [u8],
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self) -> Option<$name> {
            let (value, rest) = self.rest.split_first_chunk()?;
            self.rest = rest;
            Some($name::from_le_bytes(*value))
        }
    )*};
}

impl<'a> EventPayloadReader<'a> {
    /// A reader at the beginning of this payload.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    numbers! {
        /// Reads an unsigned 8-bit integer.
        u8;
        /// Reads an unsigned 16-bit integer.
        u16;
        /// Reads an unsigned 32-bit integer.
        u32;
        /// Reads an unsigned 64-bit integer.
        u64;
        /// Reads a signed 8-bit integer.
        i8;
        /// Reads a signed 16-bit integer.
        i16;
        /// Reads a signed 32-bit integer.
        i32;
        /// Reads a signed 64-bit integer.
        i64;
        /// Reads a 32-bit floating-point number.
        f32;
        /// Reads a 64-bit floating-point number.
        f64;
    }

    /// Reads a Boolean value of 32 bits.
    pub fn bool(&mut self) -> Option<bool> {
        self.u32().map(|value| value != 0)
    }

    /// Reads a pointer or another value that is as long as one in this process.
    pub fn pointer(&mut self) -> Option<usize> {
        let (value, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(usize::from_le_bytes(*value))
    }

    /// Reads a GUID.
    pub fn guid(&mut self) -> Option<Uuid> {
        let (value, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(Uuid::from_bytes_le(*value))
    }

    /// Reads a zero-terminated UTF-16 text. Lone surrogates become U+FFFD.
    pub fn string(&mut self) -> Option<String> {
        let units = self.rest.chunks_exact(2).map(|unit| match unit {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        });
        let length = units.clone().position(|unit| unit == 0)?;
        let text: Vec<u16> = units.take(length).collect();
        self.rest = self.rest.get(2 * (length + 1)..)?;
        Some(String::from_utf16_lossy(&text))
    }

    /// The remaining bytes.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<EventParameter> {
        vec![
            EventParameter::new("flag", EventType::Boolean),
            EventParameter::new("small", EventType::SByte),
            EventParameter::new("text", EventType::String),
            EventParameter::new("id", EventType::Guid),
            EventParameter::array("many", EventType::Int64),
            EventParameter::new("last", EventType::Double),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let id = Uuid::from_u128(0xDF63A541_5A33_4611_8829_F4E495985EE3);
        let many = [EventValue::Int64(-1), EventValue::Int64(i64::MAX)];
        let payload = payload(
            &parameters(),
            &[
                EventValue::Boolean(true),
                EventValue::SByte(-3),
                EventValue::String("ä𝄞"),
                EventValue::Guid(id),
                EventValue::Array(&many),
                EventValue::Double(2.5),
            ],
        )
        .unwrap();
        let mut reader = EventPayloadReader::new(&payload);
        assert_eq!(reader.bool(), Some(true));
        assert_eq!(reader.i8(), Some(-3));
        assert_eq!(reader.string().as_deref(), Some("ä𝄞"));
        assert_eq!(reader.guid(), Some(id));
        assert_eq!(reader.u16(), Some(2));
        assert_eq!((reader.i64(), reader.i64()), (Some(-1), Some(i64::MAX)));
        assert_eq!(reader.f64(), Some(2.5));
        assert_eq!((reader.u8(), reader.string()), (None, None));
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn a_pointer_has_the_length_of_the_platform() {
        let payload = [&0x1234_usize.to_le_bytes()[..], &[5, 6, 7]].concat();
        let mut reader = EventPayloadReader::new(&payload);
        assert_eq!(reader.pointer(), Some(0x1234));
        assert_eq!((reader.pointer(), reader.rest()), (None, &[5, 6, 7][..]));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let one = [EventParameter::new("count", EventType::Int32)];
        let several = [EventParameter::array("counts", EventType::Int32)];
        assert!(payload(&one, &[]).unwrap_err().contains("1 parameters"));
        let wrong = payload(&one, &[EventValue::Int64(1)]).unwrap_err();
        assert!(wrong.contains("`count` is Int32"), "{wrong}");
        assert!(payload(&several, &[EventValue::Int32(1)]).is_err());
        assert!(payload(&one, &[EventValue::Array(&[])]).is_err());
        let mixed = [EventValue::Int32(1), EventValue::Byte(1)];
        assert!(payload(&several, &[EventValue::Array(&mixed)]).is_err());
        let long = vec![EventValue::Int32(1); 65_536];
        let error = payload(&several, &[EventValue::Array(&long)]).unwrap_err();
        assert!(error.contains("65536 elements"), "{error}");
    }

    #[test]
    fn a_text_without_its_end_is_none() {
        assert_eq!(EventPayloadReader::new(&[65, 0, 66]).string(), None);
        assert_eq!(
            EventPayloadReader::new(&[0, 0]).string().as_deref(),
            Some("")
        );
    }
}
