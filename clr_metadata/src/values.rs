//! Constants and custom attributes.

use clr_profiler_il::attribute::{AttributeValue, EnumType};
use clr_profiler_il::signature::{TypeSig, TypeSpecSig};
use clr_profiler_il::token::{CustomAttribute, TypeToken};

use crate::columns::{CustomAttributeType, HasConstant, HasCustomAttribute, MemberRefParent};
use crate::error::{Error, ErrorKind, Result};
use crate::heaps::UserString;
use crate::metadata::Metadata;
use crate::names::{TypeName, wrong};
use crate::rows::{ConstantRow, CustomAttributeRow};

/// The default value of a field, parameter or property (ECMA-335 II.22.9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstantValue<'a> {
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
    /// A string.
    String(UserString<'a>),
    /// Null.
    Null,
}

impl<'a> ConstantValue<'a> {
    fn parse(element_type: u16, value: &'a [u8]) -> Option<Self> {
        fn array<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
            value.try_into().ok()
        }
        Some(match element_type {
            0x02 => Self::Bool(array(value).map(u8::from_le_bytes)? != 0),
            0x03 => Self::Char(array(value).map(u16::from_le_bytes)?),
            0x04 => Self::I1(array(value).map(i8::from_le_bytes)?),
            0x05 => Self::U1(array(value).map(u8::from_le_bytes)?),
            0x06 => Self::I2(array(value).map(i16::from_le_bytes)?),
            0x07 => Self::U2(array(value).map(u16::from_le_bytes)?),
            0x08 => Self::I4(array(value).map(i32::from_le_bytes)?),
            0x09 => Self::U4(array(value).map(u32::from_le_bytes)?),
            0x0a => Self::I8(array(value).map(i64::from_le_bytes)?),
            0x0b => Self::U8(array(value).map(u64::from_le_bytes)?),
            0x0c => Self::R4(array(value).map(f32::from_le_bytes)?),
            0x0d => Self::R8(array(value).map(f64::from_le_bytes)?),
            0x0e => Self::String(UserString::from_bytes(value)?),
            0x12 => array(value)
                .filter(|value| *value == [0; 4])
                .map(|_| Self::Null)?,
            _ => return None,
        })
    }
}

impl<'a> Metadata<'a> {
    /// The default value of a field, parameter or property; `None` if it has none.
    ///
    /// # Errors
    ///
    /// If the row is malformed, or the value does not have the size of its type.
    pub fn constant(&self, of: impl Into<HasConstant>) -> Result<Option<ConstantValue<'a>>> {
        let Some(row) = self.rows_of::<ConstantRow>(of).next().transpose()? else {
            return Ok(None);
        };
        let blob = self.heaps.blob(row.value)?;
        let value = ConstantValue::parse(row.element_type, blob.data());
        let [kind, _] = row.element_type.to_le_bytes();
        value
            .map(Some)
            .ok_or_else(|| blob.error(ErrorKind::Constant(kind), 0))
    }

    /// The type of a custom attribute: that of its constructor.
    ///
    /// # Errors
    ///
    /// If a row is malformed, or the constructor belongs to no type.
    pub fn attribute_type(&self, attribute: &CustomAttributeRow) -> Result<TypeToken> {
        match attribute.constructor {
            CustomAttributeType::MethodDef(constructor) => {
                self.method_owner(constructor).map(TypeToken::Def)
            }
            CustomAttributeType::MemberRef(constructor) => match self.row(constructor)?.parent {
                MemberRefParent::TypeDef(owner) => Ok(owner.into()),
                MemberRefParent::TypeRef(owner) => Ok(owner.into()),
                MemberRefParent::TypeSpec(owner) => Ok(owner.into()),
                owner => Err(wrong(owner.token())),
            },
        }
    }

    /// The name of the type of a custom attribute. A generic attribute has the name of its generic type.
    ///
    /// # Errors
    ///
    /// If a row, name or signature is malformed.
    pub fn attribute_name(&self, attribute: &CustomAttributeRow) -> Result<TypeName<'a>> {
        match self.attribute_type(attribute)? {
            TypeToken::Spec(spec) => {
                let signature: TypeSpecSig = self.signature(self.row(spec)?.signature)?;
                match signature.type_sig {
                    TypeSig::GenericInstance { definition, .. } => self.type_name(definition),
                    _ => Err(wrong(spec.token())),
                }
            }
            name => self.type_name(name),
        }
    }

    /// The first custom attribute of an item with a type, such as
    /// `System.Runtime.CompilerServices.CompilerGeneratedAttribute`. Attributes whose names are malformed are skipped.
    #[must_use]
    pub fn find_attribute(
        &self,
        of: impl Into<HasCustomAttribute>,
        full_name: &str,
    ) -> Option<CustomAttribute> {
        self.tokens_of(of).find(|&attribute| {
            let name = self
                .row(attribute)
                .and_then(|row| self.attribute_name(&row));
            name.is_ok_and(|name| name.is(full_name))
        })
    }

    /// The arguments of a custom attribute. `underlying` returns the type of the values of an enumeration, which the blob
    /// does not contain.
    ///
    /// # Errors
    ///
    /// If a row, the signature of the constructor or the blob is malformed.
    pub fn attribute_value(
        &self,
        attribute: &CustomAttributeRow,
        underlying: impl FnMut(&EnumType) -> Option<TypeSig>,
    ) -> Result<AttributeValue> {
        let mut parameters = self.method_signature(attribute.constructor)?.params;
        if let TypeToken::Spec(owner) = self.attribute_type(attribute)? {
            // The arguments of a generic attribute.
            let owner: TypeSpecSig = self.signature(self.row(owner)?.signature)?;
            if let TypeSig::GenericInstance { arguments, .. } = &owner.type_sig {
                for parameter in &mut parameters {
                    *parameter = parameter.substitute(arguments, &[]);
                }
            }
        }
        let blob = self.heaps.blob(attribute.value)?;
        AttributeValue::decode(blob.data(), &parameters, underlying).map_err(|error| {
            let kind = ErrorKind::Attribute(error.kind().clone());
            Error::new(kind, blob.position(error.offset()))
        })
    }
}
