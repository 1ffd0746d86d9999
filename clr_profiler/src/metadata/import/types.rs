//! `IMetaDataImport`: the module and its types.

use uuid::Uuid;

use crate::boundary::uuid_of;
use crate::error::{Error, Result};
use crate::metadata::convert::{blob, found, wide};
use crate::metadata::enumerate::{MetadataIter, enumerate};
use crate::metadata::handle::{Metadata, Sealed, source};
use crate::native::{read_text, typed};
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

/// The part of [`MetadataImport`](crate::MetadataImport) about the module and its types.
pub trait MetadataImportTypes: Sealed {
    /// Name and version id of the module.
    ///
    /// Wraps `IMetaDataImport::GetScopeProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetScopeProps")]
    fn scope_props(&self) -> Result<ScopeProps> {
        let mut mvid = sys::GUID::zeroed();
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetScopeProps(buffer, capacity, length, &mut mvid)
            )
        })?;
        Ok(ScopeProps {
            name,
            mvid: uuid_of(&mvid),
        })
    }

    /// The token of the module itself, which its custom attributes hang on.
    ///
    /// Wraps `IMetaDataImport::GetModuleFromScope`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetModuleFromScope")]
    fn module_from_scope(&self) -> Result<Module> {
        let mut module = 0;
        native_call!(
            self.import(),
            IMetaDataImport::GetModuleFromScope(&mut module)
        )?;
        typed("IMetaDataImport::GetModuleFromScope", module)
    }

    /// The types that the module defines, nested ones too; without `<Module>`.
    ///
    /// Wraps `IMetaDataImport::EnumTypeDefs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumTypeDefs")]
    fn type_defs(&self) -> MetadataIter<'_, TypeDef> {
        enumerate!(self.import(), source(self), IMetaDataImport::EnumTypeDefs())
    }

    /// The types of other modules that the module uses.
    ///
    /// Wraps `IMetaDataImport::EnumTypeRefs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumTypeRefs")]
    fn type_refs(&self) -> MetadataIter<'_, TypeRef> {
        enumerate!(self.import(), source(self), IMetaDataImport::EnumTypeRefs())
    }

    /// The composed types that the module uses: generic ones with arguments, arrays, pointers.
    ///
    /// Wraps `IMetaDataImport::EnumTypeSpecs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumTypeSpecs")]
    fn type_specs(&self) -> MetadataIter<'_, TypeSpec> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumTypeSpecs()
        )
    }

    /// The other modules of the assembly and the native libraries that the module uses.
    ///
    /// Wraps `IMetaDataImport::EnumModuleRefs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumModuleRefs")]
    fn module_refs(&self) -> MetadataIter<'_, ModuleRef> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumModuleRefs()
        )
    }

    /// The interfaces that a type says it implements.
    ///
    /// Wraps `IMetaDataImport::EnumInterfaceImpls`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumInterfaceImpls")]
    fn interface_impls(&self, class: TypeDef) -> MetadataIter<'_, InterfaceImpl> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumInterfaceImpls(class.raw())
        )
    }

    /// The type with this name that the module defines.
    ///
    /// The name has the namespace and the number of generic parameters: `` Shop.Cart`1 ``. A nested
    /// type is found by its own name, and the type around it.
    ///
    /// Wraps `IMetaDataImport::FindTypeDefByName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "FindTypeDefByName")]
    fn find_type_def_by_name(&self, name: &str, enclosing: Option<TypeDef>) -> Result<TypeDef> {
        const CALL: &str = "IMetaDataImport::FindTypeDefByName";
        let name = wide(CALL, name)?;
        let mut class = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindTypeDefByName(
                name.as_ptr(),
                enclosing.map_or(0, |enclosing| enclosing.raw()),
                &mut class,
            )
        )?;
        typed(CALL, class)
    }

    /// The reference to a type by its scope (an assembly, a module or an enclosing type) and its
    /// name with namespace.
    ///
    /// Wraps `IMetaDataImport::FindTypeRef`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where the module has no such reference.
    #[doc(alias = "FindTypeRef")]
    fn find_type_ref(&self, scope: impl Into<Token>, name: &str) -> Result<TypeRef> {
        const CALL: &str = "IMetaDataImport::FindTypeRef";
        let name = wide(CALL, name)?;
        let mut class = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindTypeRef(scope.into().raw(), name.as_ptr(), &mut class)
        )?;
        typed(CALL, class)
    }

    /// Name, attributes and base of a type that the module defines.
    ///
    /// Wraps `IMetaDataImport::GetTypeDefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "GetTypeDefProps")]
    fn type_def_props(&self, class: TypeDef) -> Result<TypeDefProps> {
        let (mut attributes, mut extends) = (0, 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetTypeDefProps(
                    class.raw(),
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut extends,
                )
            )
        })?;
        Ok(TypeDefProps {
            name,
            attributes,
            extends: Token::new(extends),
        })
    }

    /// The type in which a nested type stands; `None` for types that are not nested.
    ///
    /// Wraps `IMetaDataImport::GetNestedClassProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetNestedClassProps")]
    fn nested_class_props(&self, class: TypeDef) -> Result<Option<TypeDef>> {
        let mut enclosing = 0;
        let answer = native_call!(
            self.import(),
            IMetaDataImport::GetNestedClassProps(class.raw(), &mut enclosing)
        );
        found(answer)?
            .map(|_| typed("IMetaDataImport::GetNestedClassProps", enclosing))
            .transpose()
    }

    /// The type and the interface of an implementation.
    ///
    /// Wraps `IMetaDataImport::GetInterfaceImplProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such implementation.
    #[doc(alias = "GetInterfaceImplProps")]
    fn interface_impl_props(&self, implementation: InterfaceImpl) -> Result<InterfaceImplProps> {
        let (mut class, mut interface) = (0, 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetInterfaceImplProps(
                implementation.raw(),
                &mut class,
                &mut interface
            )
        )?;
        Ok(InterfaceImplProps {
            class: typed("IMetaDataImport::GetInterfaceImplProps", class)?,
            interface: Token::new(interface),
        })
    }

    /// Name and scope of a type of another module.
    ///
    /// Wraps `IMetaDataImport::GetTypeRefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such reference.
    #[doc(alias = "GetTypeRefProps")]
    fn type_ref_props(&self, class: TypeRef) -> Result<TypeRefProps> {
        let mut scope = 0;
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetTypeRefProps(class.raw(), &mut scope, buffer, capacity, length)
            )
        })?;
        Ok(TypeRefProps {
            resolution_scope: Token::new(scope),
            name,
        })
    }

    /// The metadata and the definition that a reference to a type means, looked for among the
    /// scopes that the dispenser has opened.
    ///
    /// .NET (Core) does not look: it refuses. There, follow
    /// [`type_ref_props`](Self::type_ref_props) to the assembly, and find that among the modules.
    ///
    /// Wraps `IMetaDataImport::ResolveTypeRef`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL` or another failure on .NET (Core).
    #[doc(alias = "ResolveTypeRef")]
    fn resolve_type_ref(&self, class: TypeRef) -> Result<(Metadata<'_>, TypeDef)> {
        const CALL: &str = "IMetaDataImport::ResolveTypeRef";
        let (mut scope, mut definition) = (std::ptr::null_mut(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::ResolveTypeRef(
                class.raw(),
                &sys::IMetaDataImport2::IID,
                &mut scope,
                &mut definition,
            )
        )?;
        // SAFETY: the answer is a reference to the interface that was asked for.
        let metadata = unsafe { Metadata::from_raw(CALL, scope) }?;
        Ok((metadata, typed(CALL, definition)?))
    }

    /// The signature of a composed type, as ECMA-335 II.23.2.14 encodes it.
    ///
    /// Wraps `IMetaDataImport::GetTypeSpecFromToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "GetTypeSpecFromToken")]
    fn type_spec_from_token(&self, type_spec: TypeSpec) -> Result<Vec<u8>> {
        let (mut signature, mut length) = (std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetTypeSpecFromToken(type_spec.raw(), &mut signature, &mut length)
        )?;
        // SAFETY: the metadata says that its blob of that length stands there.
        Ok(unsafe { blob(signature, length) })
    }

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

    /// The name of another module of the assembly, or of a native library.
    ///
    /// Wraps `IMetaDataImport::GetModuleRefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such reference.
    #[doc(alias = "GetModuleRefProps")]
    fn module_ref_props(&self, module: ModuleRef) -> Result<String> {
        let import = self.import();
        read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetModuleRefProps(module.raw(), buffer, capacity, length)
            )
        })
    }
}

impl MetadataImportTypes for Metadata<'_> {}
