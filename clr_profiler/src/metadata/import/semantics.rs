//! `IMetaDataImport`: properties and events, and the methods behind them.

use std::ffi::c_void;

use crate::error::{Error, Result};
use crate::metadata::handle::{Metadata, Sealed};
use crate::metadata::value::DefaultValue;
use crate::native::any_token;
use crate::native::{blob, optional};
use crate::native::{read_array, read_text, typed};
use clr_profiler_il::signature::PropertySig;
use clr_profiler_il::token::{Event, MethodDef, Property, Token, TypeDef};

/// A property of a type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PropertyProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorPropertyAttr`, ECMA-335 II.23.1.14.
    pub attributes: u32,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// Its default.
    pub value: Option<DefaultValue>,
    /// The method that sets it.
    pub setter: Option<MethodDef>,
    /// The method that reads it.
    pub getter: Option<MethodDef>,
    /// Other methods that belong to it.
    pub others: Vec<MethodDef>,
}

impl PropertyProps {
    /// The signature.
    ///
    /// # Errors
    ///
    /// Where it breaks a rule of ECMA-335 II.23.2: which one, and where.
    pub fn signature(&self) -> Result<PropertySig> {
        PropertySig::parse(&self.signature_blob)
            .map_err(|error| Error::invalid("the signature of the property", error))
    }
}

/// An event of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorEventAttr`, ECMA-335 II.23.1.4.
    pub attributes: u32,
    /// The delegate: a `TypeDef`, `TypeRef` or `TypeSpec`, or nil.
    pub event_type: Token,
    /// The method that adds a handler.
    pub add_on: Option<MethodDef>,
    /// The method that removes a handler.
    pub remove_on: Option<MethodDef>,
    /// The method that raises it; C# makes none.
    pub fire: Option<MethodDef>,
    /// Other methods that belong to it.
    pub others: Vec<MethodDef>,
}

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_import_semantics_enumerations {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataImportSemantics = IMetaDataImport from import;
    /// The properties of a type.
    fn properties(class: TypeDef) -> Property = EnumProperties(class);

    /// The events of a type.
    fn events(class: TypeDef) -> Event = EnumEvents(class);

    /// The properties and events that a method serves;
    /// [`method_semantics`](Self::method_semantics) says as what.
    fn method_associations(method: MethodDef) -> Token = EnumMethodSemantics(method);
    } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_import_semantics {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataImportSemantics = IMetaDataImport from import;
    /// What a method does for a property or event: `CorMethodSemanticsAttr`, ECMA-335 II.23.1.12.
    fn method_semantics(method: MethodDef, association: impl Into<Token> as any_token) -> u32
        = GetMethodSemantics(method, association, @semantics)
        fails "`CLDB_E_RECORD_NOTFOUND` where the method has nothing to do with it.";
    } };
}

/// The part of [`MetadataImport`](crate::MetadataImport) about properties and events.
pub trait MetadataImportSemantics: Sealed {
    __metadata_import_semantics_enumerations! { enumerations }
    __metadata_import_semantics! { calls }

    /// Name, signature, attributes and methods of a property.
    ///
    /// Wraps `IMetaDataImport::GetPropertyProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such property.
    #[doc(alias = "GetPropertyProps")]
    fn property_props(&self, property: Property) -> Result<PropertyProps> {
        const CALL: &str = "IMetaDataImport::GetPropertyProps";
        let (mut class, mut attributes, mut setter, mut getter) = (0, 0, 0, 0);
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let (mut kind, mut value, mut value_length) = (0, std::ptr::null::<c_void>(), 0);
        let import = self.import();
        let mut ask =
            |name: *mut u16, capacity, length: *mut u32, others, room, count: *mut u32| {
                native_call!(
                    import,
                    IMetaDataImport::GetPropertyProps(
                        property.raw(),
                        &mut class,
                        name,
                        capacity,
                        length,
                        &mut attributes,
                        &mut signature,
                        &mut signature_length,
                        &mut kind,
                        &mut value,
                        &mut value_length,
                        &mut setter,
                        &mut getter,
                        others,
                        room,
                        count,
                    )
                )
            };
        let others = read_array(|room, count, others| {
            ask(
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
                others,
                room,
                count,
            )
        })?;
        let name = read_text(|capacity, length, name| {
            ask(
                name,
                capacity,
                length,
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            )
        })?;
        Ok(PropertyProps {
            class: typed(CALL, class)?,
            name,
            attributes,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
            // SAFETY: the metadata says that a constant of that type stands there.
            value: unsafe { DefaultValue::read(kind, value, value_length) },
            setter: optional(CALL, setter)?,
            getter: optional(CALL, getter)?,
            others: methods(CALL, &others)?,
        })
    }

    /// Name, type, attributes and methods of an event.
    ///
    /// Wraps `IMetaDataImport::GetEventProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such event.
    #[doc(alias = "GetEventProps")]
    fn event_props(&self, event: Event) -> Result<EventProps> {
        const CALL: &str = "IMetaDataImport::GetEventProps";
        let (mut class, mut attributes, mut event_type) = (0, 0, 0);
        let (mut add_on, mut remove_on, mut fire) = (0, 0, 0);
        let import = self.import();
        let mut ask =
            |name: *mut u16, capacity, length: *mut u32, others, room, count: *mut u32| {
                native_call!(
                    import,
                    IMetaDataImport::GetEventProps(
                        event.raw(),
                        &mut class,
                        name,
                        capacity,
                        length,
                        &mut attributes,
                        &mut event_type,
                        &mut add_on,
                        &mut remove_on,
                        &mut fire,
                        others,
                        room,
                        count,
                    )
                )
            };
        let others = read_array(|room, count, others| {
            ask(
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
                others,
                room,
                count,
            )
        })?;
        let name = read_text(|capacity, length, name| {
            ask(
                name,
                capacity,
                length,
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            )
        })?;
        Ok(EventProps {
            class: typed(CALL, class)?,
            name,
            attributes,
            event_type: Token::new(event_type),
            add_on: optional(CALL, add_on)?,
            remove_on: optional(CALL, remove_on)?,
            fire: optional(CALL, fire)?,
            others: methods(CALL, &others)?,
        })
    }
}

impl MetadataImportSemantics for Metadata<'_> {}

fn methods(call: &'static str, raw: &[u32]) -> Result<Vec<MethodDef>> {
    raw.iter().map(|method| typed(call, *method)).collect()
}
