//! Types with their layout, nested types, events, properties and generic parameters.

use clr_profiler::il::attributes::{
    EventAttributes, FieldAttributes, GenericParamAttributes, MemberAccess, MethodAttributes,
    PropertyAttributes, TypeAttributes, TypeVisibility,
};
use clr_profiler::il::signature::{FieldSig, MethodSig, TypeSig};
use clr_profiler::il::token::TypeRef;
use clr_profiler::metadata::{ConstantValue, EventMethods, FieldOffset, PropertyMethods};
use clr_profiler::prelude::*;

use super::{IL, PUBLIC_STATIC, class, framework_type, say};

fn layout_of(writer: &MetadataWriter<'_>, class: TypeDef) -> Result<String> {
    Ok(match writer.class_layout(class)? {
        None => "none".to_owned(),
        Some(layout) => {
            let offsets: Vec<_> = layout.fields.iter().map(|field| field.offset).collect();
            format!("{} {offsets:?} {}", layout.pack_size, layout.class_size)
        }
    })
}

pub(super) fn layout(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Laid")?;
    let number = FieldSig {
        field_type: TypeSig::I4,
    };
    let public = FieldAttributes::empty().with_access(MemberAccess::Public);
    let first = writer.define_field(Some(class), "First", public, &number, None)?;
    let second = writer.define_field(Some(class), "Second", public, &number, None)?;
    say!(on, "layout before: {}", layout_of(writer, class)?);
    let at = |field, offset| FieldOffset {
        field,
        offset: Some(offset),
    };
    writer.set_class_layout(class, 2, &[at(first, 4), at(second, 12)], 40)?;
    say!(on, "layout: {}", layout_of(writer, class)?);
    writer.set_class_layout(class, 8, &[], 64)?;
    say!(on, "layout changed: {}", layout_of(writer, class)?);
    writer.delete_class_layout(class)?;
    say!(on, "layout deleted: {}", layout_of(writer, class)?);
    say!(
        on,
        "layout deleted again: {}",
        writer.delete_class_layout(class).is_err()
    );
    Ok(())
}

pub(super) fn nesting(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let outer = class(writer, "Emitted.Outer")?;
    let object = framework_type(writer, "System.Object")?;
    let disposable = framework_type(writer, "System.IDisposable")?;
    let public = TypeAttributes::empty().with_visibility(TypeVisibility::NestedPublic);
    let interfaces = [disposable.into()];
    let inner =
        writer.define_nested_type("Inner", public, Some(object.into()), &interfaces, outer)?;
    let interfaces = |class: TypeDef| -> Result<Vec<String>> {
        let mut names = Vec::new();
        for implementation in writer.interface_impls(class) {
            let props = writer.interface_impl_props(implementation?)?;
            let of = TypeRef::try_from(props.interface).map_err(Error::other)?;
            names.push(writer.type_ref_props(of)?.name);
        }
        names.sort();
        Ok(names)
    };
    say!(
        on,
        "nested: found {}, in outer {}, outer in none {}, {:?}",
        writer.find_type_def_by_name("Inner", Some(outer))? == inner,
        writer.nested_class_props(inner)? == Some(outer),
        writer.nested_class_props(outer)?.is_none(),
        interfaces(inner)?
    );
    let value_type = framework_type(writer, "System.ValueType")?;
    let comparable = framework_type(writer, "System.IComparable")?;
    writer.set_type_def_props(
        inner,
        Some(public | TypeAttributes::SEALED),
        Some(value_type.into()),
        Some(&[disposable.into(), comparable.into()]),
    )?;
    let props = writer.type_def_props(inner)?;
    say!(
        on,
        "nested changed: {:#x}, extends {}, {:?}",
        props.attributes,
        props.extends == value_type.into(),
        interfaces(inner)?
    );
    writer.set_type_def_props(inner, None, None, None)?;
    say!(
        on,
        "nested kept: {}",
        writer.type_def_props(inner)? == props
    );
    Ok(())
}

fn accessor(writer: &MetadataWriter<'_>, class: TypeDef, name: &str) -> Result<MethodDef> {
    let signature = MethodSig::new(TypeSig::Void, vec![TypeSig::Object]);
    let special = PUBLIC_STATIC | MethodAttributes::SPECIAL_NAME;
    writer.define_method(Some(class), name, special, &signature, 0, IL)
}

pub(super) fn events(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Raises")?;
    let handler = framework_type(writer, "System.EventHandler")?;
    let add = accessor(writer, class, "add_Done")?;
    let remove = accessor(writer, class, "remove_Done")?;
    let raise = accessor(writer, class, "raise_Done")?;
    let other = accessor(writer, class, "other_Done")?;
    let methods = EventMethods {
        add_on: Some(add),
        remove_on: Some(remove),
        ..EventMethods::default()
    };
    let none = EventAttributes::empty();
    let event = writer.define_event(class, "Done", none, Some(handler.into()), &methods)?;
    let show = |what: &str| -> Result<()> {
        let props = writer.event_props(event)?;
        say!(
            on,
            "event {what}: {} {:#x} {} {} {} {} {}",
            props.name,
            props.attributes,
            props.event_type == handler.into(),
            props.add_on == Some(add),
            props.remove_on == Some(remove),
            props.fire == Some(raise),
            props.others == [other]
        );
        Ok(())
    };
    show("defined")?;
    let more = EventMethods {
        fire: Some(raise),
        others: &[other],
        ..EventMethods::default()
    };
    writer.set_event_props(event, Some(EventAttributes::SPECIAL_NAME), None, &more)?;
    show("changed")?;
    let events: Vec<_> = writer.events(class).collect::<Result<_>>()?;
    say!(
        on,
        "events {}, raised as {:#x}, added as {:#x}",
        events == [event],
        writer.method_semantics(raise, event)?,
        writer.method_semantics(add, event)?
    );
    Ok(())
}

pub(super) fn properties(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Has")?;
    let get = accessor(writer, class, "get_It")?;
    let set = accessor(writer, class, "set_It")?;
    let other = accessor(writer, class, "reset_It")?;
    let methods = PropertyMethods {
        getter: Some(get),
        ..PropertyMethods::default()
    };
    let signature = [0x28, 0x00, 0x08];
    let value = ConstantValue::I4(41);
    let with_default = PropertyAttributes::HAS_DEFAULT;
    let property = writer.define_property(
        class,
        "It",
        with_default,
        &signature,
        Some(&value),
        &methods,
    )?;
    let show = |what: &str| -> Result<()> {
        let props = writer.property_props(property)?;
        say!(
            on,
            "property {what}: {} {:#x} {:?} {} {} {}",
            props.name,
            props.attributes,
            props.value,
            props.getter == Some(get),
            props.setter == Some(set),
            props.others == [other]
        );
        Ok(())
    };
    show("defined")?;
    let methods = PropertyMethods {
        setter: Some(set),
        others: &[other],
        ..PropertyMethods::default()
    };
    let value = ConstantValue::I8(-42);
    let special = Some(with_default | PropertyAttributes::SPECIAL_NAME);
    writer.set_property_props(property, special, Some(&value), &methods)?;
    show("changed")
}

pub(super) fn generics(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let class = class(writer, "Emitted.Generic`1")?;
    let disposable = framework_type(writer, "System.IDisposable")?;
    let comparable = framework_type(writer, "System.IComparable")?;
    let new = GenericParamAttributes::DEFAULT_CONSTRUCTOR_CONSTRAINT;
    let parameter = writer.define_generic_param(class, 0, new, "TItem", &[disposable.into()])?;
    let show = |what: &str| -> Result<()> {
        let props = writer.generic_param_props(parameter)?;
        let mut constraints = Vec::new();
        for constraint in writer.generic_param_constraints(parameter) {
            let props = writer.generic_param_constraint_props(constraint?)?;
            let of = TypeRef::try_from(props.constraint_type).map_err(Error::other)?;
            constraints.push((
                writer.type_ref_props(of)?.name,
                props.parameter == parameter,
            ));
        }
        say!(
            on,
            "generic {what}: {} {} {:#x} {} {constraints:?}",
            props.number,
            props.name,
            props.attributes,
            props.owner == class.into()
        );
        Ok(())
    };
    show("defined")?;
    let reference = GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT;
    let constraints = [comparable.into()];
    writer.set_generic_param_props(parameter, reference, Some("TThing"), Some(&constraints))?;
    show("changed")?;
    writer.set_generic_param_props(parameter, reference, None, None)?;
    show("kept")
}
