//! Native functions, marshalling, custom attributes and security.

use clr_profiler::il::attributes::{
    CallConv, CharSet, FieldAttributes, MemberAccess, MethodAttributes, MethodImplAttributes,
    PInvokeAttributes, SecurityAction,
};
use clr_profiler::il::signature::{FieldSig, MemberRefSig, MethodSig, TypeSig};
use clr_profiler::il::token::MemberRef;
use clr_profiler::prelude::*;

use super::{PUBLIC_STATIC, class, framework_type, say};

pub(super) fn native_functions(
    on: &str,
    writer: &MetadataWriter<'_>,
    _: &Metadata<'_>,
) -> Result<()> {
    let class = class(writer, "Emitted.Calls")?;
    let signature = MethodSig::new(TypeSig::I4, Vec::new());
    let native = PUBLIC_STATIC | MethodAttributes::PINVOKE_IMPL;
    let preserved = MethodImplAttributes::PRESERVE_SIG;
    let method = writer.define_method(Some(class), "Native", native, &signature, 0, preserved)?;
    let library = writer.define_module_ref("libone")?;
    let other = writer.define_module_ref("libother")?;
    let show = |what: &str| -> Result<()> {
        match writer.pinvoke_map(method)? {
            None => say!(on, "P/Invoke {what}: none"),
            Some(map) => {
                let library = map.import_dll.map(|it| writer.module_ref_props(it));
                say!(
                    on,
                    "P/Invoke {what}: {} {:#x} {:?}",
                    map.import_name,
                    map.attributes,
                    library.transpose()?
                );
            }
        }
        Ok(())
    };
    show("before")?;
    let ansi = PInvokeAttributes::empty()
        .with_char_set(CharSet::Ansi)
        .with_call_conv(CallConv::Cdecl);
    writer.define_pinvoke_map(method, ansi, "one", library)?;
    show("defined")?;
    let unicode = PInvokeAttributes::SUPPORTS_LAST_ERROR
        .with_char_set(CharSet::Unicode)
        .with_call_conv(CallConv::Cdecl);
    writer.set_pinvoke_map(method, Some(unicode), Some("other"), Some(other))?;
    show("changed")?;
    writer.set_pinvoke_map(method, None, None, None)?;
    show("kept")?;
    writer.delete_pinvoke_map(method)?;
    show("deleted")?;
    let mut names = Vec::new();
    for module in writer.module_refs() {
        names.push(writer.module_ref_props(module?)?);
    }
    names.retain(|name| name.starts_with("libo"));
    say!(on, "libraries: {names:?}");
    Ok(())
}

pub(super) fn marshalling(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Marshalled")?;
    let signature = FieldSig {
        field_type: TypeSig::String,
    };
    let public = FieldAttributes::empty().with_access(MemberAccess::Public);
    let field = writer.define_field(Some(class), "Text", public, &signature, None)?;
    say!(on, "marshal before: {:?}", writer.field_marshal(field)?);
    writer.set_field_marshal(field, &[0x17, 0x20])?;
    say!(on, "marshal: {:?}", writer.field_marshal(field)?);
    writer.set_field_marshal(field, &[0x14])?;
    say!(on, "marshal changed: {:?}", writer.field_marshal(field)?);
    writer.delete_field_marshal(field)?;
    say!(on, "marshal deleted: {:?}", writer.field_marshal(field)?);
    Ok(())
}

fn constructor(
    writer: &MetadataWriter<'_>,
    of: &str,
    parameters: Vec<TypeSig>,
) -> Result<MemberRef> {
    let class = framework_type(writer, of)?;
    let mut signature = MethodSig::new(TypeSig::Void, parameters);
    signature.has_this = true;
    writer.define_member_ref(class, ".ctor", &MemberRefSig::Method(signature))
}

pub(super) fn custom(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    const OBSOLETE: &str = "System.ObsoleteAttribute";
    let class = class(writer, "Emitted.Attributed")?;
    let constructor = constructor(writer, OBSOLETE, vec![TypeSig::String])?;
    let value = |text: &[u8]| -> Vec<u8> {
        let length = [text.len() as u8];
        [&[1, 0][..], &length, text, &[0, 0]].concat()
    };
    let attribute = writer.define_custom_attribute(class, constructor, &value(b"old"))?;
    let show = |what: &str| -> Result<()> {
        let props = writer.custom_attribute_props(attribute)?;
        let named = writer.custom_attribute_by_name(class, OBSOLETE)?;
        say!(
            on,
            "attribute {what}: {:?} {} {} {}",
            props.value,
            props.owner == class.into(),
            props.constructor == constructor.into(),
            named == Some(props.value.clone())
        );
        Ok(())
    };
    show("defined")?;
    writer.set_custom_attribute_value(attribute, &value(b"older"))?;
    show("changed")?;
    let all = writer.custom_attributes(Some(class.into()), Some(constructor.into()));
    say!(
        on,
        "attributes: {}",
        all.collect::<Result<Vec<_>>>()? == [attribute]
    );
    Ok(())
}

pub(super) fn security(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Secured")?;
    let permission = writer.define_permission_set(class, SecurityAction::Demand, b"<first/>")?;
    let props = writer.permission_set_props(permission)?;
    say!(
        on,
        "permissions {}: {:?}",
        props.action.number(),
        String::from_utf8_lossy(&props.permissions)
    );
    let same = writer.set_permission_set_props(class, SecurityAction::Demand, b"<second/>")?;
    let props = writer.permission_set_props(permission)?;
    say!(
        on,
        "permissions changed {}: {:?} {}",
        props.action.number(),
        String::from_utf8_lossy(&props.permissions),
        same == permission
    );
    let sets = |action| {
        let sets = writer.permission_sets(Some(class.into()), action);
        sets.collect::<Result<Vec<_>>>()
    };
    say!(
        on,
        "permission sets: {}, of any action {}, of another {}",
        sets(Some(SecurityAction::Demand))? == [permission],
        sets(None)? == [permission],
        sets(Some(SecurityAction::Deny))?.is_empty()
    );
    let none = writer.set_permission_set_props(class, SecurityAction::Assert, b"<none/>");
    say!(on, "permissions of another action: {}", none.is_err());
    Ok(())
}

pub(super) fn security_attributes(
    on: &str,
    writer: &MetadataWriter<'_>,
    _: &Metadata<'_>,
) -> Result<()> {
    const ATTRIBUTE: &str = "System.Security.Permissions.SecurityPermissionAttribute";
    let class = class(writer, "Emitted.SecuredToo")?;
    let action = framework_type(writer, "System.Security.Permissions.SecurityAction")?;
    let action = TypeSig::ValueType(action.into());
    let constructor = constructor(writer, ATTRIBUTE, vec![action])?;
    let value = [1, 0, 2, 0, 0, 0, 0, 0];
    writer.define_security_attribute_set(class, &[(constructor, &value)])?;
    for set in writer.permission_sets(Some(class.into()), None) {
        let props = writer.permission_set_props(set?)?;
        say!(
            on,
            "security attributes {}: {:?}",
            props.action.number(),
            props.permissions.first()
        );
    }
    Ok(())
}
