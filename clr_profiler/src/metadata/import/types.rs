//! `IMetaDataImport`: the module and its types.

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::metadata::enumerate::Source;
use crate::metadata::handle::{Metadata, Sealed};
use crate::native::any_token;
use clr_profiler_il::signature::TypeSpecSig;
use clr_profiler_il::token::{InterfaceImpl, Module, ModuleRef, Token, TypeDef, TypeRef, TypeSpec};
use clr_profiler_sys as sys;
use sys::Interface;

/// A module by its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeProps {
    /// The name of the module's file, without its folder.
    pub name: String,
    /// The module version id: another one for each build.
    pub mvid: Uuid,
}

/// A type that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeDefProps {
    /// Its name with namespace, and with the number of generic parameters: `` Shop.Cart`1 ``. A
    /// nested type has no namespace here; see [`MetadataImportTypes::nested_class_props`].
    pub name: String,
    /// Its attributes: `CorTypeAttr`, ECMA-335 II.23.1.15.
    pub attributes: u32,
    /// What it derives from: a `TypeDef`, `TypeRef` or `TypeSpec`, or nil.
    pub extends: Token,
}

/// A type of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRefProps {
    /// Where to look for it: a module, an assembly, or the type that encloses it.
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

table! { ($) __metadata_import_types:
    MetadataImportTypes = IMetaDataImport from import;

    /// Name and version id of the module.
    fn scope_props() -> {ScopeProps} = GetScopeProps(~{name}, @mvid);

    /// The token of the module itself, which its custom attributes hang on.
    fn module_from_scope() -> Module = GetModuleFromScope(@module);

    /// The type with this name that the module defines.
    ///
    /// The name has the namespace and the number of generic parameters: `` Shop.Cart`1 ``. A nested
    /// type is found by its own name, and the type around it.
    fn find_type_def_by_name(name: &str, enclosing: Option<TypeDef>) -> TypeDef
        = FindTypeDefByName(name.as_ptr(), enclosing, @class)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such type.";

    /// The reference to a type by its scope (an assembly, a module or an enclosing type) and its
    /// name with namespace.
    fn find_type_ref(scope: impl Into<Token> as any_token, name: &str) -> TypeRef
        = FindTypeRef(scope, name.as_ptr(), @class)
        fails "`CLDB_E_RECORD_NOTFOUND` where the module has no such reference.";

    /// Name, attributes and base of a type that the module defines.
    fn type_def_props(class: TypeDef) -> {TypeDefProps}
        = GetTypeDefProps(class, ~{name}, @attributes, @extends)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such type.";

    /// The type in which a nested type stands; `None` for types that are not nested.
    fn nested_class_props(class: TypeDef) -> TypeDef = GetNestedClassProps(class, @enclosing)
        none on CLDB_E_RECORD_NOTFOUND
        fails "What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.";

    /// The type and the interface of an implementation.
    fn interface_impl_props(implementation: InterfaceImpl) -> {InterfaceImplProps}
        = GetInterfaceImplProps(implementation, @class, @interface)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such implementation.";

    /// Name and scope of a type of another module.
    fn type_ref_props(class: TypeRef) -> {TypeRefProps}
        = GetTypeRefProps(class, @resolution_scope, ~{name})
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such reference.";

    /// The signature of a composed type, as ECMA-335 II.23.2.14 encodes it.
    fn type_spec_from_token(type_spec: TypeSpec) -> Vec<u8>
        = GetTypeSpecFromToken(type_spec, @(bytes))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such type.";

    /// The name of another module of the assembly, or of a native library.
    fn module_ref_props(module: ModuleRef) -> String = GetModuleRefProps(module, ~{text})
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such reference.";

    /// The metadata and the definition that a reference to a type means, looked for among the
    /// scopes that the dispenser has opened.
    ///
    /// .NET (Core) does not look: it refuses. There, follow
    /// [`type_ref_props`](Self::type_ref_props) to the assembly, and find that among the modules.
    fn resolve_type_ref(class: TypeRef) -> (Metadata<'_>, TypeDef)
        = ResolveTypeRef(class, &clr_profiler_sys::IMetaDataImport2::IID, @scope, @definition)
        fails "`E_NOTIMPL` or another failure on .NET (Core).";
}

table! { ($) __metadata_import_types_enumerations:
    MetadataImportTypes = IMetaDataImport from import;

    /// The types that the module defines, nested ones too; without `<Module>`.
    fn type_defs() -> TypeDef = EnumTypeDefs();

    /// The types of other modules that the module uses.
    fn type_refs() -> TypeRef = EnumTypeRefs();

    /// The composed types that the module uses: generic ones with arguments, arrays, pointers.
    fn type_specs() -> TypeSpec = EnumTypeSpecs();

    /// The other modules of the assembly and the native libraries that the module uses.
    fn module_refs() -> ModuleRef = EnumModuleRefs();

    /// The interfaces that a type says it implements.
    fn interface_impls(class: TypeDef) -> InterfaceImpl = EnumInterfaceImpls(class);
}

/// The part of [`MetadataImport`](crate::MetadataImport) about the module and its types.
pub trait MetadataImportTypes: Sealed {
    __metadata_import_types! { calls }
    __metadata_import_types_enumerations! { enumerations }

    /// The signature of a composed type, decoded:
    /// [`type_spec_from_token`](Self::type_spec_from_token) gives the bytes.
    ///
    /// # Errors
    ///
    /// Those of that call, and where the signature breaks a rule of ECMA-335 II.23.2: which one.
    fn type_spec(&self, type_spec: TypeSpec) -> Result<TypeSpecSig> {
        TypeSpecSig::parse(&self.type_spec_from_token(type_spec)?)
            .map_err(|error| Error::invalid("the signature of the type", error))
    }
}

impl MetadataImportTypes for Metadata<'_> {}
