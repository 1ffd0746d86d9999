//! Values as they are in objects.

use std::fmt;

use super::fields::{FieldPlace, instance_fields};
use super::region::Region;
use crate::error::{Error, Result};
use crate::ids::{ClassId, ObjectId};
use crate::info::CorProfilerInfo2;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::TypeSig;

/// What a field, an element or a boxed object holds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "they are the types of .NET")]
pub enum Value<'a> {
    Bool(bool),
    /// A unit of UTF-16.
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    NativeInt(isize),
    NativeUint(usize),
    /// An unmanaged pointer, or one to a function.
    Pointer(usize),
    /// A reference to an object, or to nothing.
    Reference(Option<ObjectId<'a>>),
    /// A value that has fields.
    Struct(StructValue<'a>),
}

/// How a value is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Char,
    I1,
    U1,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    R4,
    R8,
    NativeInt,
    NativeUint,
    Pointer,
    Reference,
    Struct(Option<ClassId>),
}

impl Kind {
    /// By `CorElementType`, ECMA-335 II.23.1.16; `class` is the type where it is a structure.
    pub(super) fn of_element_type(element_type: u32, class: Option<ClassId>) -> Option<Self> {
        Some(match element_type {
            0x02 => Self::Bool,
            0x03 => Self::Char,
            0x04 => Self::I1,
            0x05 => Self::U1,
            0x06 => Self::I2,
            0x07 => Self::U2,
            0x08 => Self::I4,
            0x09 => Self::U4,
            0x0a => Self::I8,
            0x0b => Self::U8,
            0x0c => Self::R4,
            0x0d => Self::R8,
            0x0e | 0x12 | 0x14 | 0x1c | 0x1d => Self::Reference,
            0x0f | 0x1b => Self::Pointer,
            0x11 => Self::Struct(class),
            0x18 => Self::NativeInt,
            0x19 => Self::NativeUint,
            _ => return None,
        })
    }

    /// By a signature; `None` where that alone does not tell.
    pub(super) fn of_signature(signature: &TypeSig) -> Option<Self> {
        Some(match signature {
            TypeSig::Bool => Self::Bool,
            TypeSig::Char => Self::Char,
            TypeSig::I1 => Self::I1,
            TypeSig::U1 => Self::U1,
            TypeSig::I2 => Self::I2,
            TypeSig::U2 => Self::U2,
            TypeSig::I4 => Self::I4,
            TypeSig::U4 => Self::U4,
            TypeSig::I8 => Self::I8,
            TypeSig::U8 => Self::U8,
            TypeSig::R4 => Self::R4,
            TypeSig::R8 => Self::R8,
            TypeSig::NativeInt => Self::NativeInt,
            TypeSig::NativeUint => Self::NativeUint,
            TypeSig::Pointer(_) | TypeSig::FunctionPointer(_) => Self::Pointer,
            TypeSig::String
            | TypeSig::Object
            | TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. }
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            } => Self::Reference,
            TypeSig::ValueType(_)
            | TypeSig::GenericInstance {
                is_value_type: true,
                ..
            } => Self::Struct(None),
            _ => return None,
        })
    }

    /// The size in bytes, where it is the same for all of the kind.
    pub(super) fn size(self) -> Option<usize> {
        Some(match self {
            Self::Bool | Self::I1 | Self::U1 => 1,
            Self::Char | Self::I2 | Self::U2 => 2,
            Self::I4 | Self::U4 | Self::R4 => 4,
            Self::I8 | Self::U8 | Self::R8 => 8,
            Self::NativeInt | Self::NativeUint | Self::Pointer | Self::Reference => {
                size_of::<usize>()
            }
            Self::Struct(_) => return None,
        })
    }

    /// The value at the beginning of a region.
    pub(super) fn read<'a>(self, info: &'a ProfilerInfo, from: Region<'a>) -> Result<Value<'a>> {
        Ok(match self {
            Self::Bool => Value::Bool(from.read::<1>()? != [0]),
            Self::Char => Value::Char(u16::from_ne_bytes(from.read()?)),
            Self::I1 => Value::I1(i8::from_ne_bytes(from.read()?)),
            Self::U1 => Value::U1(u8::from_ne_bytes(from.read()?)),
            Self::I2 => Value::I2(i16::from_ne_bytes(from.read()?)),
            Self::U2 => Value::U2(u16::from_ne_bytes(from.read()?)),
            Self::I4 => Value::I4(i32::from_ne_bytes(from.read()?)),
            Self::U4 => Value::U4(u32::from_ne_bytes(from.read()?)),
            Self::I8 => Value::I8(i64::from_ne_bytes(from.read()?)),
            Self::U8 => Value::U8(u64::from_ne_bytes(from.read()?)),
            Self::R4 => Value::R4(f32::from_ne_bytes(from.read()?)),
            Self::R8 => Value::R8(f64::from_ne_bytes(from.read()?)),
            Self::NativeInt => Value::NativeInt(isize::from_ne_bytes(from.read()?)),
            Self::NativeUint => Value::NativeUint(usize::from_ne_bytes(from.read()?)),
            Self::Pointer => Value::Pointer(usize::from_ne_bytes(from.read()?)),
            Self::Reference => {
                Value::Reference(ObjectId::optional(usize::from_ne_bytes(from.read()?)))
            }
            Self::Struct(class) => {
                let size = match class {
                    Some(class) => Some(info.class_layout(class)?.size as usize),
                    None => None,
                };
                Value::Struct(StructValue {
                    info,
                    class,
                    region: from.part(0, size)?,
                })
            }
        })
    }
}

/// A value that has fields: a structure, or what is in a box.
#[derive(Clone, Copy)]
pub struct StructValue<'a> {
    pub(super) info: &'a ProfilerInfo,
    pub(super) class: Option<ClassId>,
    pub(super) region: Region<'a>,
}

impl<'a> StructValue<'a> {
    /// Its type, where that is known: for elements, boxes, static fields and generic arguments.
    pub fn class(&self) -> Option<ClassId> {
        self.class
    }

    /// Its bytes; where the type is not known, up to the end of what contains it.
    ///
    /// # Errors
    ///
    /// Where the object may have moved.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.region.bytes()
    }

    /// The fields by name.
    ///
    /// # Errors
    ///
    /// Where the type is not known, and what the runtime and the metadata answer.
    pub fn fields(&self) -> Result<Vec<(String, Value<'a>)>> {
        let mut fields = Vec::new();
        for place in self.places()? {
            let value = place
                .kind
                .read(self.info, self.region.part(place.offset, None)?)?;
            fields.push((place.name, value));
        }
        Ok(fields)
    }

    /// A field; `None` where there is none of that name.
    ///
    /// # Errors
    ///
    /// As for [`fields`](Self::fields).
    pub fn field(&self, name: &str) -> Result<Option<Value<'a>>> {
        let Some(place) = self.places()?.into_iter().find(|place| place.name == name) else {
            return Ok(None);
        };
        let region = self.region.part(place.offset, None)?;
        place.kind.read(self.info, region).map(Some)
    }

    /// What it holds where its only field is no structure: `int` and the like in a box, an
    /// enumeration.
    ///
    /// # Errors
    ///
    /// As for [`fields`](Self::fields).
    pub fn single(&self) -> Result<Option<Value<'a>>> {
        match self.places()?.as_slice() {
            [place] if !matches!(place.kind, Kind::Struct(_)) => {
                let region = self.region.part(place.offset, None)?;
                place.kind.read(self.info, region).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn places(&self) -> Result<Vec<FieldPlace>> {
        let Some(class) = self.class else {
            return Err(Error::invalid(
                "reading an object",
                "the type of the structure is not known here: read its bytes",
            ));
        };
        instance_fields(self.info, class)
    }
}

impl fmt::Debug for StructValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "StructValue({:?}, {} bytes)",
            self.class,
            self.region.size()
        )
    }
}
