//! The properties of items, one structure for each kind.

use uuid::Uuid;

use crate::metadata::value::ConstantValue;
use crate::native::{FromNative, results};
use clr_profiler_il::attributes::{
    EventAttributes, FieldAttributes, MemberAttributes, MethodAttributes, MethodImplAttributes,
    PInvokeAttributes, ParamAttributes, PropertyAttributes, SecurityAction, TypeAttributes,
};
use clr_profiler_il::token::{FieldDef, MethodDef, ModuleRef, Token, TypeDef};
use clr_profiler_sys as sys;

/// The name and the version id (MVID) of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeProps {
    /// The name of the module's file, without its folder.
    pub name: String,
    /// The module version id, which differs in each build.
    pub mvid: Uuid,
}

/// A type that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeDefProps {
    /// Its name with namespace, and with the number of generic parameters: `` Shop.Cart`1 ``. The name of a
    /// nested type has no namespace; see [`nested_class_props`](super::MetadataImport::nested_class_props).
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.15).
    pub attributes: TypeAttributes,
    /// Its base type: a `TypeDef`, `TypeRef` or `TypeSpec`, or nil.
    pub extends: Token,
}

/// A type of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRefProps {
    /// The scope that defines it: a module, an assembly, or its enclosing type.
    pub resolution_scope: Token,
    /// Its name with namespace.
    pub name: String,
}

/// An interface that a type implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceImplProps {
    /// The type.
    pub class: TypeDef,
    /// The interface: a `TypeDef`, `TypeRef` or `TypeSpec`.
    pub interface: Token,
}

/// A method that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.10).
    pub attributes: MethodAttributes,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// The address of its body in the image; zero if it has none there.
    pub rva: u32,
    /// How it is implemented (ECMA-335 II.23.1.11).
    pub implementation: MethodImplAttributes,
}

/// A field that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.5).
    pub attributes: FieldAttributes,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// The value of a literal.
    pub value: Option<ConstantValue>,
}

/// A method or field that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes, those of a method or of a field.
    pub attributes: MemberAttributes,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// The address of a method's body in the image.
    pub rva: u32,
    /// How a method is implemented (ECMA-335 II.23.1.11).
    pub implementation: MethodImplAttributes,
    /// The value of a literal field.
    pub value: Option<ConstantValue>,
}

/// A method or field that a module uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberRefProps {
    /// The parent that declares it: a type of any kind, a module, or a method with variable arguments.
    pub parent: Token,
    /// Its name.
    pub name: String,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
}

/// A parameter of a method that a module defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamProps {
    /// The method.
    pub method: MethodDef,
    /// Its position: 1 is the first parameter, 0 the return value.
    pub sequence: u32,
    /// Its name.
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.13).
    pub attributes: ParamAttributes,
    /// Its default.
    pub value: Option<ConstantValue>,
}

/// The address of a method's body or a field's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rva {
    /// The address in the image; zero if there is none.
    pub rva: u32,
    /// How a method is implemented (ECMA-335 II.23.1.11).
    pub implementation: MethodImplAttributes,
}

/// A property of a type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PropertyProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.14).
    pub attributes: PropertyAttributes,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// Its default.
    pub value: Option<ConstantValue>,
    /// Its setter.
    pub setter: Option<MethodDef>,
    /// Its getter.
    pub getter: Option<MethodDef>,
    /// Its other methods.
    pub others: Vec<MethodDef>,
}

/// An event of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes (ECMA-335 II.23.1.4).
    pub attributes: EventAttributes,
    /// The delegate: a `TypeDef`, `TypeRef` or `TypeSpec`, or nil.
    pub event_type: Token,
    /// The method that adds a handler.
    pub add_on: Option<MethodDef>,
    /// The method that removes a handler.
    pub remove_on: Option<MethodDef>,
    /// The method that raises it; C# compilers emit none.
    pub fire: Option<MethodDef>,
    /// Its other methods.
    pub others: Vec<MethodDef>,
}

/// A custom attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomAttributeProps {
    /// The item that it is applied to.
    pub owner: Token,
    /// Its constructor: a `MethodDef` or `MemberRef`.
    pub constructor: Token,
    /// The arguments, as ECMA-335 II.23.3 encodes them.
    pub value: Vec<u8>,
}

/// A security declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSetProps {
    /// The use of the permissions (ECMA-335 II.22.11).
    pub action: SecurityAction,
    /// The permissions.
    pub permissions: Vec<u8>,
}

/// The offset that a type declares for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOffset {
    /// The field.
    pub field: FieldDef,
    /// Its offset in bytes, if one is declared.
    pub offset: Option<u32>,
}

results! {
    sys::COR_FIELD_OFFSET => FieldOffset = |raw, context| Ok(Self {
        field: FromNative::from_native(raw.ridOfField, context)?,
        offset: FromNative::from_native(raw.ulOffset, context)?,
    });
}

/// The layout that a type declares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeclaredLayout {
    /// The alignment of fields in bytes: 0 for the default, otherwise a power of two up to 128.
    pub pack_size: u32,
    /// Its fields.
    pub fields: Vec<FieldOffset>,
    /// Its size in bytes; 0 if the runtime calculates it.
    pub class_size: u32,
}

/// The native function that a method maps to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinvokeMap {
    /// Calling convention, character set and so on (ECMA-335 II.23.1.8).
    pub attributes: PInvokeAttributes,
    /// The name of the function.
    pub import_name: String,
    /// The library.
    pub import_dll: Option<ModuleRef>,
}
