//! [`Lookup`]: where references of a module lead.
//!
//! The runtime does not tell which module a reference means. So the modules that are loaded are searched
//! by the name of their assembly, and forwarded types are followed. What is in a module yet to be loaded
//! cannot be known.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::store::store;
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::metadata::{
    AssemblyRefProps, AssemblyVersion, MemberProps, Metadata, MetadataAssemblyImport,
    MetadataImportMembers, MetadataImportTypes, type_def_name, type_ref_name,
};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::{FieldSig, MethodSig, TypeNames, TypeSig, TypeSpecSig};
use clr_profiler_il::token::{AssemblyRef, ExportedType, Token, TypeDef, TypeRef, TypeToken};
use clr_profiler_sys as sys;

/// How often a type is forwarded, and how long a line of ancestors is, before hostile metadata is
/// suspected.
const DEPTH_LIMIT: usize = 64;
/// How many members of the same name an error lists.
const LISTED: usize = 5;

/// The modules of the assemblies that are loaded, by their names in lower case. `None` where several
/// assemblies have one name.
#[derive(Default)]
pub(super) struct LoadedModules(RwLock<Known>);

#[derive(Default)]
pub(super) struct Known {
    modules: HashMap<String, Option<ModuleId>>,
    /// How many modules have been unloaded.
    unloads: u64,
}

impl LoadedModules {
    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module is being unloaded: waits until nobody reads its metadata.
    pub(super) fn forget(&self, module: ModuleId) {
        let mut known = self.write();
        known.unloads += 1;
        known.modules.retain(|_, known| *known != Some(module));
    }

    /// Asks the runtime for the modules that are loaded now. `false` if modules are being unloaded
    /// meanwhile, which leaves what was known.
    fn refresh(&self, info: &ProfilerInfo) -> Result<bool> {
        let unloads = self.read().unloads;
        let mut modules = HashMap::new();
        for module in info.modules()? {
            let module = module?;
            // Without the lock: one that is unloaded meanwhile has its id until its unloading was
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

fn assembly_name(info: &ProfilerInfo, module: ModuleId) -> Result<String> {
    let module = info.module_info(module)?;
    let missing = || Error::other("the module belongs to no assembly yet");
    let assembly = module.assembly.ok_or_else(missing)?;
    Ok(info.assembly_info(assembly)?.name)
}

/// What has become of a search.
pub(super) enum Answer<T> {
    Found(T),
    /// It is not there; the text tells what is.
    Missing(String),
    /// It may be there.
    Unknown,
}

impl<T> Answer<T> {
    pub(super) fn map<R>(self, map: impl FnOnce(T) -> R) -> Answer<R> {
        match self {
            Self::Found(found) => Answer::Found(map(found)),
            Self::Missing(problem) => Answer::Missing(problem),
            Self::Unknown => Answer::Unknown,
        }
    }

    /// Why it is not there, if that is known.
    fn missing(self) -> Option<String> {
        match self {
            Self::Missing(problem) => Some(problem),
            Self::Found(_) | Self::Unknown => None,
        }
    }
}

/// Looks for types and members in the modules that are loaded.
///
/// A reference to nothing is noticed by the JIT alone, and the program gets the exception.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    info: &'a ProfilerInfo,
    loaded: &'a LoadedModules,
}

/// A type and the module that defines it.
pub(super) struct Place<'a> {
    pub(super) module: ModuleId,
    pub(super) metadata: Metadata<'a>,
    pub(super) class: TypeDef,
}

impl<'a> Lookup<'a> {
    pub(super) fn info(self) -> &'a ProfilerInfo {
        self.info
    }

    pub(super) fn of(info: &'a ProfilerInfo) -> Self {
        let loaded = &store(info).loaded;
        Self { info, loaded }
    }

    /// Whether an assembly has a type with this name, or forwards it to one that has.
    pub(super) fn find_type(self, assembly: &str, path: &str) -> Answer<()> {
        self.search(|known| self.type_named(known, assembly, path).map(|_| ()))
    }

    /// Whether an assembly of this name is loaded.
    pub(super) fn is_loaded(self, assembly: &str) -> bool {
        let name = assembly.to_lowercase();
        let search = |known: &Known| match known.modules.contains_key(&name) {
            true => Answer::Found(()),
            false => Answer::Unknown,
        };
        matches!(self.search(search), Answer::Found(()))
    }

    /// The name of a type that a loaded assembly refers to, with the assembly in which it looks for it;
    /// the token where that cannot be had.
    pub(super) fn reference_of(self, assembly: &str, class: TypeRef) -> String {
        let name = assembly.to_lowercase();
        let search = |known: &Known| {
            let module = known.modules.get(&name).copied().flatten();
            let named = module.and_then(|module| {
                let metadata = self.info.module_metadata(module).ok()?;
                let (assembly, path) = assembly_and_path(&metadata, class).ok()??;
                let AssemblyVersion {
                    major,
                    minor,
                    build,
                    revision,
                    ..
                } = assembly.version;
                let name = assembly.name;
                Some(format!("[{name} {major}.{minor}.{build}.{revision}]{path}"))
            });
            named.map_or(Answer::Unknown, Answer::Found)
        };
        match self.search(search) {
            Answer::Found(name) => name,
            Answer::Missing(_) | Answer::Unknown => Token::from(class).to_string(),
        }
    }

    /// Tells why a type that a module refers to has no such member, if that is so.
    pub(super) fn missing_member(
        self,
        module: ModuleId,
        parent: TypeToken,
        name: &str,
        signature: &[u8],
    ) -> Option<String> {
        let search = |known: &Known| {
            let Ok(metadata) = self.info.module_metadata(module) else {
                return Answer::Unknown;
            };
            let Some(wanted) = signature_text(&metadata, signature) else {
                return Answer::Unknown;
            };
            match self.type_behind(known, module, metadata, parent) {
                Answer::Found(place) => self.member_named(known, place, name, &wanted),
                Answer::Missing(problem) => Answer::Missing(problem),
                Answer::Unknown => Answer::Unknown,
            }
        };
        self.search(search).missing()
    }

    /// What `look` sees in the type that a module names, in the module that defines it.
    pub(super) fn in_type<R>(
        self,
        module: ModuleId,
        name: TypeToken,
        look: impl Fn(&Metadata<'_>, TypeDef) -> Option<R>,
    ) -> Option<R> {
        let search = |known: &Known| {
            let Ok(metadata) = self.info.module_metadata(module) else {
                return Answer::Unknown;
            };
            match self.type_behind(known, module, metadata, name) {
                Answer::Found(place) => {
                    look(&place.metadata, place.class).map_or(Answer::Unknown, Answer::Found)
                }
                Answer::Missing(_) | Answer::Unknown => Answer::Unknown,
            }
        };
        match self.search(search) {
            Answer::Found(seen) => Some(seen),
            Answer::Missing(_) | Answer::Unknown => None,
        }
    }

    /// Searches the modules that are known; and again among those that are loaded now, before
    /// anything is called missing.
    pub(super) fn search<T>(self, search: impl Fn(&Known) -> Answer<T>) -> Answer<T> {
        let found = search(&self.loaded.read());
        if let Answer::Found(_) = found {
            return found;
        }
        match self.loaded.refresh(self.info) {
            Ok(true) => search(&self.loaded.read()),
            Ok(false) | Err(_) => Answer::Unknown,
        }
    }

    /// The type of an assembly, or that to which the assembly forwards the name.
    fn type_named(self, known: &Known, assembly: &str, path: &str) -> Answer<Place<'a>> {
        let mut home = assembly.to_owned();
        for _ in 0..DEPTH_LIMIT {
            let Some(Some(module)) = known.modules.get(&home.to_lowercase()) else {
                return Answer::Unknown;
            };
            let Ok(metadata) = self.info.module_metadata(*module) else {
                return Answer::Unknown;
            };
            match type_path(&metadata, path) {
                Answer::Found(class) => {
                    let module = *module;
                    return Answer::Found(Place {
                        module,
                        metadata,
                        class,
                    });
                }
                Answer::Missing(_) => {}
                Answer::Unknown => return Answer::Unknown,
            }
            home = match forwarded(&metadata, path) {
                Answer::Found(next) => next,
                Answer::Missing(_) if home.eq_ignore_ascii_case(assembly) => {
                    return Answer::Missing(format!("the assembly {assembly} has no type {path}"));
                }
                Answer::Missing(_) => {
                    return Answer::Missing(format!(
                        "the assembly {home}, to which {assembly} forwards it, has no type {path}"
                    ));
                }
                Answer::Unknown => return Answer::Unknown,
            };
        }
        Answer::Unknown
    }

    /// The definition of a type that a module names; of an instance, the generic type.
    pub(super) fn type_behind(
        self,
        known: &Known,
        module: ModuleId,
        metadata: Metadata<'a>,
        name: TypeToken,
    ) -> Answer<Place<'a>> {
        let class = match name {
            TypeToken::Def(class) => {
                return Answer::Found(Place {
                    module,
                    metadata,
                    class,
                });
            }
            TypeToken::Ref(class) => class,
            TypeToken::Spec(token) => {
                let blob = metadata.type_spec_from_token(token);
                let read = blob.ok().and_then(|blob| TypeSpecSig::parse(&blob).ok());
                return match read.map(|read| read.type_sig) {
                    Some(TypeSig::GenericInstance { definition, .. }) => {
                        self.type_behind(known, module, metadata, definition)
                    }
                    // Arrays have members that no metadata list.
                    _ => Answer::Unknown,
                };
            }
        };
        match assembly_and_path(&metadata, class) {
            Ok(Some((assembly, path))) => self.type_named(known, &assembly.name, &path),
            Ok(None) | Err(_) => Answer::Unknown,
        }
    }

    /// A member that a type has or inherits, with the type that has it.
    pub(super) fn member_named(
        self,
        known: &Known,
        place: Place<'a>,
        name: &str,
        wanted: &str,
    ) -> Answer<(Place<'a>, MemberProps)> {
        let class = type_def_name(&place.metadata, place.class, &[]).unwrap_or_default();
        let mut others = Vec::new();
        let mut next = place;
        for _ in 0..DEPTH_LIMIT {
            let Ok(found) = members(&next, name) else {
                return Answer::Unknown;
            };
            for (signature, props) in found {
                if signature == wanted {
                    return Answer::Found((next, props));
                }
                others.push(signature);
            }
            let Place {
                module,
                metadata,
                class,
            } = next;
            let base = match metadata.type_def_props(class) {
                Ok(props) => props.extends,
                Err(_) => return Answer::Unknown,
            };
            next = match TypeToken::try_from(base) {
                _ if base.is_nil() => break,
                // What is inherited from an instance is in terms of its arguments.
                Err(_) | Ok(TypeToken::Spec(_)) => return Answer::Unknown,
                Ok(base) => match self.type_behind(known, module, metadata, base) {
                    Answer::Found(place) => place,
                    _ => return Answer::Unknown,
                },
            };
        }
        let mut problem = format!("{class} has no {name} with the signature `{wanted}`");
        if !others.is_empty() {
            others.truncate(LISTED);
            let _ = write!(problem, "; it has `{}`", others.join("`, `"));
        }
        Answer::Missing(problem)
    }
}

fn is_not_found(error: &Error) -> bool {
    error.hresult().0 == sys::CLDB_E_RECORD_NOTFOUND.0
}

/// A type of the module, by the names of those around it and its own.
fn type_path(metadata: &Metadata<'_>, path: &str) -> Answer<TypeDef> {
    let mut class = None;
    for part in path.split('/') {
        match metadata.find_type_def_by_name(part, class) {
            Ok(found) => class = Some(found),
            Err(error) if is_not_found(&error) => return Answer::Missing(String::new()),
            Err(_) => return Answer::Unknown,
        }
    }
    class.map_or(Answer::Unknown, Answer::Found)
}

/// The type that is in no other one, of a type by the names of those around it and its own.
pub(super) fn outermost(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// The assembly to which a module forwards a type; nested ones go where the outermost goes.
fn forwarded(metadata: &Metadata<'_>, path: &str) -> Answer<String> {
    let exported: ExportedType = match metadata.find_exported_type_by_name(outermost(path), None) {
        Ok(exported) => exported,
        Err(error) if is_not_found(&error) => return Answer::Missing(String::new()),
        Err(_) => return Answer::Unknown,
    };
    let implementation = metadata.exported_type_props(exported);
    let assembly = implementation.map(|props| AssemblyRef::try_from(props.implementation));
    match assembly {
        Ok(Ok(assembly)) => match metadata.assembly_ref_props(assembly) {
            Ok(props) => Answer::Found(props.name),
            Err(_) => Answer::Unknown,
        },
        // In another file of the assembly.
        _ => Answer::Unknown,
    }
}

/// The assembly of a type that a module refers to, and its name there.
fn assembly_and_path(
    metadata: &Metadata<'_>,
    class: TypeRef,
) -> Result<Option<(AssemblyRefProps, String)>> {
    let mut path = String::new();
    let mut next = class;
    for _ in 0..DEPTH_LIMIT {
        let props = metadata.type_ref_props(next)?;
        if !path.is_empty() {
            path.insert(0, '/');
        }
        path.insert_str(0, &props.name);
        if let Ok(assembly) = AssemblyRef::try_from(props.resolution_scope) {
            return Ok(Some((metadata.assembly_ref_props(assembly)?, path)));
        }
        match TypeRef::try_from(props.resolution_scope) {
            Ok(outer) => next = outer,
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// A type's own methods and fields of that name, with their signatures.
fn members(place: &Place<'_>, name: &str) -> Result<Vec<(String, MemberProps)>> {
    let Place {
        metadata, class, ..
    } = place;
    let mut found = Vec::new();
    for member in metadata.members_with_name(*class, name)? {
        let props = metadata.member_props(member?)?;
        found.extend(signature_text(metadata, &props.signature_blob).map(|text| (text, props)));
    }
    Ok(found)
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

/// Names without the assemblies, which the same type has several of.
struct Names<'a>(&'a Metadata<'a>);

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
