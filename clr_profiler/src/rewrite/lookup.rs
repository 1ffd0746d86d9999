//! [`Lookup`]: resolves the references of a module.
//!
//! The runtime does not tell which module a reference refers to. So the loaded modules are searched by the
//! name of their assembly, and forwarded types are followed. Types in modules that are not loaded yet are
//! unknown.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::store::store;
use crate::error::{Error, OptionalExt, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::metadata::{
    AssemblyRefProps, AssemblyVersion, Metadata, MetadataAssemblyImport, MetadataImport,
    find_type_def, own, type_def_name, type_ref_name,
};
use crate::runtime::{ProfilerInfo, lock};
use clr_profiler_il::attributes::MemberAttributes;
use clr_profiler_il::signature::{FieldSig, MethodSig, TypeNames, TypeSig, TypeSpecSig};
use clr_profiler_il::token::{AssemblyRef, Token, TypeDef, TypeRef, TypeToken};

/// The number of forwardings of a type, and of its ancestors, after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;
/// The number of types after which those found so far are forgotten.
const TYPES: usize = 4096;
/// The maximum number of members of the same name in an error.
const LISTED: usize = 5;

/// The modules of the loaded assemblies, by their names in lower case. `None` if several assemblies have the
/// same name.
#[derive(Default)]
pub(super) struct LoadedModules(RwLock<ModulesByName>);

#[derive(Default)]
pub(super) struct ModulesByName {
    modules: HashMap<String, Option<ModuleId>>,
    /// The number of modules that have been unloaded.
    unloads: u64,
    /// The types that were found: each module refers to the same ones.
    types: Mutex<HashMap<TypeName, FoundType>>,
}

/// The names of an assembly and of a type.
type TypeName = (String, String);

/// Where a type is defined.
#[derive(Clone)]
struct FoundType {
    module: ModuleId,
    class: TypeDef,
    /// The assemblies that forward it, from the one that was asked about on, and the one that defines it.
    homes: Arc<[String]>,
}

impl ModulesByName {
    /// The module of an assembly, if its name is unique.
    fn module(&self, assembly: &str) -> SearchResult<ModuleId> {
        let module = self.modules.get(&assembly.to_lowercase());
        module.copied().flatten().ok_or(NotFound::Unknown)
    }

    /// A type that was found before, if another search would find it.
    fn found(&self, name: &TypeName) -> Option<FoundType> {
        let found = lock(&self.types).get(name).cloned()?;
        let (last, others) = found.homes.split_last()?;
        let mut others = others.iter();
        // Another assembly may have got one of the names.
        let is_current = others.all(|home| self.module(home).is_ok())
            && self.module(last).is_ok_and(|module| module == found.module);
        is_current.then_some(found)
    }

    fn add_found(&self, name: TypeName, found: FoundType) {
        let mut types = lock(&self.types);
        if types.len() >= TYPES {
            types.clear();
        }
        types.insert(name, found);
    }
}

impl LoadedModules {
    fn read(&self) -> RwLockReadGuard<'_, ModulesByName> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ModulesByName> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a module that is being unloaded; waits until nobody reads its metadata.
    pub(super) fn forget(&self, module: ModuleId) {
        let mut known = self.write();
        known.unloads += 1;
        known.modules.retain(|_, known| *known != Some(module));
        // Another build may come in its place, which forwards other types.
        lock(&known.types).clear();
    }

    /// Gets the loaded modules from the runtime. `false` if modules are being unloaded meanwhile: the old
    /// state is kept.
    fn refresh(&self, info: &ProfilerInfo) -> Result<bool> {
        let unloads = self.read().unloads;
        let mut modules = HashMap::new();
        for module in info.modules()? {
            let module = module?;
            // Without the lock: a module that is unloaded meanwhile keeps its ID until its unloading has been
            // reported, which is counted.
            let Ok(name) = assembly_name(info, module) else {
                continue;
            };
            modules
                .entry(name.to_lowercase())
                .and_modify(|known| *known = None)
                .or_insert(Some(module));
        }
        let mut known = self.write();
        let is_steady = known.unloads == unloads;
        if is_steady {
            known.modules = modules;
        }
        Ok(is_steady)
    }
}

pub(super) fn assembly_name(info: &ProfilerInfo, module: ModuleId) -> Result<String> {
    let module = info.module_info(module)?;
    let missing = || Error::other("the module belongs to no assembly yet");
    let assembly = module.assembly.ok_or_else(missing)?;
    Ok(info.assembly_info(assembly)?.name)
}

/// The result of a search.
pub(super) type SearchResult<T> = std::result::Result<T, NotFound>;

/// Why a search has found nothing.
pub(super) enum NotFound {
    /// It does not exist; the text is the error.
    Missing(String),
    /// It may exist.
    Unknown,
}

/// After an error of the runtime, it may exist.
impl From<Error> for NotFound {
    fn from(_: Error) -> Self {
        Self::Unknown
    }
}

/// Searches the loaded modules for types and members.
///
/// Without this, only the JIT notices a reference that cannot be resolved, and the program gets the
/// exception.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    info: &'a ProfilerInfo,
    loaded: &'a LoadedModules,
}

/// A type and the module that defines it.
pub(super) struct TypeDefinition<'a> {
    pub(super) module: ModuleId,
    pub(super) metadata: Metadata<'a>,
    pub(super) class: TypeDef,
}

impl TypeDefinition<'_> {
    /// The name of the type; empty if it is not available.
    pub(super) fn name(&self) -> String {
        type_def_name(&self.metadata, self.class, &[]).unwrap_or_default()
    }

    /// The base type, in terms of the type's module.
    pub(super) fn base(&self) -> SearchResult<Option<TypeToken>> {
        let base = self.metadata.type_def_props(self.class)?.extends;
        match TypeToken::try_from(base) {
            _ if base.is_nil() => Ok(None),
            base => base.map(Some).map_err(|_| NotFound::Unknown),
        }
    }
}

impl<'a> Lookup<'a> {
    pub(super) fn info(self) -> &'a ProfilerInfo {
        self.info
    }

    pub(super) fn of(info: &'a ProfilerInfo) -> Self {
        let loaded = &store(info).loaded;
        Self { info, loaded }
    }

    /// Whether an assembly has a type with this name, or forwards it to an assembly that has.
    pub(super) fn find_type(self, assembly: &str, path: &str) -> SearchResult<()> {
        self.search(|known| self.type_named(known, assembly, path).map(|_| ()))
    }

    /// Whether an assembly of this name is loaded.
    pub(super) fn is_loaded(self, assembly: &str) -> bool {
        let name = assembly.to_lowercase();
        let search = |known: &ModulesByName| match known.modules.contains_key(&name) {
            true => Ok(()),
            false => Err(NotFound::Unknown),
        };
        self.search(search).is_ok()
    }

    /// The name of a type that a loaded assembly refers to, with the assembly of the reference; the token if
    /// the name is not available.
    pub(super) fn reference_of(self, assembly: &str, class: TypeRef) -> String {
        let found = self.search(|known| {
            let metadata = self.info.module_metadata(known.module(assembly)?)?;
            let (assembly, path) = assembly_and_path(&metadata, class)?;
            let AssemblyVersion {
                major,
                minor,
                build,
                revision,
                ..
            } = assembly.version;
            let name = assembly.name;
            Ok(format!("[{name} {major}.{minor}.{build}.{revision}]{path}"))
        });
        found.unwrap_or_else(|_| Token::from(class).to_string())
    }

    /// Why a type that a module refers to has no such member; `None` if it has, or if that is unknown.
    pub(super) fn missing_member(
        self,
        module: ModuleId,
        parent: TypeToken,
        name: &str,
        signature: &[u8],
    ) -> Option<String> {
        let found = self.search(|known| {
            let metadata = self.info.module_metadata(module)?;
            let wanted = signature_text(&metadata, signature).ok_or(NotFound::Unknown)?;
            let definition = self.definition_of(known, module, metadata, parent)?;
            self.member_named(known, definition, name, &wanted)
        });
        match found {
            Err(NotFound::Missing(problem)) => Some(problem),
            Ok(_) | Err(NotFound::Unknown) => None,
        }
    }

    /// Calls `look` with the definition of the type that a module names, and returns its result.
    pub(super) fn in_type<R>(
        self,
        module: ModuleId,
        name: TypeToken,
        look: impl Fn(&TypeDefinition<'a>) -> Option<R>,
    ) -> Option<R> {
        let found = self.search(|known| {
            let metadata = self.info.module_metadata(module)?;
            let definition = self.definition_of(known, module, metadata, name)?;
            Ok(look(&definition))
        });
        found.ok().flatten()
    }

    /// Searches the known modules; if nothing is found, searches again with the modules that are loaded now.
    pub(super) fn search<T>(
        self,
        search: impl Fn(&ModulesByName) -> SearchResult<T>,
    ) -> SearchResult<T> {
        let found = search(&self.loaded.read());
        if found.is_ok() {
            return found;
        }
        match self.loaded.refresh(self.info)? {
            true => search(&self.loaded.read()),
            false => Err(NotFound::Unknown),
        }
    }

    /// The type in an assembly, or the type to which the assembly forwards the name.
    fn type_named(
        self,
        known: &ModulesByName,
        assembly: &str,
        path: &str,
    ) -> SearchResult<TypeDefinition<'a>> {
        let name = (assembly.to_owned(), path.to_owned());
        if let Some(FoundType { module, class, .. }) = known.found(&name) {
            let metadata = self.info.module_metadata(module)?;
            return Ok(TypeDefinition {
                module,
                metadata,
                class,
            });
        }
        let (mut home, mut homes) = (assembly.to_owned(), Vec::new());
        for _ in 0..DEPTH_LIMIT {
            let module = known.module(&home)?;
            let metadata = self.info.module_metadata(module)?;
            homes.push(home.clone());
            if let Some(class) = find_type_def(&metadata, path.split('/'))? {
                let homes = homes.into();
                let found = FoundType {
                    module,
                    class,
                    homes,
                };
                known.add_found(name, found);
                return Ok(TypeDefinition {
                    module,
                    metadata,
                    class,
                });
            }
            home = forwarded(&metadata, path)?.ok_or_else(|| {
                let which = match home.eq_ignore_ascii_case(assembly) {
                    true => assembly.to_owned(),
                    false => format!("{home}, to which {assembly} forwards it,"),
                };
                NotFound::Missing(format!("the assembly {which} has no type {path}"))
            })?;
        }
        Err(NotFound::Unknown)
    }

    /// The definition of a type that a module names; of an instance, the generic type.
    pub(super) fn definition_of(
        self,
        known: &ModulesByName,
        module: ModuleId,
        metadata: Metadata<'a>,
        name: TypeToken,
    ) -> SearchResult<TypeDefinition<'a>> {
        match name {
            TypeToken::Def(class) => Ok(TypeDefinition {
                module,
                metadata,
                class,
            }),
            TypeToken::Ref(class) => {
                let (assembly, path) = assembly_and_path(&metadata, class)?;
                self.type_named(known, &assembly.name, &path)
            }
            TypeToken::Spec(token) => {
                let blob = metadata.type_spec_from_token(token)?;
                match TypeSpecSig::parse(&blob).map(|read| read.type_sig) {
                    Ok(TypeSig::GenericInstance { definition, .. }) => {
                        self.definition_of(known, module, metadata, definition)
                    }
                    // Arrays have members that are not in metadata.
                    _ => Err(NotFound::Unknown),
                }
            }
        }
    }

    /// The attributes of a member that a type has or inherits, with the type that declares it.
    pub(super) fn member_named(
        self,
        known: &ModulesByName,
        definition: TypeDefinition<'a>,
        name: &str,
        wanted: &str,
    ) -> SearchResult<(TypeDefinition<'a>, MemberAttributes)> {
        let class = definition.name();
        let mut others = Vec::new();
        let mut next = definition;
        for _ in 0..DEPTH_LIMIT {
            for (signature, attributes) in members(&next, name)? {
                if signature == wanted {
                    return Ok((next, attributes));
                }
                others.push(signature);
            }
            next = match next.base()? {
                None => break,
                // The members that are inherited from an instance are in terms of its arguments.
                Some(TypeToken::Spec(_)) => return Err(NotFound::Unknown),
                Some(base) => self.known_type(known, next, base)?,
            };
        }
        let mut problem = format!("{class} has no {name} with the signature `{wanted}`");
        if !others.is_empty() {
            others.truncate(LISTED);
            let _ = write!(problem, "; it has `{}`", others.join("`, `"));
        }
        Err(NotFound::Missing(problem))
    }

    /// The type that another type names; unknown if it is missing.
    pub(super) fn known_type(
        self,
        known: &ModulesByName,
        from: TypeDefinition<'a>,
        name: TypeToken,
    ) -> SearchResult<TypeDefinition<'a>> {
        let found = self.definition_of(known, from.module, from.metadata, name);
        found.map_err(|_| NotFound::Unknown)
    }
}

/// The outermost type of a type's path.
pub(super) fn outermost(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// The assembly to which a module forwards a type, if it does; nested types follow the outermost one.
fn forwarded(metadata: &Metadata<'_>, path: &str) -> SearchResult<Option<String>> {
    if let Some(own) = metadata.own(|own| own::forwarded(own, outermost(path))) {
        return Ok(own);
    }
    let exported = metadata.find_exported_type_by_name(outermost(path), None);
    let Some(exported) = exported.optional()? else {
        return Ok(None);
    };
    let implementation = metadata.exported_type_props(exported)?.implementation;
    // Otherwise it is in another file of the assembly.
    let assembly = AssemblyRef::try_from(implementation).map_err(|_| NotFound::Unknown)?;
    Ok(Some(metadata.assembly_ref_props(assembly)?.name))
}

/// The assembly of a type that a module refers to, and its name there.
fn assembly_and_path(
    metadata: &Metadata<'_>,
    class: TypeRef,
) -> SearchResult<(AssemblyRefProps, String)> {
    let mut path = String::new();
    let mut next = class;
    for _ in 0..DEPTH_LIMIT {
        let props = metadata.type_ref_props(next)?;
        if !path.is_empty() {
            path.insert(0, '/');
        }
        path.insert_str(0, &props.name);
        if let Ok(assembly) = AssemblyRef::try_from(props.resolution_scope) {
            return Ok((metadata.assembly_ref_props(assembly)?, path));
        }
        next = TypeRef::try_from(props.resolution_scope).map_err(|_| NotFound::Unknown)?;
    }
    Err(NotFound::Unknown)
}

/// The methods and fields of that name that a type declares: their signatures and attributes.
fn members(definition: &TypeDefinition<'_>, name: &str) -> Result<Vec<(String, MemberAttributes)>> {
    let TypeDefinition {
        metadata, class, ..
    } = definition;
    let found = match metadata.own(|own| own::members_with_name(own, *class, name)) {
        Some(own) => own,
        None => {
            let mut found = Vec::new();
            for member in metadata.members_with_name(*class, name)? {
                let props = metadata.member_props(member?)?;
                found.push((props.attributes, props.signature_blob));
            }
            found
        }
    };
    let found = found.into_iter();
    Ok(found
        .filter_map(|(attributes, blob)| Some((signature_text(metadata, &blob)?, attributes)))
        .collect())
}

/// The signature of a method or field in text, the same in each module.
pub(super) fn signature_text(metadata: &Metadata<'_>, blob: &[u8]) -> Option<String> {
    let names = Names(metadata);
    let text = match FieldSig::parse(blob) {
        Ok(field) => field.text(&names).to_string(),
        Err(_) => MethodSig::parse(blob).ok()?.text(&names).to_string(),
    };
    Some(text)
}

/// Names without the assemblies, because the same type can have several.
pub(super) struct Names<'a>(pub(super) &'a Metadata<'a>);

impl TypeNames for Names<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn Write) -> fmt::Result {
        let name = match token {
            TypeToken::Def(class) => type_def_name(self.0, class, &[]),
            TypeToken::Ref(class) => type_ref_name(self.0, class),
            TypeToken::Spec(_) => return write!(out, "{}", Token::from(token)),
        };
        match name {
            Ok(name) => out.write_str(&name),
            Err(_) => write!(out, "{}", Token::from(token)),
        }
    }
}
