//! Methods, fields and parameters.

use clr_profiler::il::signature::{FieldSig, MemberRefSig, MethodSig, TypeSig};
use clr_profiler::metadata::DefaultValue;
use clr_profiler::prelude::*;

use super::{class, framework_type, say};

pub(super) fn methods(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Does")?;
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let method = writer.define_method(Some(class), "Close", 0x1e6, &signature, 0, 0)?;
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
    writer.set_method_props(method, Some(0x1c6), Some(0x2060), Some(8))?;
    show("changed")?;
    writer.set_method_props(method, None, None, None)?;
    show("kept")?;
    writer.set_method_impl_flags(method, 0x48)?;
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
    let field = writer.define_field(Some(class), "Data", 0x16, &signature, None)?;
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
    writer.set_field_props(field, Some(0x8056), Some(&DefaultValue::I4(17)))?;
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
    let data = writer.define_field(Some(class), "Block", 0x116, &signature, None)?;
    writer.set_field_rva(data, 0x4000)?;
    say!(on, "field address: {:#x}", writer.rva(data)?.rva);
    let global = writer.define_field(None, "Everywhere", 0x16, &signature, None)?;
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
    let method = writer.define_method(Some(class), "Take", 0x16, &signature, 0, 0)?;
    // Out of order: they are found by their numbers all the same.
    let second = writer.define_param(method, 2, "text", 0, None)?;
    let first = writer.define_param(method, 1, "count", 0, None)?;
    let returned = writer.define_param(method, 0, "", 0, None)?;
    let text = DefaultValue::String("äöü".to_owned());
    writer.set_param_props(second, Some("label"), Some(0x1010), Some(&text))?;
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
