//! `IMetaDataImport`: custom attributes, permissions, layout, marshalling and P/Invoke.

use crate::error::Result;
use crate::metadata::enumerate::Source;
use crate::metadata::handle::{Metadata, Sealed};
use crate::native::any_token;
use crate::native::{Answer, Asked};
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

impl Answer<sys::COR_FIELD_OFFSET> for FieldOffset {
    fn answer(raw: sys::COR_FIELD_OFFSET, asked: &Asked<'_>) -> Result<Self> {
        Ok(Self {
            field: Answer::answer(raw.ridOfField, asked)?,
            offset: (raw.ulOffset != u32::MAX).then_some(raw.ulOffset),
        })
    }
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

table! { ($) __metadata_import_attributes_enumerations:
    MetadataImportAttributes = IMetaDataImport from import;

    /// The custom attributes of an item, or of all: those with this constructor, or all.
    fn custom_attributes(owner: Option<Token>, constructor: Option<Token>) -> CustomAttribute
        = EnumCustomAttributes(owner, constructor);

    /// The security declarations of an item, or of all: those with this action, or all.
    fn permission_sets(owner: Option<Token>, action: Option<u32>) -> Permission
        = EnumPermissionSets(owner, action);
}

table! { ($) __metadata_import_attributes:
    MetadataImportAttributes = IMetaDataImport from import;

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
    fn custom_attribute_by_name(owner: impl Into<Token> as any_token, type_name: &str) -> Vec<u8>
        = GetCustomAttributeByName(owner, type_name.as_ptr(), @(value))
        none on S_FALSE_OR_RECORD_NOTFOUND;

    /// The layout that a type declares; `None` where it declares none.
    fn class_layout(class: TypeDef) -> {DeclaredLayout}
        = GetClassLayout(class, @pack_size, ~[fields], @class_size) none on CLDB_E_RECORD_NOTFOUND
        fails "What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.";

    /// The native function that a method (or a field) stands for; `None` where it stands for none.
    fn pinvoke_map(member: impl Into<Token> as any_token) -> {PinvokeMap}
        = GetPinvokeMap(member, @flags, ~{import_name}, @import_dll) none on CLDB_E_RECORD_NOTFOUND
        fails "What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.";
}

/// The part of [`MetadataImport`](crate::MetadataImport) about what is attached to definitions:
/// custom attributes, permissions, layout, marshalling and native functions.
pub trait MetadataImportAttributes: Sealed {
    __metadata_import_attributes_enumerations! { enumerations }
    __metadata_import_attributes! { calls }
}

impl MetadataImportAttributes for Metadata<'_> {}
