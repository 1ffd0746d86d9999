//! `IMetaDataImport`: properties and events, and the methods behind them.

use crate::metadata::enumerate::Source;
use crate::metadata::handle::{Metadata, Sealed};
use crate::metadata::value::DefaultValue;
use crate::native::any_token;
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

table! { ($) __metadata_import_semantics_enumerations:
    MetadataImportSemantics = IMetaDataImport from import;

    /// The properties of a type.
    fn properties(class: TypeDef) -> Property = EnumProperties(class);

    /// The events of a type.
    fn events(class: TypeDef) -> Event = EnumEvents(class);

    /// The properties and events that a method serves;
    /// [`method_semantics`](Self::method_semantics) says as what.
    fn method_associations(method: MethodDef) -> Token = EnumMethodSemantics(method);
}

table! { ($) __metadata_import_semantics:
    MetadataImportSemantics = IMetaDataImport from import;

    /// What a method does for a property or event: `CorMethodSemanticsAttr`, ECMA-335 II.23.1.12.
    fn method_semantics(method: MethodDef, association: impl Into<Token> as any_token) -> u32
        = GetMethodSemantics(method, association, @semantics)
        fails "`CLDB_E_RECORD_NOTFOUND` where the method has nothing to do with it.";

    /// Name, signature, attributes and methods of a property.
    fn property_props(property: Property) -> {PropertyProps}
        = GetPropertyProps(property, @class, ~{name}, @attributes, @(signature_blob), @<value>,
            @setter, @getter, ~[others])
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such property.";

    /// Name, type, attributes and methods of an event.
    fn event_props(event: Event) -> {EventProps}
        = GetEventProps(event, @class, ~{name}, @attributes, @event_type, @add_on, @remove_on,
            @fire, ~[others]) fails "`CLDB_E_RECORD_NOTFOUND` where there is no such event.";
}

/// The part of [`MetadataImport`](crate::MetadataImport) about properties and events.
pub trait MetadataImportSemantics: Sealed {
    __metadata_import_semantics_enumerations! { enumerations }
    __metadata_import_semantics! { calls }
}

impl MetadataImportSemantics for Metadata<'_> {}
