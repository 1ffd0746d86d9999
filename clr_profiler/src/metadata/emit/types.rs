//! `IMetaDataEmit`: types with their layout, properties and events.

use super::KEEP;
use crate::error::Result;
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::metadata::import::FieldOffset;
use crate::metadata::signature::AsSignature;
use crate::metadata::value::DefaultValue;
use crate::native::typed;
use crate::native::{length, raw_or_nil, terminated, wide};
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

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_emit_types {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataEmitTypes = IMetaDataEmit from emit;
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
    } };
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about types, with their layout, properties and events.
pub trait MetadataEmitTypes: SealedWriter {
    __metadata_emit_types! { calls }

    /// Changes attributes, base and interfaces of a type. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetTypeDefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetTypeDefProps")]
    fn set_type_def_props(
        &self,
        class: TypeDef,
        attributes: Option<u32>,
        extends: Option<TypeToken>,
        implements: Option<&[TypeToken]>,
    ) -> Result<()> {
        let implements = implements.map(terminated);
        let implements = implements
            .as_ref()
            .map_or(std::ptr::null(), |list| list.as_ptr());
        native_call!(
            self.emit(),
            IMetaDataEmit::SetTypeDefProps(
                class.raw(),
                attributes.unwrap_or(KEEP),
                extends.map_or(KEEP, TypeToken::raw),
                implements
            )
        )
        .map(drop)
    }

    /// Declares the layout of a type: packing, offsets of fields, size in bytes.
    ///
    /// Wraps `IMetaDataEmit::SetClassLayout`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetClassLayout")]
    fn set_class_layout(
        &self,
        class: TypeDef,
        pack_size: u32,
        fields: &[FieldOffset],
        class_size: u32,
    ) -> Result<()> {
        let offsets: Vec<sys::COR_FIELD_OFFSET> = fields
            .iter()
            .map(|field| sys::COR_FIELD_OFFSET {
                ridOfField: field.field.raw(),
                ulOffset: field.offset.unwrap_or(u32::MAX),
            })
            // The list ends with a nil field.
            .chain([sys::COR_FIELD_OFFSET {
                ridOfField: FieldDef::NIL.raw(),
                ulOffset: 0,
            }])
            .collect();
        native_call!(
            self.emit(),
            IMetaDataEmit::SetClassLayout(class.raw(), pack_size, offsets.as_ptr(), class_size)
        )
        .map(drop)
    }

    /// Adds an event to a type. `attributes` is `CorEventAttr`, ECMA-335 II.23.1.4.
    ///
    /// Wraps `IMetaDataEmit::DefineEvent`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "DefineEvent")]
    fn define_event(
        &self,
        class: TypeDef,
        name: &str,
        attributes: u32,
        event_type: Option<TypeToken>,
        methods: &EventMethods<'_>,
    ) -> Result<Event> {
        const CALL: &str = "IMetaDataEmit::DefineEvent";
        let name = wide(CALL, name)?;
        let others = terminated(methods.others);
        let mut event = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineEvent(
                class.raw(),
                name.as_ptr(),
                attributes,
                raw_or_nil(event_type),
                method_or_nil(methods.add_on),
                method_or_nil(methods.remove_on),
                method_or_nil(methods.fire),
                others.as_ptr(),
                &mut event
            )
        )?;
        typed(CALL, event)
    }

    /// Changes attributes, type and methods of an event. What is `None` stays as it
    /// is.
    ///
    /// Wraps `IMetaDataEmit::SetEventProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetEventProps")]
    fn set_event_props(
        &self,
        event: Event,
        attributes: Option<u32>,
        event_type: Option<TypeToken>,
        methods: &EventMethods<'_>,
    ) -> Result<()> {
        let others = terminated(methods.others);
        // Here, other than for properties, a nil token stays what it is, and `KEEP` would be taken.
        native_call!(
            self.emit(),
            IMetaDataEmit::SetEventProps(
                event.raw(),
                attributes.unwrap_or(KEEP),
                raw_or_nil(event_type),
                method_or_nil(methods.add_on),
                method_or_nil(methods.remove_on),
                method_or_nil(methods.fire),
                others.as_ptr()
            )
        )
        .map(drop)
    }

    /// Adds a property to a type. `attributes` is `CorPropertyAttr`, ECMA-335 II.23.1.14.
    ///
    /// Wraps `IMetaDataEmit::DefineProperty`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what the metadata
    /// answers.
    #[doc(alias = "DefineProperty")]
    fn define_property(
        &self,
        class: TypeDef,
        name: &str,
        attributes: u32,
        signature: impl AsSignature<PropertySig>,
        value: Option<&DefaultValue>,
        methods: &PropertyMethods<'_>,
    ) -> Result<Property> {
        const CALL: &str = "IMetaDataEmit::DefineProperty";
        let name = wide(CALL, name)?;
        let signature = signature.checked(CALL)?;
        let value = DefaultValue::native(value);
        let others = terminated(methods.others);
        let mut property = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineProperty(
                class.raw(),
                name.as_ptr(),
                attributes,
                signature.as_ptr(),
                length(CALL, &signature)?,
                value.element_type,
                value.start(),
                value.length,
                method_or_nil(methods.setter),
                method_or_nil(methods.getter),
                others.as_ptr(),
                &mut property
            )
        )?;
        typed(CALL, property)
    }

    /// Changes attributes, default and methods of a property. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetPropertyProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetPropertyProps")]
    fn set_property_props(
        &self,
        property: Property,
        attributes: Option<u32>,
        value: Option<&DefaultValue>,
        methods: &PropertyMethods<'_>,
    ) -> Result<()> {
        let value = DefaultValue::native(value);
        let others = terminated(methods.others);
        native_call!(
            self.emit(),
            IMetaDataEmit::SetPropertyProps(
                property.raw(),
                attributes.unwrap_or(KEEP),
                value.element_type,
                value.start(),
                value.length,
                methods.setter.map_or(KEEP, MethodDef::raw),
                methods.getter.map_or(KEEP, MethodDef::raw),
                others.as_ptr()
            )
        )
        .map(drop)
    }
}

impl MetadataEmitTypes for MetadataWriter<'_> {}

/// The method, or a nil one.
fn method_or_nil(method: Option<MethodDef>) -> u32 {
    method.unwrap_or(MethodDef::NIL).raw()
}
