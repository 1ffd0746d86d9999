//! Methods, fields and parameters.

use clr_profiler::il::attributes::{
    FieldAttributes, MemberAccess, MethodAttributes, MethodImplAttributes, ParamAttributes,
};
use clr_profiler::il::signature::{FieldSig, MemberRefSig, MethodSig, TypeSig};
use clr_profiler::metadata::ConstantValue;
use clr_profiler::prelude::*;

use super::{IL, PUBLIC_STATIC, class, framework_type, say};

const PUBLIC_STATIC_FIELD: FieldAttributes =
    FieldAttributes::STATIC.with_access(MemberAccess::Public);

pub(super) fn methods(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Does")?;
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let overriding = MethodAttributes::FINAL
        | MethodAttributes::VIRTUAL
        | MethodAttributes::HIDE_BY_SIG
        | MethodAttributes::NEW_SLOT;
    let overriding = overriding.with_access(MemberAccess::Public);
    let method = writer.define_method(Some(class), "Close", overriding, &signature, 0, IL)?;
    let show = |what: &str| -> Result<()> {
        let props = writer.method_props(method)?;
        say!(
            on,
            "method {what}: {} {:#x} {:#x} {:#x}",
            props.name,
            props.attributes,
            props.rva,
            props.implementation
        );
        Ok(())
    };
    writer.set_rva(method, 0x2050)?;
    show("placed")?;
    let not_final = Some(overriding - MethodAttributes::FINAL);
    let implementation = Some(MethodImplAttributes::NO_INLINING);
    writer.set_method_props(method, not_final, Some(0x2060), implementation)?;
    show("changed")?;
    writer.set_method_props(method, None, None, None)?;
    show("kept")?;
    let implementation = MethodImplAttributes::NO_INLINING | MethodImplAttributes::NO_OPTIMIZATION;
    writer.set_method_impl_flags(method, implementation)?;
    show("implemented")?;
    let rva = writer.rva(method)?;
    say!(
        on,
        "method address: {:#x} {:#x}",
        rva.rva,
        rva.implementation
    );
    writer.set_rva(method, 0)?;

    let disposable = framework_type(writer, "System.IDisposable")?;
    let mut declared = signature;
    declared.has_this = true;
    let declaration =
        writer.define_member_ref(disposable, "Dispose", &MemberRefSig::Method(declared))?;
    writer.define_method_impl(class, method, declaration)?;
    let overrides: Vec<_> = writer.method_impls(class).collect::<Result<_>>()?;
    say!(
        on,
        "overrides: {:?}",
        overrides
            .iter()
            .map(|it| (
                it.body == method.into(),
                it.declaration == declaration.into()
            ))
            .collect::<Vec<_>>()
    );
    Ok(())
}

pub(super) fn fields(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Holds")?;
    let signature = FieldSig {
        field_type: TypeSig::I4,
    };
    let field = writer.define_field(Some(class), "Data", PUBLIC_STATIC_FIELD, &signature, None)?;
    let show = |what: &str| -> Result<()> {
        let props = writer.field_props(field)?;
        say!(
            on,
            "field {what}: {} {:#x} {:?}",
            props.name,
            props.attributes,
            props.value
        );
        Ok(())
    };
    show("defined")?;
    let literal = PUBLIC_STATIC_FIELD | FieldAttributes::LITERAL | FieldAttributes::HAS_DEFAULT;
    writer.set_field_props(field, Some(literal), Some(&ConstantValue::I4(17)))?;
    show("changed")?;
    writer.set_field_props(field, None, None)?;
    show("kept")?;
    Ok(())
}

pub(super) fn foreign_fields(on: &str, writer: &MetadataWriter<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Maps")?;
    let signature = FieldSig {
        field_type: TypeSig::I4,
    };
    let mapped = PUBLIC_STATIC_FIELD | FieldAttributes::HAS_FIELD_RVA;
    let data = writer.define_field(Some(class), "Block", mapped, &signature, None)?;
    writer.set_field_rva(data, 0x4000)?;
    say!(on, "field address: {:#x}", writer.rva(data)?.rva);
    let global = writer.define_field(None, "Everywhere", PUBLIC_STATIC_FIELD, &signature, None)?;
    say!(
        on,
        "global field: {}, of a type {}",
        writer.is_global(global)?,
        writer.is_global(data)?
    );
    Ok(())
}

pub(super) fn parameters(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Takes")?;
    let signature = MethodSig::new(TypeSig::Void, vec![TypeSig::I4, TypeSig::String]);
    let method = writer.define_method(Some(class), "Take", PUBLIC_STATIC, &signature, 0, IL)?;
    // Out of order: they are nevertheless found by their numbers.
    let none = ParamAttributes::empty();
    let second = writer.define_param(method, 2, "text", none, None)?;
    let first = writer.define_param(method, 1, "count", none, None)?;
    let returned = writer.define_param(method, 0, "", none, None)?;
    let text = ConstantValue::String("äöü".to_owned());
    let optional = ParamAttributes::OPTIONAL | ParamAttributes::HAS_DEFAULT;
    writer.set_param_props(second, Some("label"), Some(optional), Some(&text))?;
    for index in 0..4 {
        match writer.param_for_method_index(method, index)? {
            None => say!(on, "parameter {index}: none"),
            Some(parameter) => {
                let props = writer.param_props(parameter)?;
                say!(
                    on,
                    "parameter {index}: {} {:?} {:#x} {:?}",
                    props.sequence,
                    props.name,
                    props.attributes,
                    props.value
                );
            }
        }
    }
    writer.set_param_props(second, None, None, None)?;
    say!(on, "parameter kept: {}", writer.param_props(second)?.name);
    let mut all: Vec<_> = writer.params(method).collect::<Result<_>>()?;
    let mut expected = vec![first, second, returned];
    all.sort();
    expected.sort();
    say!(on, "parameters: {}", all == expected);
    Ok(())
}
