use std::sync::Arc;

use super::{
    ArgumentValue, AttributeError, AttributeErrorKind, AttributeValue, EnumType, NamedArgument,
    NamedArgumentKind,
};
use crate::signature::{MAX_DEPTH, TypeSig, compressed};

/// The type codes of attribute blobs (II.23.1.16) that signatures do not have.
const TYPE: u8 = 0x50;
const BOXED: u8 = 0x51;
const FIELD: u8 = 0x53;
const PROPERTY: u8 = 0x54;
const ENUM: u8 = 0x55;
const SZARRAY: u8 = 0x1d;

const PROLOG: u16 = 1;
const NULL_TEXT: u8 = 0xff;
const NULL_ARRAY: u32 = u32::MAX;

/// Memory is reserved for at most this many elements before they are read.
const MAX_RESERVED: usize = 16;

/// The type of an argument.
#[derive(Clone)]
enum Kind {
    /// A number or a string.
    Primitive(TypeSig),
    Type,
    Object,
    /// An enumeration, with its underlying type.
    Enum(EnumType, TypeSig),
    Array(Box<Kind>),
}

/// Reads a blob from its start to its end.
pub(super) struct Reader<'a, F> {
    blob: &'a [u8],
    offset: usize,
    depth: usize,
    underlying: F,
}

type Result<T> = std::result::Result<T, AttributeError>;

impl<'a, F: FnMut(&EnumType) -> Option<TypeSig>> Reader<'a, F> {
    pub(super) const fn new(blob: &'a [u8], underlying: F) -> Self {
        Self {
            blob,
            offset: 0,
            depth: 0,
            underlying,
        }
    }

    pub(super) fn attribute(mut self, parameters: &[TypeSig]) -> Result<AttributeValue> {
        let mut value = AttributeValue::default();
        if self.blob.is_empty() && parameters.is_empty() {
            return Ok(value);
        }
        let prolog = u16::from_le_bytes(self.bytes()?);
        if prolog != PROLOG {
            return Err(AttributeError::new(
                AttributeErrorKind::WrongProlog(prolog),
                0,
            ));
        }
        for parameter in parameters {
            let kind = self.parameter(parameter)?;
            value.fixed.push(self.value(&kind)?);
        }
        for _ in 0..u16::from_le_bytes(self.bytes()?) {
            let named = self.named()?;
            value.named.push(named);
        }
        match self.remaining() {
            0 => Ok(value),
            count => Err(self.error(AttributeErrorKind::TrailingBytes(count))),
        }
    }

    const fn error(&self, kind: AttributeErrorKind) -> AttributeError {
        AttributeError::new(kind, self.offset)
    }

    const fn remaining(&self) -> usize {
        self.blob.len().saturating_sub(self.offset)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let rest = self.blob.get(self.offset..).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(bytes) => {
                self.offset += N;
                Ok(*bytes)
            }
            None => Err(AttributeError::new(
                AttributeErrorKind::UnexpectedEnd,
                self.blob.len(),
            )),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.bytes().map(|[byte]| byte)
    }

    /// A string; `None` is null.
    fn text(&mut self) -> Result<Option<&'a str>> {
        if self.blob.get(self.offset) == Some(&NULL_TEXT) {
            self.offset += 1;
            return Ok(None);
        }
        let length = compressed::read_unsigned(self.blob, &mut self.offset).map_err(|error| {
            AttributeError::new(AttributeErrorKind::Length(error.kind()), error.offset())
        })?;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| self.offset.checked_add(length));
        let text = end.and_then(|end| Some((end, self.blob.get(self.offset..end)?)));
        let Some((end, bytes)) = text else {
            let end = self.blob.len();
            return Err(AttributeError::new(AttributeErrorKind::UnexpectedEnd, end));
        };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = self.offset + error.valid_up_to();
            AttributeError::new(AttributeErrorKind::InvalidText, offset)
        })?;
        self.offset = end;
        Ok(Some(text))
    }

    fn name(&mut self) -> Result<&'a str> {
        let start = self.offset;
        self.text()?
            .ok_or(AttributeError::new(AttributeErrorKind::NullName, start))
    }

    /// The type that a parameter of the constructor takes.
    fn parameter(&mut self, parameter: &TypeSig) -> Result<Kind> {
        Ok(match parameter {
            TypeSig::Object => Kind::Object,
            TypeSig::Class(_) => Kind::Type,
            TypeSig::ValueType(definition)
            | TypeSig::GenericInstance {
                is_value_type: true,
                definition,
                ..
            } => self.enumeration(EnumType::Token(*definition))?,
            TypeSig::SzArray(element) => match self.parameter(element)? {
                Kind::Array(_) => return Err(self.error(AttributeErrorKind::NestedArray)),
                element => Kind::Array(Box::new(element)),
            },
            // Modifiers occur in signatures of C++ and do not affect the value.
            TypeSig::Modified { inner, .. } => self.parameter(inner)?,
            text_or_number if text_or_number == &TypeSig::String || is_number(text_or_number) => {
                Kind::Primitive(text_or_number.clone())
            }
            other => {
                let kind = AttributeErrorKind::ParameterType(Box::new(other.clone()));
                return Err(self.error(kind));
            }
        })
    }

    /// The type of a named or boxed argument, as the blob states it.
    fn kind(&mut self) -> Result<Kind> {
        let start = self.offset;
        let code = self.byte()?;
        Ok(match code {
            TYPE => Kind::Type,
            BOXED => Kind::Object,
            ENUM => {
                let name = Arc::from(self.name()?);
                self.enumeration(EnumType::Name(name))
                    .map_err(|error| AttributeError::new(error.kind().clone(), start))?
            }
            SZARRAY if self.blob.get(self.offset) == Some(&SZARRAY) => {
                return Err(AttributeError::new(AttributeErrorKind::NestedArray, start));
            }
            SZARRAY => Kind::Array(Box::new(self.kind()?)),
            other => match TypeSig::from_primitive(other) {
                Some(TypeSig::String) => Kind::Primitive(TypeSig::String),
                Some(number) if is_number(&number) => Kind::Primitive(number),
                _ => {
                    let kind = AttributeErrorKind::UnknownType(other);
                    return Err(AttributeError::new(kind, start));
                }
            },
        })
    }

    fn enumeration(&mut self, enum_type: EnumType) -> Result<Kind> {
        match (self.underlying)(&enum_type) {
            None => Err(self.error(AttributeErrorKind::UnknownEnum(enum_type))),
            Some(underlying) if is_number(&underlying) => Ok(Kind::Enum(enum_type, underlying)),
            Some(underlying) => Err(self.error(AttributeErrorKind::NoEnum {
                enum_type,
                underlying: Box::new(underlying),
            })),
        }
    }

    fn named(&mut self) -> Result<NamedArgument> {
        let start = self.offset;
        let member = match self.byte()? {
            FIELD => NamedArgumentKind::Field,
            PROPERTY => NamedArgumentKind::Property,
            other => {
                let kind = AttributeErrorKind::UnknownMember(other);
                return Err(AttributeError::new(kind, start));
            }
        };
        let kind = self.kind()?;
        let name = self.name()?.to_owned();
        let value = self.value(&kind)?;
        Ok(NamedArgument {
            member,
            name,
            value,
        })
    }

    fn value(&mut self, kind: &Kind) -> Result<ArgumentValue> {
        Ok(match kind {
            Kind::Primitive(TypeSig::String) => {
                ArgumentValue::String(self.text()?.map(str::to_owned))
            }
            Kind::Primitive(number) => self.number(number)?,
            Kind::Type => ArgumentValue::Type(self.text()?.map(str::to_owned)),
            Kind::Enum(enum_type, underlying) => ArgumentValue::Enum {
                enum_type: enum_type.clone(),
                value: Box::new(self.number(underlying)?),
            },
            Kind::Array(element) => ArgumentValue::Array(self.elements(element)?),
            Kind::Object => {
                if self.depth == MAX_DEPTH {
                    return Err(self.error(AttributeErrorKind::TooDeep));
                }
                self.depth += 1;
                let kind = self.kind()?;
                let value = self.value(&kind)?;
                self.depth -= 1;
                ArgumentValue::Boxed(Box::new(value))
            }
        })
    }

    fn elements(&mut self, element: &Kind) -> Result<Option<Vec<ArgumentValue>>> {
        let start = self.offset;
        let count = u32::from_le_bytes(self.bytes()?);
        if count == NULL_ARRAY {
            return Ok(None);
        }
        let remaining = self.remaining();
        let length = match usize::try_from(count) {
            // Each element takes at least one byte.
            Ok(length) if length <= remaining => length,
            _ => {
                let kind = AttributeErrorKind::CountExceedsBlob { count, remaining };
                return Err(AttributeError::new(kind, start));
            }
        };
        let mut elements = Vec::with_capacity(length.min(MAX_RESERVED));
        for _ in 0..length {
            elements.push(self.value(element)?);
        }
        Ok(Some(elements))
    }

    fn number(&mut self, number: &TypeSig) -> Result<ArgumentValue> {
        Ok(match number {
            TypeSig::Bool => ArgumentValue::Bool(self.byte()? != 0),
            TypeSig::Char => ArgumentValue::Char(u16::from_le_bytes(self.bytes()?)),
            TypeSig::I1 => ArgumentValue::I1(i8::from_le_bytes(self.bytes()?)),
            TypeSig::U1 => ArgumentValue::U1(self.byte()?),
            TypeSig::I2 => ArgumentValue::I2(i16::from_le_bytes(self.bytes()?)),
            TypeSig::U2 => ArgumentValue::U2(u16::from_le_bytes(self.bytes()?)),
            TypeSig::I4 => ArgumentValue::I4(i32::from_le_bytes(self.bytes()?)),
            TypeSig::U4 => ArgumentValue::U4(u32::from_le_bytes(self.bytes()?)),
            TypeSig::I8 => ArgumentValue::I8(i64::from_le_bytes(self.bytes()?)),
            TypeSig::U8 => ArgumentValue::U8(u64::from_le_bytes(self.bytes()?)),
            TypeSig::R4 => ArgumentValue::R4(f32::from_le_bytes(self.bytes()?)),
            TypeSig::R8 => ArgumentValue::R8(f64::from_le_bytes(self.bytes()?)),
            other => {
                let kind = AttributeErrorKind::ParameterType(Box::new(other.clone()));
                return Err(self.error(kind));
            }
        })
    }
}

/// Whether a value of this type takes this many bytes in a blob.
const fn is_number(of: &TypeSig) -> bool {
    matches!(
        of,
        TypeSig::Bool
            | TypeSig::Char
            | TypeSig::I1
            | TypeSig::U1
            | TypeSig::I2
            | TypeSig::U2
            | TypeSig::I4
            | TypeSig::U4
            | TypeSig::I8
            | TypeSig::U8
            | TypeSig::R4
            | TypeSig::R8
    )
}
