//! Values in objects.

use std::fmt;

use super::fields::{Field, instance_fields};
use super::region::Region;
use crate::error::{Error, Result};
use crate::ids::{ClassId, ObjectId};
use crate::info::CorProfilerInfo2;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::TypeSig;

/// Defines the numeric kinds of values. A row has the `CorElementType` (ECMA-335 II.23.1.16), the name of
/// the type, and the Rust type. The names are those of [`TypeSig`].
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($type:ty) = $code:literal $name:literal;)*) => {
        /// The value of a field, an element or a boxed object.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "they are the types of .NET")]
        pub enum ObjectValue<'a> {
            Bool(bool),
            $($(#[$doc])* $kind($type),)*
            /// An unmanaged pointer or a function pointer.
            Pointer(usize),
            /// A reference to an object, or null.
            Reference(Option<ObjectId<'a>>),
            /// A structure.
            Struct(StructValue<'a>),
        }

        /// The representation of a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind {
            Bool,
            $($kind,)*
            Pointer,
            Reference,
            Struct(Option<ClassId>),
        }

        impl Kind {
            /// The kind for a `CorElementType`; `class` is the type of a structure.
            pub(super) fn of_element_type(element_type: u32, class: Option<ClassId>) -> Option<Self> {
                Some(match element_type {
                    0x02 => Self::Bool,
                    $($code => Self::$kind,)*
                    0x0e | 0x12 | 0x14 | 0x1c | 0x1d => Self::Reference,
                    0x0f | 0x1b => Self::Pointer,
                    0x11 => Self::Struct(class),
                    _ => return None,
                })
            }

            /// The kind for the name of a value type: a structure unless it is a primitive type.
            pub(super) fn of_name(name: &str, class: ClassId) -> Self {
                match name {
                    "System.Boolean" => Self::Bool,
                    $($name => Self::$kind,)*
                    _ => Self::Struct(Some(class)),
                }
            }

            /// The kind for a signature; `None` if the signature alone does not determine it.
            pub(super) fn of_signature(signature: &TypeSig) -> Option<Self> {
                Some(match signature {
                    TypeSig::Bool => Self::Bool,
                    $(TypeSig::$kind => Self::$kind,)*
                    TypeSig::Pointer(_) | TypeSig::FunctionPointer(_) => Self::Pointer,
                    TypeSig::String
                    | TypeSig::Object
                    | TypeSig::Class(_)
                    | TypeSig::SzArray(_)
                    | TypeSig::Array { .. } => Self::Reference,
                    TypeSig::ValueType(_) => Self::Struct(None),
                    TypeSig::GenericInstance { is_value_type, .. } => match is_value_type {
                        true => Self::Struct(None),
                        false => Self::Reference,
                    },
                    _ => return None,
                })
            }

            /// The size in bytes, if all values of the kind have the same size.
            pub(super) fn size(self) -> Option<usize> {
                match self {
                    Self::Bool => Some(1),
                    $(Self::$kind => Some(size_of::<$type>()),)*
                    Self::Pointer | Self::Reference => Some(size_of::<usize>()),
                    Self::Struct(_) => None,
                }
            }

            /// Reads the value at the start of a region.
            pub(super) fn read<'a>(
                self,
                info: &'a ProfilerInfo,
                from: Region<'a>,
            ) -> Result<ObjectValue<'a>> {
                Ok(match self {
                    Self::Bool => ObjectValue::Bool(from.read::<1>()? != [0]),
                    $(Self::$kind => ObjectValue::$kind(<$type>::from_ne_bytes(from.read()?)),)*
                    Self::Pointer => ObjectValue::Pointer(usize::from_ne_bytes(from.read()?)),
                    Self::Reference => {
                        ObjectValue::Reference(ObjectId::optional(usize::from_ne_bytes(from.read()?)))
                    }
                    Self::Struct(class) => {
                        let size = match class {
                            Some(class) => Some(info.class_layout(class)?.size as usize),
                            None => None,
                        };
                        let region = from.part(0, size)?;
                        ObjectValue::Struct(StructValue { info, class, region })
                    }
                })
            }
        }
    };
}

kinds! {
    /// A UTF-16 code unit.
    Char(u16) = 0x03 "System.Char";
    I1(i8) = 0x04 "System.SByte";
    U1(u8) = 0x05 "System.Byte";
    I2(i16) = 0x06 "System.Int16";
    U2(u16) = 0x07 "System.UInt16";
    I4(i32) = 0x08 "System.Int32";
    U4(u32) = 0x09 "System.UInt32";
    I8(i64) = 0x0a "System.Int64";
    U8(u64) = 0x0b "System.UInt64";
    R4(f32) = 0x0c "System.Single";
    R8(f64) = 0x0d "System.Double";
    NativeInt(isize) = 0x18 "System.IntPtr";
    NativeUint(usize) = 0x19 "System.UIntPtr";
}

/// A structure, or a boxed value.
#[derive(Clone, Copy)]
pub struct StructValue<'a> {
    pub(super) info: &'a ProfilerInfo,
    pub(super) class: Option<ClassId>,
    pub(super) region: Region<'a>,
}

impl<'a> StructValue<'a> {
    /// The type, if it is known: for elements, boxes, static fields and generic arguments.
    #[must_use]
    pub fn class(&self) -> Option<ClassId> {
        self.class
    }

    /// The bytes of the value; if its type is not known, up to the end of the containing object or range.
    ///
    /// # Errors
    ///
    /// The object may have moved.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.region.bytes()
    }

    /// The fields by name.
    ///
    /// # Errors
    ///
    /// The type is not known; the errors of the native calls.
    pub fn fields(&self) -> Result<Vec<(String, ObjectValue<'a>)>> {
        let mut fields = Vec::new();
        for field in self.declared_fields()? {
            let value = field.read(self.info, self.region)?;
            fields.push((field.name, value));
        }
        Ok(fields)
    }

    /// A field by name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As for [`fields`](Self::fields).
    pub fn field(&self, name: &str) -> Result<Option<ObjectValue<'a>>> {
        let Some(field) = self
            .declared_fields()?
            .into_iter()
            .find(|field| field.name == name)
        else {
            return Ok(None);
        };
        field.read(self.info, self.region).map(Some)
    }

    /// The value of the only field, if that is not a structure: for example of a boxed `int` or an
    /// enumeration.
    ///
    /// # Errors
    ///
    /// As for [`fields`](Self::fields).
    pub fn single(&self) -> Result<Option<ObjectValue<'a>>> {
        match self.declared_fields()?.as_slice() {
            [field] if !matches!(field.kind, Kind::Struct(_)) => {
                field.read(self.info, self.region).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn declared_fields(&self) -> Result<Vec<Field>> {
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
