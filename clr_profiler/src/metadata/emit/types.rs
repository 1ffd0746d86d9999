//! `IMetaDataEmit`: types with their layout, properties and events.

use super::KEEP;
use crate::error::Result;
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::metadata::import::FieldOffset;
use crate::metadata::signature::{AsSignature, checked};
use crate::metadata::value::DefaultValue;
use crate::native::{Argument, Asked, List};
use clr_profiler_il::signature::PropertySig;
use clr_profiler_il::token::{Event, FieldDef, MethodDef, Property, TypeDef, TypeToken};
use clr_profiler_sys as sys;

/// The methods of an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventMethods<'a> {
    /// Adds a handler.
    pub add_on: Option<MethodDef>,
    /// Removes a handler.
    pub remove_on: Option<MethodDef>,
    /// Raises the event.
    pub fire: Option<MethodDef>,
    /// Others that belong to it.
    pub others: &'a [MethodDef],
}

/// The methods of a property.
#[derive(Clone, Copy, Debug, Default)]
pub struct PropertyMethods<'a> {
    /// Sets it.
    pub setter: Option<MethodDef>,
    /// Reads it.
    pub getter: Option<MethodDef>,
    /// Others that belong to it.
    pub others: &'a [MethodDef],
}

table! { ($) __metadata_emit_types:
    MetadataEmitTypes = IMetaDataEmit from emit;

    /// Adds a type that is not nested.
    ///
    /// The name has the namespace and the number of generic parameters. `attributes` is `CorTypeAttr`,
    /// ECMA-335 II.23.1.15; visibilities of nested types are refused.
    fn define_type_def(
        name: &str, attributes: u32, extends: Option<TypeToken>, implements: &[TypeToken]
    ) -> TypeDef = DefineTypeDef(name.as_ptr(), attributes, extends, implements.as_ptr(), @class)
        fails "A name with a zero in it; what the metadata answers.";

    /// Adds a type that stands in another, like [`define_type_def`](Self::define_type_def).
    fn define_nested_type(
        name: &str, attributes: u32, extends: Option<TypeToken>, implements: &[TypeToken],
        enclosing: TypeDef
    ) -> TypeDef
        = DefineNestedType(name.as_ptr(), attributes, extends, implements.as_ptr(), enclosing,
            @class) fails "A name with a zero in it; what the metadata answers.";

    /// Takes the declared layout of a type away.
    fn delete_class_layout(class: TypeDef) -> () = DeleteClassLayout(class)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is none.";

    /// Changes attributes, base and interfaces of a type. What is `None` stays as it is.
    fn set_type_def_props(
        class: TypeDef, attributes: Option<u32>, extends: Option<TypeToken> as or_keep,
        implements: Option<&[TypeToken]>
    ) -> () = SetTypeDefProps(class, attributes, extends, implements.as_ptr());

    /// Declares the layout of a type: packing, offsets of fields, size in bytes.
    fn set_class_layout(
        class: TypeDef, pack_size: u32, fields: &[FieldOffset], class_size: u32
    ) -> () = SetClassLayout(class, pack_size, fields.as_ptr(), class_size);

    /// Adds an event to a type. `attributes` is `CorEventAttr`, ECMA-335 II.23.1.4.
    fn define_event(
        class: TypeDef, name: &str, attributes: u32, event_type: Option<TypeToken>,
        methods: &EventMethods<'_>
    ) -> Event
        = DefineEvent(class, name.as_ptr(), attributes, event_type, methods.add_on,
            methods.remove_on, methods.fire, methods.others.as_ptr(), @event)
        fails "A name with a zero in it; what the metadata answers.";

    /// Changes attributes, type and methods of an event. What is `None` stays as it
    /// is.
    fn set_event_props(
        event: Event, attributes: Option<u32>, event_type: Option<TypeToken>,
        methods: &EventMethods<'_>
    ) -> ()
        = SetEventProps(event, attributes, event_type, methods.add_on, methods.remove_on,
            methods.fire, methods.others.as_ptr());

    /// Adds a property to a type. `attributes` is `CorPropertyAttr`, ECMA-335 II.23.1.14.
    fn define_property(
        class: TypeDef, name: &str, attributes: u32,
        signature: impl AsSignature<PropertySig> as checked, value: Option<&DefaultValue>,
        methods: &PropertyMethods<'_>
    ) -> Property
        = DefineProperty(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(),
            value.element_type, value.start(), value.length, methods.setter, methods.getter,
            methods.others.as_ptr(), @property)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// Changes attributes, default and methods of a property. What is `None` stays as it is.
    fn set_property_props(
        property: Property, attributes: Option<u32>, value: Option<&DefaultValue>,
        methods: &PropertyMethods<'_> as kept_methods
    ) -> ()
        = SetPropertyProps(property, attributes, value.element_type, value.start(), value.length,
            methods.setter, methods.getter, methods.others.as_ptr());
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about types, with their layout, properties and events.
pub trait MetadataEmitTypes: SealedWriter {
    __metadata_emit_types! { calls }
}

impl MetadataEmitTypes for MetadataWriter<'_> {}

/// The methods of an event as calls take them. Here, other than for properties, a nil token stays what
/// it is, and a number for it would be taken.
pub(crate) struct NativeEvent {
    add_on: u32,
    remove_on: u32,
    fire: u32,
    others: List<u32>,
}

impl Argument for &EventMethods<'_> {
    type Raw = NativeEvent;

    fn to_native(self, asked: &Asked<'_>) -> Result<NativeEvent> {
        Ok(NativeEvent {
            add_on: method_or(self.add_on, MethodDef::NIL.raw()),
            remove_on: method_or(self.remove_on, MethodDef::NIL.raw()),
            fire: method_or(self.fire, MethodDef::NIL.raw()),
            others: self.others.to_native(asked)?,
        })
    }
}

pub(crate) struct NativeProperty {
    setter: u32,
    getter: u32,
    others: List<u32>,
}

impl NativeProperty {
    fn of(methods: &PropertyMethods<'_>, none: u32, asked: &Asked<'_>) -> Result<Self> {
        Ok(Self {
            setter: method_or(methods.setter, none),
            getter: method_or(methods.getter, none),
            others: methods.others.to_native(asked)?,
        })
    }
}

impl Argument for &PropertyMethods<'_> {
    type Raw = NativeProperty;

    fn to_native(self, asked: &Asked<'_>) -> Result<NativeProperty> {
        NativeProperty::of(self, MethodDef::NIL.raw(), asked)
    }
}

/// The methods of a property that is changed: what is `None` stays as it is.
fn kept_methods(methods: &PropertyMethods<'_>, asked: &Asked<'_>) -> Result<NativeProperty> {
    NativeProperty::of(methods, KEEP, asked)
}

fn method_or(method: Option<MethodDef>, none: u32) -> u32 {
    method.map_or(none, MethodDef::raw)
}

/// A base that stays as it is where it is `None`.
fn or_keep(class: Option<TypeToken>, _: &Asked<'_>) -> Result<u32> {
    Ok(class.map_or(KEEP, TypeToken::raw))
}

/// A list that ends with a nil field.
impl Argument for &[FieldOffset] {
    type Raw = List<sys::COR_FIELD_OFFSET>;

    fn to_native(self, asked: &Asked<'_>) -> Result<Self::Raw> {
        let native = |field: FieldDef, offset| {
            Ok(sys::COR_FIELD_OFFSET {
                ridOfField: field.raw(),
                ulOffset: offset,
            })
        };
        let fields = self.iter();
        let fields = fields.map(|at| native(at.field, at.offset.unwrap_or(u32::MAX)));
        List::of(asked, fields.chain([native(FieldDef::NIL, 0)]))
    }
}
