//! The parameters of writing calls for types: layout, and the methods of properties and events.

use crate::error::Result;
use crate::metadata::import::FieldOffset;
use crate::native::{Argument, CallContext, List, arguments};
use clr_profiler_il::token::{FieldDef, MethodDef, TypeToken};
use clr_profiler_sys as sys;

/// The number that leaves a property unchanged.
const KEEP: u32 = u32::MAX;

/// The precision of the size of metadata.
#[doc(alias = "CorSaveSize")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SaveSize {
    /// The exact number of bytes.
    Accurate,
    /// An estimate that is not too small.
    Quick,
}

arguments! {
    SaveSize => u32 = |size, _| Ok(match size {
        SaveSize::Accurate => sys::cssAccurate,
        SaveSize::Quick => sys::cssQuick,
    });
}

/// The methods of an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventMethods<'a> {
    /// Adds a handler.
    pub add_on: Option<MethodDef>,
    /// Removes a handler.
    pub remove_on: Option<MethodDef>,
    /// Raises the event.
    pub fire: Option<MethodDef>,
    /// Other methods.
    pub others: &'a [MethodDef],
}

/// The methods of a property.
#[derive(Clone, Copy, Debug, Default)]
pub struct PropertyMethods<'a> {
    /// The setter.
    pub setter: Option<MethodDef>,
    /// The getter.
    pub getter: Option<MethodDef>,
    /// Other methods.
    pub others: &'a [MethodDef],
}

/// The methods of an event in native form. Unlike for properties, a nil token leaves a method unchanged, and
/// the number for that would count as a token.
pub(crate) struct NativeEvent {
    pub(super) add_on: u32,
    pub(super) remove_on: u32,
    pub(super) fire: u32,
    pub(super) others: List<u32>,
}

pub(crate) struct NativeProperty {
    pub(super) setter: u32,
    pub(super) getter: u32,
    pub(super) others: List<u32>,
}

impl NativeProperty {
    fn of(methods: &PropertyMethods<'_>, none: u32, context: &CallContext<'_>) -> Result<Self> {
        Ok(Self {
            setter: method_or(methods.setter, none),
            getter: method_or(methods.getter, none),
            others: methods.others.to_native(context)?,
        })
    }
}

/// The methods of a property that is changed; `None` leaves a method unchanged.
pub(super) fn kept_methods(
    methods: &PropertyMethods<'_>,
    context: &CallContext<'_>,
) -> Result<NativeProperty> {
    NativeProperty::of(methods, KEEP, context)
}

fn method_or(method: Option<MethodDef>, none: u32) -> u32 {
    method.map_or(none, MethodDef::raw)
}

/// The token of a base type; `None` leaves it unchanged.
pub(super) fn or_keep(class: Option<TypeToken>, _: &CallContext<'_>) -> Result<u32> {
    Ok(class.map_or(KEEP, TypeToken::raw))
}

arguments! {
    &EventMethods<'_> => NativeEvent = |methods, context| Ok(NativeEvent {
        add_on: method_or(methods.add_on, MethodDef::NIL.raw()),
        remove_on: method_or(methods.remove_on, MethodDef::NIL.raw()),
        fire: method_or(methods.fire, MethodDef::NIL.raw()),
        others: methods.others.to_native(context)?,
    });
    &PropertyMethods<'_> => NativeProperty = |methods, context| {
        NativeProperty::of(methods, MethodDef::NIL.raw(), context)
    };
    /// A list with a nil field as its terminator.
    &[FieldOffset] => List<sys::COR_FIELD_OFFSET> = |fields, context| {
        let native = |field: FieldDef, offset| Ok(sys::COR_FIELD_OFFSET {
            ridOfField: field.raw(),
            ulOffset: offset,
        });
        let fields = fields.iter().map(|at| native(at.field, at.offset.unwrap_or(u32::MAX)));
        List::of(context, fields.chain([native(FieldDef::NIL, 0)]))
    };
}
