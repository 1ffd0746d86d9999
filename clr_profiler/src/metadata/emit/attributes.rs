//! `IMetaDataEmit`: custom attributes, permissions, marshalling and P/Invoke.

use crate::error::{Error, Result};
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::native::Asked;
use crate::native::any_token;
use crate::native::{length, start_or_null};
use clr_profiler_il::token::{CustomAttribute, MemberRef, ModuleRef, Permission, Token};
use clr_profiler_sys as sys;

table! { ($) __metadata_emit_attributes:
    MetadataEmitAttributes = IMetaDataEmit from emit;

    /// Puts a custom attribute on an item: its constructor (a `MethodDef` or `MemberRef`), and its
    /// arguments as ECMA-335 II.23.3 encodes them.
    fn define_custom_attribute(
        owner: impl Into<Token> as any_token, constructor: impl Into<Token> as any_token,
        value: &[u8]
    ) -> CustomAttribute
        = DefineCustomAttribute(owner, constructor, value.as_ptr(), value.len(), @attribute);

    /// Changes the arguments of a custom attribute.
    fn set_custom_attribute_value(attribute: CustomAttribute, value: &[u8]) -> ()
        = SetCustomAttributeValue(attribute, value.as_ptr(), value.len());

    /// Adds a security declaration to an item: what is done (`CorDeclSecurity`) with which permissions.
    fn define_permission_set(
        owner: impl Into<Token> as any_token, action: u32, permissions: &[u8]
    ) -> Permission
        = DefinePermissionSet(owner, action, permissions.as_ptr(), permissions.len(), @permission);

    /// Changes the permissions of an item's security declaration with this action.
    fn set_permission_set_props(
        owner: impl Into<Token> as any_token, action: u32, permissions: &[u8]
    ) -> Permission
        = SetPermissionSetProps(owner, action, permissions.as_ptr(), permissions.len(),
            @permission) fails "`CLDB_E_RECORD_NOTFOUND` where there is none.";

    /// Says how a field or parameter is marshalled, as ECMA-335 II.23.4 encodes it.
    fn set_field_marshal(item: impl Into<Token> as any_token, native_type: &[u8]) -> ()
        = SetFieldMarshal(item, native_type.as_ptr(), native_type.len());

    /// Takes away how a field or parameter is marshalled.
    fn delete_field_marshal(item: impl Into<Token> as any_token) -> () = DeleteFieldMarshal(item)
        fails "`CLDB_E_RECORD_NOTFOUND` where nothing is said about it.";

    /// Makes a method stand for a native function. `flags` is `CorPinvokeMap`, ECMA-335 II.23.1.8.
    fn define_pinvoke_map(
        member: impl Into<Token> as any_token, flags: u32, import_name: &str, import_dll: ModuleRef
    ) -> () = DefinePinvokeMap(member, flags, import_name.as_ptr(), import_dll)
        fails "A name with a zero in it; what the metadata answers.";

    /// Makes a method no longer stand for a native function.
    fn delete_pinvoke_map(member: impl Into<Token> as any_token) -> () = DeletePinvokeMap(member)
        fails "`CLDB_E_RECORD_NOTFOUND` where it stands for none.";

    /// Changes the native function that a method stands for. What is `None` stays as it is.
    fn set_pinvoke_map(
        member: impl Into<Token> as any_token, flags: Option<u32>, import_name: Option<&str>,
        import_dll: Option<ModuleRef> as module_or_nil
    ) -> () = SetPinvokeMap(member, flags, import_name.as_ptr(), import_dll)
        fails "A name with a zero in it; what the metadata answers.";
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about what is attached to definitions: custom attributes,
/// permissions, marshalling and native functions.
pub trait MetadataEmitAttributes: SealedWriter {
    __metadata_emit_attributes! { calls }

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
}

impl MetadataEmitAttributes for MetadataWriter<'_> {}

fn module_or_nil(module: Option<ModuleRef>, _: &Asked<'_>) -> Result<u32> {
    Ok(module.unwrap_or(ModuleRef::NIL).raw())
}
