//! `IMetaDataImport`: custom attributes, permissions, layout, marshalling and P/Invoke.

use crate::error::{Hresult, Result};
use crate::metadata::handle::{Metadata, Sealed};
use crate::native::any_token;
use crate::native::{blob, found, optional, wide};
use crate::native::{read_array, read_text, typed};
use clr_profiler_il::token::{CustomAttribute, FieldDef, ModuleRef, Permission, Token, TypeDef};

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

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_import_attributes_enumerations {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataImportAttributes = IMetaDataImport from import;
    /// The custom attributes of an item, or of all: those with this constructor, or all.
    fn custom_attributes(owner: Option<Token>, constructor: Option<Token>) -> CustomAttribute
        = EnumCustomAttributes(owner, constructor);

    /// The security declarations of an item, or of all: those with this action, or all.
    fn permission_sets(owner: Option<Token>, action: Option<u32>) -> Permission
        = EnumPermissionSets(owner, action);
    } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_import_attributes {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataImportAttributes = IMetaDataImport from import;
    /// Owner, constructor and arguments of a custom attribute.
    fn custom_attribute_props(attribute: CustomAttribute) -> {CustomAttributeProps}
        = GetCustomAttributeProps(attribute, @owner, @constructor, @(value))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such attribute.";

    /// Action and permissions of a security declaration.
    fn permission_set_props(permission: Permission) -> {PermissionSetProps}
        = GetPermissionSetProps(permission, @action, @(permissions))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such declaration.";

    /// How a field or parameter is marshalled, as ECMA-335 II.23.4 encodes it; `None` where
    /// nothing is said about it.
    fn field_marshal(item: impl Into<Token> as any_token) -> Vec<u8>
        = GetFieldMarshal(item, @(bytes)) none on CLDB_E_RECORD_NOTFOUND
        fails "What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.";
    } };
}

/// The part of [`MetadataImport`](crate::MetadataImport) about what is attached to definitions:
/// custom attributes, permissions, layout, marshalling and native functions.
pub trait MetadataImportAttributes: Sealed {
    __metadata_import_attributes_enumerations! { enumerations }
    __metadata_import_attributes! { calls }

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
