//! `IMetaDataEmit`: custom attributes, permissions, marshalling and P/Invoke.

use super::KEEP;
use crate::error::{Error, Result};
use crate::metadata::convert::{length, start_or_null, wide};
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::native::typed;
use clr_profiler_il::token::{CustomAttribute, MemberRef, ModuleRef, Permission, Token};
use clr_profiler_sys as sys;

/// The part of [`MetadataEmit`](crate::MetadataEmit) about what is attached to definitions: custom attributes,
/// permissions, marshalling and native functions.
pub trait MetadataEmitAttributes: SealedWriter {
    /// Puts a custom attribute on an item: its constructor (a `MethodDef` or `MemberRef`), and its
    /// arguments as ECMA-335 II.23.3 encodes them.
    ///
    /// Wraps `IMetaDataEmit::DefineCustomAttribute`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineCustomAttribute")]
    fn define_custom_attribute(
        &self,
        owner: impl Into<Token>,
        constructor: impl Into<Token>,
        value: &[u8],
    ) -> Result<CustomAttribute> {
        const CALL: &str = "IMetaDataEmit::DefineCustomAttribute";
        let mut attribute = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineCustomAttribute(
                owner.into().raw(),
                constructor.into().raw(),
                start_or_null(value).cast(),
                length(CALL, value)?,
                &mut attribute
            )
        )?;
        typed(CALL, attribute)
    }

    /// Changes the arguments of a custom attribute.
    ///
    /// Wraps `IMetaDataEmit::SetCustomAttributeValue`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetCustomAttributeValue")]
    fn set_custom_attribute_value(&self, attribute: CustomAttribute, value: &[u8]) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::SetCustomAttributeValue(
                attribute.raw(),
                start_or_null(value).cast(),
                length(CALL, value)?
            )
        )
        .map(drop)
    }

    /// Adds a security declaration to an item: what is done (`CorDeclSecurity`) with which permissions.
    ///
    /// Wraps `IMetaDataEmit::DefinePermissionSet`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefinePermissionSet")]
    fn define_permission_set(
        &self,
        owner: impl Into<Token>,
        action: u32,
        permissions: &[u8],
    ) -> Result<Permission> {
        const CALL: &str = "IMetaDataEmit::DefinePermissionSet";
        let mut permission = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefinePermissionSet(
                owner.into().raw(),
                action,
                start_or_null(permissions).cast(),
                length(CALL, permissions)?,
                &mut permission
            )
        )?;
        typed(CALL, permission)
    }

    /// Changes the permissions of an item's security declaration with this action.
    ///
    /// Wraps `IMetaDataEmit::SetPermissionSetProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is none.
    #[doc(alias = "SetPermissionSetProps")]
    fn set_permission_set_props(
        &self,
        owner: impl Into<Token>,
        action: u32,
        permissions: &[u8],
    ) -> Result<Permission> {
        const CALL: &str = "IMetaDataEmit::SetPermissionSetProps";
        let mut permission = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::SetPermissionSetProps(
                owner.into().raw(),
                action,
                start_or_null(permissions).cast(),
                length(CALL, permissions)?,
                &mut permission
            )
        )?;
        typed(CALL, permission)
    }

    /// Adds several security attributes to an item at once: constructors and arguments.
    ///
    /// Wraps `IMetaDataEmit::DefineSecurityAttributeSet`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, with the number of the attribute that is wrong.
    #[doc(alias = "DefineSecurityAttributeSet")]
    fn define_security_attribute_set(
        &self,
        owner: impl Into<Token>,
        attributes: &[(MemberRef, &[u8])],
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit::DefineSecurityAttributeSet";
        let native = attributes
            .iter()
            .map(|(constructor, value)| {
                Ok(sys::COR_SECATTR {
                    tkCtor: constructor.raw(),
                    pCustomAttribute: start_or_null(value).cast(),
                    cbCustomAttribute: length(CALL, value)?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut wrong = u32::MAX;
        let answer = native_call!(
            self.emit(),
            IMetaDataEmit::DefineSecurityAttributeSet(
                owner.into().raw(),
                native.as_ptr(),
                length(CALL, &native)?,
                &mut wrong,
            )
        );
        match answer {
            Err(error) if (wrong as usize) < attributes.len() => Err(Error::invalid(
                CALL,
                format_args!("attribute {wrong}: {error}"),
            )),
            answer => answer.map(drop),
        }
    }

    /// Says how a field or parameter is marshalled, as ECMA-335 II.23.4 encodes it.
    ///
    /// Wraps `IMetaDataEmit::SetFieldMarshal`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetFieldMarshal")]
    fn set_field_marshal(&self, item: impl Into<Token>, native_type: &[u8]) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::SetFieldMarshal(
                item.into().raw(),
                start_or_null(native_type),
                length(CALL, native_type)?
            )
        )
        .map(drop)
    }

    /// Takes away how a field or parameter is marshalled.
    ///
    /// Wraps `IMetaDataEmit::DeleteFieldMarshal`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where nothing is said about it.
    #[doc(alias = "DeleteFieldMarshal")]
    fn delete_field_marshal(&self, item: impl Into<Token>) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::DeleteFieldMarshal(item.into().raw())
        )
        .map(drop)
    }

    /// Makes a method stand for a native function. `flags` is `CorPinvokeMap`, ECMA-335 II.23.1.8.
    ///
    /// Wraps `IMetaDataEmit::DefinePinvokeMap`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "DefinePinvokeMap")]
    fn define_pinvoke_map(
        &self,
        member: impl Into<Token>,
        flags: u32,
        import_name: &str,
        import_dll: ModuleRef,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit::DefinePinvokeMap";
        let import_name = wide(CALL, import_name)?;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefinePinvokeMap(
                member.into().raw(),
                flags,
                import_name.as_ptr(),
                import_dll.raw()
            )
        )
        .map(drop)
    }

    /// Changes the native function that a method stands for. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetPinvokeMap`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "SetPinvokeMap")]
    fn set_pinvoke_map(
        &self,
        member: impl Into<Token>,
        flags: Option<u32>,
        import_name: Option<&str>,
        import_dll: Option<ModuleRef>,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit::SetPinvokeMap";
        let import_name = import_name.map(|name| wide(CALL, name)).transpose()?;
        let import_name = import_name
            .as_ref()
            .map_or(std::ptr::null(), |name| name.as_ptr());
        native_call!(
            self.emit(),
            IMetaDataEmit::SetPinvokeMap(
                member.into().raw(),
                flags.unwrap_or(KEEP),
                import_name,
                import_dll.map_or(ModuleRef::NIL.raw(), ModuleRef::raw)
            )
        )
        .map(drop)
    }

    /// Makes a method no longer stand for a native function.
    ///
    /// Wraps `IMetaDataEmit::DeletePinvokeMap`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where it stands for none.
    #[doc(alias = "DeletePinvokeMap")]
    fn delete_pinvoke_map(&self, member: impl Into<Token>) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::DeletePinvokeMap(member.into().raw())
        )
        .map(drop)
    }
}

impl MetadataEmitAttributes for MetadataWriter<'_> {}
