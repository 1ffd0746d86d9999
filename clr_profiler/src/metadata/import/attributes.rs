//! `IMetaDataImport`: custom attributes, permissions, layout, marshalling and P/Invoke.

use crate::error::{Hresult, Result};
use crate::metadata::convert::{blob, found, optional, raw_or_nil, wide};
use crate::metadata::enumerate::{MetadataIter, enumerate};
use crate::metadata::handle::{Metadata, Sealed, source};
use crate::native::{read_array, read_text, typed};
use clr_profiler_il::token::{CustomAttribute, FieldDef, ModuleRef, Permission, Token, TypeDef};
use clr_profiler_sys as sys;

/// A custom attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomAttributeProps {
    /// What it is put on.
    pub owner: Token,
    /// Its constructor: a `MethodDef` or `MemberRef`.
    pub constructor: Token,
    /// The arguments, as ECMA-335 II.23.3 encodes them.
    pub value: Vec<u8>,
}

/// A security declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSetProps {
    /// What is done with the permissions: `CorDeclSecurity`, ECMA-335 II.22.11.
    pub action: u32,
    /// The permissions.
    pub permissions: Vec<u8>,
}

/// The offset that a type declares for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOffset {
    /// The field.
    pub field: FieldDef,
    /// Its offset in bytes, where one is declared.
    pub offset: Option<u32>,
}

/// The layout that a type declares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeclaredLayout {
    /// The alignment of fields in bytes: 0 stands for the default, else a power of two up to 128.
    pub pack_size: u32,
    /// Its fields.
    pub fields: Vec<FieldOffset>,
    /// Its size in bytes; 0 where the runtime calculates it.
    pub class_size: u32,
}

/// The native function that a method stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinvokeMap {
    /// Calling convention, character set and so on: `CorPinvokeMap`, ECMA-335 II.23.1.8.
    pub flags: u32,
    /// The name of the function.
    pub import_name: String,
    /// The library.
    pub import_dll: Option<ModuleRef>,
}

/// The part of [`MetadataImport`](crate::MetadataImport) about what is attached to definitions:
/// custom attributes, permissions, layout, marshalling and native functions.
pub trait MetadataImportAttributes: Sealed {
    /// The custom attributes of an item, or of all: those with this constructor, or all.
    ///
    /// Wraps `IMetaDataImport::EnumCustomAttributes`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumCustomAttributes")]
    fn custom_attributes(
        &self,
        owner: Option<Token>,
        constructor: Option<Token>,
    ) -> MetadataIter<'_, CustomAttribute> {
        let (owner, constructor) = (raw_or_nil(owner), raw_or_nil(constructor));
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumCustomAttributes(owner, constructor)
        )
    }

    /// Owner, constructor and arguments of a custom attribute.
    ///
    /// Wraps `IMetaDataImport::GetCustomAttributeProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such attribute.
    #[doc(alias = "GetCustomAttributeProps")]
    fn custom_attribute_props(&self, attribute: CustomAttribute) -> Result<CustomAttributeProps> {
        let (mut owner, mut constructor) = (0, 0);
        let (mut value, mut length) = (std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetCustomAttributeProps(
                attribute.raw(),
                &mut owner,
                &mut constructor,
                &mut value,
                &mut length,
            )
        )?;
        Ok(CustomAttributeProps {
            owner: Token::new(owner),
            constructor: Token::new(constructor),
            // SAFETY: the metadata says that its blob of that length stands there.
            value: unsafe { blob(value.cast(), length) },
        })
    }

    /// The arguments of an item's custom attribute of the type with this full name, as ECMA-335
    /// II.23.3 encodes them; `None` where the item has none.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn example(metadata: &Metadata<'_>, method: MethodDef) -> Result<()> {
    /// let by_compiler = metadata
    ///     .custom_attribute_by_name(
    ///         method,
    ///         "System.Runtime.CompilerServices.CompilerGeneratedAttribute",
    ///     )?
    ///     .is_some();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Wraps `IMetaDataImport::GetCustomAttributeByName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetCustomAttributeByName")]
    fn custom_attribute_by_name(
        &self,
        owner: impl Into<Token>,
        type_name: &str,
    ) -> Result<Option<Vec<u8>>> {
        let type_name = wide("IMetaDataImport::GetCustomAttributeByName", type_name)?;
        let (mut value, mut length) = (std::ptr::null(), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::GetCustomAttributeByName(
                owner.into().raw(),
                type_name.as_ptr(),
                &mut value,
                &mut length,
            )
        );
        match found(answer)? {
            None | Some(Hresult::S_FALSE) => Ok(None),
            // SAFETY: the metadata says that its blob of that length stands there.
            Some(_) => Ok(Some(unsafe { blob(value.cast(), length) })),
        }
    }

    /// The security declarations of an item, or of all: those with this action, or all.
    ///
    /// Wraps `IMetaDataImport::EnumPermissionSets`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumPermissionSets")]
    fn permission_sets(
        &self,
        owner: Option<Token>,
        action: Option<u32>,
    ) -> MetadataIter<'_, Permission> {
        let (owner, action) = (raw_or_nil(owner), action.unwrap_or(sys::dclActionNil));
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumPermissionSets(owner, action)
        )
    }

    /// Action and permissions of a security declaration.
    ///
    /// Wraps `IMetaDataImport::GetPermissionSetProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such declaration.
    #[doc(alias = "GetPermissionSetProps")]
    fn permission_set_props(&self, permission: Permission) -> Result<PermissionSetProps> {
        let mut action = 0;
        let (mut permissions, mut length) = (std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetPermissionSetProps(
                permission.raw(),
                &mut action,
                &mut permissions,
                &mut length,
            )
        )?;
        Ok(PermissionSetProps {
            action,
            // SAFETY: the metadata says that its blob of that length stands there.
            permissions: unsafe { blob(permissions.cast(), length) },
        })
    }

    /// The layout that a type declares; `None` where it declares none.
    ///
    /// Wraps `IMetaDataImport::GetClassLayout`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetClassLayout")]
    fn class_layout(&self, class: TypeDef) -> Result<Option<DeclaredLayout>> {
        const CALL: &str = "IMetaDataImport::GetClassLayout";
        let (mut pack_size, mut class_size) = (0, 0);
        let import = self.import();
        let offsets = read_array(|capacity, count, buffer: *mut [u32; 2]| {
            native_call!(
                import,
                IMetaDataImport::GetClassLayout(
                    class.raw(),
                    &mut pack_size,
                    // `COR_FIELD_OFFSET` is two numbers.
                    buffer.cast(),
                    capacity,
                    count,
                    &mut class_size,
                )
            )
        });
        let Some(offsets) = found(offsets)? else {
            return Ok(None);
        };
        let fields = offsets
            .into_iter()
            .map(|[field, offset]: [u32; 2]| {
                Ok(FieldOffset {
                    field: typed(CALL, field)?,
                    offset: (offset != u32::MAX).then_some(offset),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Some(DeclaredLayout {
            pack_size,
            fields,
            class_size,
        }))
    }

    /// How a field or parameter is marshalled, as ECMA-335 II.23.4 encodes it; `None` where
    /// nothing is said about it.
    ///
    /// Wraps `IMetaDataImport::GetFieldMarshal`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetFieldMarshal")]
    fn field_marshal(&self, item: impl Into<Token>) -> Result<Option<Vec<u8>>> {
        let (mut native_type, mut length) = (std::ptr::null(), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::GetFieldMarshal(item.into().raw(), &mut native_type, &mut length)
        );
        // SAFETY: the metadata says that its blob of that length stands there.
        Ok(found(answer)?.map(|_| unsafe { blob(native_type, length) }))
    }

    /// The native function that a method (or a field) stands for; `None` where it stands for none.
    ///
    /// Wraps `IMetaDataImport::GetPinvokeMap`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetPinvokeMap")]
    fn pinvoke_map(&self, member: impl Into<Token>) -> Result<Option<PinvokeMap>> {
        let member = member.into().raw();
        let (mut flags, mut dll) = (0, 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetPinvokeMap(
                    member, &mut flags, buffer, capacity, length, &mut dll
                )
            )
        });
        let Some(import_name) = found(name)? else {
            return Ok(None);
        };
        Ok(Some(PinvokeMap {
            flags,
            import_name,
            import_dll: optional("IMetaDataImport::GetPinvokeMap", dll)?,
        }))
    }
}

impl MetadataImportAttributes for Metadata<'_> {}
