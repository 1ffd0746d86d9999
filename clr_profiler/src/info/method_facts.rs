//! The facts of methods for patterns, from metadata.

use std::borrow::Cow;
use std::rc::Rc;

use super::names::{assembly_name, class_names, type_path};
use super::{CorProfilerInfo, CorProfilerInfo3, ProfilerInfo};
use crate::Method;
use crate::error::{Error, OptionalExt, Result};
use crate::ids::ModuleId;
use crate::metadata::{
    Metadata, MetadataAssemblyImport, MetadataImport, MethodProps, find_type_def, nested_names,
    parameter_names, parameter_types, token_name,
};
use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{AttributeOwner, GenericOwner, MethodFacts};
use clr_profiler_il::token::{AssemblyRef, MethodDef, Token, TypeDef, TypeRef, TypeToken};

/// The number of base types, and of forwardings of one, after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// A method of a module, without an instance.
pub(crate) struct MethodDefinition<'info> {
    pub(crate) info: &'info ProfilerInfo,
    pub(crate) module: ModuleId,
    pub(crate) metadata: Metadata<'info>,
    pub(crate) token: MethodDef,
    pub(crate) props: MethodProps,
    pub(crate) known: Known,
}

/// Facts that the methods of a type share, if they are known already.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) assembly: Option<Rc<str>>,
    pub(crate) class: Option<Rc<str>>,
}

impl MethodFacts for MethodDefinition<'_> {
    type Error = Error;

    fn assembly(&self) -> Result<Cow<'_, str>> {
        if let Some(known) = &self.known.assembly {
            return Ok(Cow::Borrowed(known));
        }
        assembly_name(self.info, self.module, &self.metadata).map(Cow::Owned)
    }

    fn type_path(&self) -> Result<Cow<'_, str>> {
        if let Some(known) = &self.known.class {
            return Ok(Cow::Borrowed(known));
        }
        type_path(&self.metadata, self.props.class).map(Cow::Owned)
    }

    fn method_name(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.props.name))
    }

    fn access(&self) -> Result<MemberAccess> {
        Ok(self.props.attributes.access())
    }

    fn parameters(&self) -> Result<Vec<String>> {
        parameter_types(&self.metadata, self.token, &self.props)
    }

    fn generic_parameters(&self, of: GenericOwner) -> Result<Vec<String>> {
        let owner: Token = match of {
            GenericOwner::Type => self.props.class.into(),
            GenericOwner::Method => self.token.into(),
        };
        parameter_names(&self.metadata, owner)
    }

    fn generic_arguments(&self, _: GenericOwner) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn attributes(&self, of: AttributeOwner) -> Result<Vec<String>> {
        let owner: Token = match of {
            AttributeOwner::Method => self.token.into(),
            AttributeOwner::Type => self.props.class.into(),
            AttributeOwner::Assembly => match self.metadata.assembly_from_scope()? {
                Some(assembly) => assembly.into(),
                None => return Ok(Vec::new()),
            },
        };
        self.metadata.attribute_types(owner)
    }

    fn base_types(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.each_base(|metadata, class| {
            let Some(base) = base_of(metadata, class)? else {
                return Ok(());
            };
            names.push(token_name(metadata, base, Some(class))?);
            Ok(())
        })?;
        Ok(names)
    }

    fn interfaces(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.each_base(|metadata, class| {
            for implementation in metadata.interface_impls(class) {
                let interface = metadata.interface_impl_props(implementation?)?.interface;
                let interface = TypeToken::try_from(interface).map_err(Error::other)?;
                names.push(token_name(metadata, interface, Some(class))?);
            }
            Ok(())
        })?;
        Ok(names)
    }
}

impl<'info> MethodDefinition<'info> {
    /// Calls `each` with the declaring type and its base types, up to one whose assembly is not loaded.
    fn each_base(&self, mut each: impl FnMut(&Metadata<'_>, TypeDef) -> Result<()>) -> Result<()> {
        each(&self.metadata, self.props.class)?;
        let mut next = next_base(self.info, self.module, &self.metadata, self.props.class)?;
        for _ in 0..DEPTH_LIMIT {
            let Some((module, class)) = next else {
                break;
            };
            let metadata = self.info.module_metadata(module)?;
            each(&metadata, class)?;
            next = next_base(self.info, module, &metadata, class)?;
        }
        Ok(())
    }
}

/// The base type of a type, in terms of its module.
fn base_of(metadata: &Metadata<'_>, class: TypeDef) -> Result<Option<TypeToken>> {
    let base = metadata.type_def_props(class)?.extends;
    match base.is_nil() {
        true => Ok(None),
        false => TypeToken::try_from(base).map(Some).map_err(Error::other),
    }
}

/// The definition of the base type; `None` if there is none, or if its assembly is not loaded.
fn next_base(
    info: &ProfilerInfo,
    module: ModuleId,
    metadata: &Metadata<'_>,
    class: TypeDef,
) -> Result<Option<(ModuleId, TypeDef)>> {
    match base_of(metadata, class)? {
        Some(base) => definition(info, module, metadata, base),
        None => Ok(None),
    }
}

pub(crate) fn definition(
    info: &ProfilerInfo,
    module: ModuleId,
    metadata: &Metadata<'_>,
    class: TypeToken,
) -> Result<Option<(ModuleId, TypeDef)>> {
    match class {
        TypeToken::Def(class) => Ok(Some((module, class))),
        TypeToken::Ref(class) => referenced(info, metadata, class),
        TypeToken::Spec(class) => match metadata.generic_definition(class)? {
            Some(TypeToken::Spec(_)) | None => Ok(None),
            Some(class) => definition(info, module, metadata, class),
        },
    }
}

/// The definition of a type of another assembly, among the loaded modules.
fn referenced(
    info: &ProfilerInfo,
    metadata: &Metadata<'_>,
    class: TypeRef,
) -> Result<Option<(ModuleId, TypeDef)>> {
    let names = nested_names(metadata, class.into())?;
    // The root of all types has no base, and is in an assembly with many types.
    if names == ["System.Object"] {
        return Ok(None);
    }
    let mut outermost = class;
    let mut assembly = loop {
        let scope = metadata.type_ref_props(outermost)?.resolution_scope;
        if let Ok(assembly) = AssemblyRef::try_from(scope) {
            break metadata.assembly_ref_props(assembly)?.name;
        }
        match TypeRef::try_from(scope) {
            Ok(enclosing) if enclosing != outermost && !enclosing.is_nil() => outermost = enclosing,
            _ => return Ok(None),
        }
    };
    for _ in 0..DEPTH_LIMIT {
        let Some(module) = module_of(info, &assembly)? else {
            return Ok(None);
        };
        let home = info.module_metadata(module)?;
        if let Some(found) = find_type_def(&home, names.iter().map(String::as_str))? {
            return Ok(Some((module, found)));
        }
        // Forwarded to another assembly.
        let Some(name) = names.first() else {
            return Ok(None);
        };
        let exported = home.find_exported_type_by_name(name, None).optional()?;
        let Some(exported) = exported else {
            return Ok(None);
        };
        let implementation = home.exported_type_props(exported)?.implementation;
        let Ok(next) = AssemblyRef::try_from(implementation) else {
            return Ok(None);
        };
        assembly = home.assembly_ref_props(next)?.name;
    }
    Ok(None)
}

/// The loaded module of this assembly.
fn module_of(info: &ProfilerInfo, assembly: &str) -> Result<Option<ModuleId>> {
    for module in info.modules()? {
        let module = module?;
        let Ok(Some(of)) = info.module_info(module).map(|facts| facts.assembly) else {
            continue;
        };
        // One that is being unloaded does not matter.
        if info
            .assembly_info(of)
            .is_ok_and(|facts| facts.name.eq_ignore_ascii_case(assembly))
        {
            return Ok(Some(module));
        }
    }
    Ok(None)
}

/// For patterns. Errors are those of native calls, or of malformed metadata.
///
/// Arguments of generic types and methods are known as far as [`full_name`](Method::full_name) has them. Base types
/// are named as they are declared; those of types whose assemblies are not loaded are missing.
impl MethodFacts for Method<'_> {
    type Error = Error;

    fn assembly(&self) -> Result<Cow<'_, str>> {
        self.assembly_name().map(Cow::Owned)
    }

    fn type_path(&self) -> Result<Cow<'_, str>> {
        type_path(&self.metadata()?, self.declaring_type()?).map(Cow::Owned)
    }

    fn method_name(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.known_props()?.name))
    }

    fn access(&self) -> Result<MemberAccess> {
        Ok(self.known_props()?.attributes.access())
    }

    fn parameters(&self) -> Result<Vec<String>> {
        self.definition()?.parameters()
    }

    fn generic_parameters(&self, of: GenericOwner) -> Result<Vec<String>> {
        self.definition()?.generic_parameters(of)
    }

    fn generic_arguments(&self, of: GenericOwner) -> Result<Vec<String>> {
        let arguments = match of {
            GenericOwner::Type => self.type_arguments(),
            GenericOwner::Method => self.facts().type_arguments.clone(),
        };
        Ok(class_names(self.info(), &arguments, 0))
    }

    fn attributes(&self, of: AttributeOwner) -> Result<Vec<String>> {
        self.definition()?.attributes(of)
    }

    fn base_types(&self) -> Result<Vec<String>> {
        self.definition()?.base_types()
    }

    fn interfaces(&self) -> Result<Vec<String>> {
        self.definition()?.interfaces()
    }
}
