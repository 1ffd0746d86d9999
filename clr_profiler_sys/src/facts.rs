//! The declarations as data, recorded by the macros of this crate: for cross-checks against
//! other descriptions of the same interfaces, for fake runtimes and for messages.

use core::ffi::c_void;

use windows_core::{BOOL, GUID, HRESULT, Interface};

use crate::{
    callback, class_factory, constants, control, enumerators, enums, functions, guids, info,
    metadata, structs, types,
};

/// Every interface of this crate, file by file.
pub const INTERFACES: &[&[InterfaceRow]] = &[
    class_factory::INTERFACES,
    callback::INTERFACES,
    info::framework::INTERFACES,
    info::core_clr::INTERFACES,
    control::INTERFACES,
    enumerators::INTERFACES,
    metadata::import::INTERFACES,
    metadata::emit::INTERFACES,
    metadata::assembly::INTERFACES,
    metadata::tables::INTERFACES,
    metadata::dispenser::INTERFACES,
    metadata::services::INTERFACES,
];

/// Every alias of a type.
pub const ALIASES: &[&[AliasRow]] = &[types::ALIASES, metadata::types::ALIASES];

/// Every enumeration, file by file.
pub const ENUMERATIONS: &[&[EnumerationRow]] = &[
    enums::ENUMERATIONS,
    metadata::attributes::ENUMERATIONS,
    metadata::signatures::ENUMERATIONS,
    metadata::tokens::ENUMERATIONS,
    metadata::options::ENUMERATIONS,
    metadata::image::ENUMERATIONS,
];

/// Every structure and union.
pub const STRUCTURES: &[&[StructureRow]] = &[structs::STRUCTURES, metadata::structs::STRUCTURES];

/// Every function typedef.
pub const FUNCTIONS: &[FunctionRow] = functions::FUNCTIONS;

/// Every constant that is a GUID.
pub const GUIDS: &[(&str, GUID)] = guids::GUIDS;

/// Every constant that is neither a GUID nor a member of an enumeration.
pub const CONSTANTS: &[&[(&str, Value)]] = &[
    constants::NUMBERS,
    constants::NIL_TOKENS,
    constants::NAMES,
    constants::SIGNATURES,
];

/// The name, parent and methods of an interface.
pub trait InterfaceFacts {
    /// The interface's name.
    const NAME: &'static str;
    /// The name of the interface it extends.
    const PARENT: &'static str;
    /// The methods it adds to its parent, in the order of the vtable.
    const METHODS: &'static [Method];
}

/// One interface, apart from its type.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceRow {
    /// The interface's name.
    pub name: &'static str,
    /// The name of the interface it extends.
    pub parent: &'static str,
    /// Its identifier.
    pub iid: GUID,
    /// The size of its vtable in bytes, all parents included.
    pub vtable_size: usize,
    /// The methods it adds to its parent, in the order of the vtable.
    pub methods: &'static [Method],
}

impl InterfaceRow {
    pub(crate) const fn of<I: Interface + InterfaceFacts>() -> Self {
        Self {
            name: I::NAME,
            parent: I::PARENT,
            iid: I::IID,
            vtable_size: size_of::<I::Vtable>(),
            methods: I::METHODS,
        }
    }
}

/// One method of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The method's name.
    pub name: &'static str,
    /// Its slot in the vtable; the first three belong to `IUnknown`.
    pub slot: usize,
    /// The return type, as written in this crate.
    pub return_type: &'static str,
    /// The size of the return type; 0 if it returns nothing.
    pub returns: usize,
    /// Its parameters in order, without the object itself.
    pub parameters: &'static [Parameter],
}

/// One parameter of a method or function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The parameter's name; a reserved word of Rust begins with `r#`.
    pub name: &'static str,
    /// Its type as written in this crate.
    pub type_name: &'static str,
    /// The size of its type in bytes.
    pub size: usize,
    /// For a data pointer, the size of the pointee (1 for `c_void`); otherwise 0.
    pub pointee: usize,
}

/// One function typedef.
#[derive(Clone, Copy, Debug)]
pub struct FunctionRow {
    /// The typedef's name.
    pub name: &'static str,
    /// The return type, as written in this crate.
    pub return_type: &'static str,
    /// The size of the return type; 0 if it returns nothing.
    pub returns: usize,
    /// Its parameters in order.
    pub parameters: &'static [Parameter],
}

/// One alias of a type.
#[derive(Clone, Copy, Debug)]
pub struct AliasRow {
    /// The alias's name.
    pub name: &'static str,
    /// The type as written in this crate.
    pub type_name: &'static str,
    /// The size of the type in bytes.
    pub size: usize,
}

/// One enumeration with its members.
#[derive(Clone, Copy, Debug)]
pub struct EnumerationRow {
    /// The enumeration's name.
    pub name: &'static str,
    /// The type of its members.
    pub type_name: &'static str,
    /// The members in the order of their declaration.
    pub members: &'static [(&'static str, i64)],
}

/// One structure or union.
#[derive(Clone, Copy, Debug)]
pub struct StructureRow {
    /// The structure's name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// Its fields in order.
    pub fields: &'static [Field],
}

/// One field of a structure or union.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The field's name; a reserved word of Rust begins with `r#`.
    pub name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its type as written in this crate.
    pub type_name: &'static str,
    /// The size of its type in bytes.
    pub size: usize,
}

/// The value of a constant that is neither a GUID nor a member of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u32),
    /// A string.
    Text(&'static str),
    /// The bytes of a signature.
    Bytes(&'static [u8]),
}

/// A type that can be a parameter.
pub(crate) trait Argument {
    const POINTEE: usize;
}

macro_rules! by_value {
    ($($name:ty)*) => { $(impl Argument for $name { const POINTEE: usize = 0; })* };
}

by_value! { u8 u16 u32 u64 usize i32 BOOL HRESULT }
by_value! { crate::FunctionIDOrClientID crate::COR_PRF_EVENTPIPE_PROVIDER_CONFIG }

impl<F> Argument for Option<F> {
    const POINTEE: usize = 0;
}

impl<T> Argument for *const T {
    const POINTEE: usize = size_of::<T>();
}

impl<T> Argument for *mut T {
    const POINTEE: usize = size_of::<T>();
}

const _: () = assert!(size_of::<c_void>() == 1);
