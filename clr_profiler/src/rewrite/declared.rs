//! Methods that inserted code will call, looked up in the files of their assemblies before any code is inserted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use super::helper::{Declared, FoundMethods, find_methods, signature_text};
use super::lookup::assembly_name;
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::runtime::ProfilerInfo;
use clr_metadata::rows::{AssemblyRefRow, ExportedTypeRow};
use clr_metadata::{Assembly, Bundle, Metadata};
use clr_profiler_il::core_library;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::{AssemblyRef, Token, TypeDef, TypeToken};

/// The number of forwardings of a type after which hostile metadata is suspected.
const FORWARDS_LIMIT: usize = 16;

/// The methods among these that do not exist, with the reasons. A method is looked up in the file of its assembly: of a loaded
/// module, next to the core library or the module that will call it, or in the bundle of the application. Where there is no file, it
/// may exist.
pub(crate) fn missing_methods(
    info: &ProfilerInfo,
    module: ModuleId,
    methods: &[MethodSymbol],
) -> Result<Vec<String>> {
    let mut files = Files::of(info, module)?;
    let missing = methods.iter().filter_map(|method| {
        let problem = files.problem(method)?;
        Some(format!("{method}: {problem}"))
    });
    Ok(missing.collect())
}

/// A method as a file declares it: the types of its parameters in text, without assemblies, and their names.
pub(crate) struct DeclaredMethod {
    pub(crate) types: Vec<String>,
    pub(crate) names: Vec<Option<String>>,
}

/// The methods of this name that the file of a type's assembly declares; none if there is no file. `class` has `/` before nested
/// types.
pub(crate) fn methods_in_file(
    info: &ProfilerInfo,
    module: ModuleId,
    assembly: &str,
    class: &str,
    name: &str,
) -> Result<Vec<DeclaredMethod>> {
    let mut files = Files::of(info, module)?;
    let mut assembly = assembly.to_owned();
    for _ in 0..FORWARDS_LIMIT {
        let Some(file) = files.file(&assembly) else {
            break;
        };
        let file = Assembly::parse(file).map_err(Error::other)?;
        if let Some(class) = file.metadata.find_type(class) {
            return declared_methods(&file.metadata, class, name).map_err(Error::other);
        }
        match forward(&file.metadata, class) {
            Some(next) => assembly = next,
            None => break,
        }
    }
    Ok(Vec::new())
}

fn declared_methods(
    metadata: &Metadata<'_>,
    class: TypeDef,
    name: &str,
) -> Result<Vec<DeclaredMethod>, clr_metadata::Error> {
    let mut found = Vec::new();
    for method in metadata.methods(class) {
        if metadata.member_name(method)? != name {
            continue;
        }
        let signature = metadata.method_signature(method)?;
        let types = signature.params.iter();
        let mut names = vec![None; signature.params.len()];
        for param in metadata.params(method) {
            let row = metadata.row(param)?;
            let index = usize::from(row.sequence).checked_sub(1);
            if let Some(name) = index.and_then(|index| names.get_mut(index)) {
                *name = Some(metadata.string(row.name)?.to_owned());
            }
        }
        found.push(DeclaredMethod {
            types: types
                .map(|one| one.text(&Declared(metadata)).to_string())
                .collect(),
            names,
        });
    }
    Ok(found)
}

/// The mistake in the signature of a method.
pub(crate) fn mistake(method: &MethodSymbol) -> Option<Error> {
    signature_text(method).err()
}

/// The files of assemblies by their names in lower case.
pub(super) struct Files {
    /// The name of the runtime's core library.
    core_library: &'static str,
    loaded: HashMap<String, PathBuf>,
    folders: Vec<PathBuf>,
    read: HashMap<String, Option<Vec<u8>>>,
    /// The program's own file, which may be a bundle.
    application: Option<Vec<u8>>,
}

impl Files {
    pub(super) fn of(info: &ProfilerInfo, module: ModuleId) -> Result<Self> {
        let mut loaded = HashMap::new();
        for module in info.modules()? {
            let module = module?;
            // One that is being loaded, or unloaded, has no name.
            if let (Ok(name), Ok(of)) = (assembly_name(info, module), info.module_info(module)) {
                loaded.insert(name.to_lowercase(), PathBuf::from(of.name));
            }
        }
        let own = PathBuf::from(info.module_info(module)?.name);
        let core_library = info.core_library();
        let core = loaded.get(&core_library.to_lowercase());
        let folders = core.into_iter().chain([&own]);
        let folders = folders.filter_map(|file| Some(file.parent()?.to_owned()));
        Ok(Self {
            core_library,
            folders: folders.collect(),
            loaded,
            read: HashMap::new(),
            application: None,
        })
    }

    fn file(&mut self, assembly: &str) -> Option<&[u8]> {
        let key = assembly.to_lowercase();
        if !self.read.contains_key(&key) {
            let file = self.on_disk(&key, assembly);
            let file = file.or_else(|| self.in_bundle(assembly));
            self.read.insert(key.clone(), file);
        }
        self.read.get(&key)?.as_deref()
    }

    fn on_disk(&self, key: &str, assembly: &str) -> Option<Vec<u8>> {
        let folders = self.folders.iter();
        let near = folders.map(|folder| folder.join(format!("{assembly}.dll")));
        let paths = self.loaded.get(key).cloned().into_iter().chain(near);
        // The name of a module without a file may be any text.
        let mut paths = paths.filter(|path| path.is_absolute());
        paths.find_map(|path| std::fs::read(path).ok())
    }

    /// A file of a single-file application, whose core library is none.
    fn in_bundle(&mut self, assembly: &str) -> Option<Vec<u8>> {
        let core = self.loaded.get(&self.core_library.to_lowercase())?;
        if core.is_file() {
            return None;
        }
        let application = self.application.get_or_insert_with(|| {
            let path = std::env::current_exe().ok();
            path.and_then(|path| std::fs::read(path).ok())
                .unwrap_or_default()
        });
        let bundle = Bundle::find(application).ok()?;
        let name = format!("{assembly}.dll");
        let is_named = |path: &str| {
            let file = path.rsplit(['/', '\\']).next();
            file.is_some_and(|file| file.eq_ignore_ascii_case(&name))
        };
        let mut files = bundle.files().flatten();
        let file = files.find(|file| is_named(file.path))?;
        Some(file.contents().ok()?.into_owned())
    }

    /// Passes a type to `look`, with the file and the name of the assembly that defines it.
    pub(super) fn find_type<R>(
        &mut self,
        assembly: &str,
        class: &str,
        look: impl Fn(&Assembly<'_>, TypeDef, &str) -> R,
    ) -> Option<R> {
        let core = self.core_library;
        let mut assembly = match assembly {
            core_library::ALIAS => core.to_owned(),
            named => named.to_owned(),
        };
        for _ in 0..FORWARDS_LIMIT {
            let file = Assembly::parse(self.file(&assembly)?).ok()?;
            if let Some(found) = file.metadata.find_type(class) {
                return Some(look(&file, found, &assembly));
            }
            assembly = match forward(&file.metadata, class) {
                Some(next) => next,
                None if core_library::has_name(&assembly) && assembly != core => core.to_owned(),
                None => return None,
            };
        }
        None
    }

    /// Why a method does not exist; `None` if it does, or if that is unknown.
    fn problem(&mut self, method: &MethodSymbol) -> Option<String> {
        let (assembly, class) = method.owner.name.strip_prefix('[')?.split_once(']')?;
        // An instance of a generic type.
        if class.contains('<') {
            return None;
        }
        let core = self.core_library;
        let mut assembly = match assembly {
            core_library::ALIAS => Cow::Borrowed(core),
            named => Cow::Borrowed(named),
        };
        for _ in 0..FORWARDS_LIMIT {
            let file = Assembly::parse(self.file(&assembly)?).ok()?;
            if let Some(problem) = in_file(&file.metadata, class, method) {
                return problem.map(|problem| format!("{problem} in {assembly}"));
            }
            match forward(&file.metadata, class) {
                Some(next) => assembly = Cow::Owned(next),
                // A type that is newer than the facade is found in the assembly that defines it.
                None if core_library::has_name(&assembly) && assembly != core => {
                    assembly = Cow::Borrowed(core);
                }
                None => return Some(format!("there is no type {class} in {assembly}")),
            }
        }
        None
    }
}

/// The result of a search in the assembly that defines the type; `None` if this one does not.
fn in_file(metadata: &Metadata<'_>, class: &str, method: &MethodSymbol) -> Option<Option<String>> {
    let found = metadata.find_type(class)?;
    let Ok(wanted) = signature_text(method) else {
        return Some(None);
    };
    let problem = match find_methods(metadata, found, &method.name, &wanted) {
        Ok(FoundMethods::One) | Err(_) => None,
        Ok(FoundMethods::Others(others)) => {
            let declares_all = metadata
                .row(found)
                .is_ok_and(|row| row.extends.is_nil() || is_root(metadata, row.extends));
            match (declares_all, others.is_empty()) {
                // It may be inherited.
                (false, _) => None,
                (true, true) => Some(format!("there is no method {} of {class}", method.name)),
                (true, false) => Some(format!(
                    "the method {} of {class} is not `{wanted}` but {}",
                    method.name,
                    others.join(" or ")
                )),
            }
        }
    };
    Some(problem)
}

fn is_root(metadata: &Metadata<'_>, base: TypeToken) -> bool {
    let name = metadata.full_name(base);
    name.is_ok_and(|name| ["System.Object", "System.ValueType", "System.Enum"].contains(&&*name))
}

/// The assembly to which a type is forwarded.
fn forward(metadata: &Metadata<'_>, class: &str) -> Option<String> {
    let outermost = class.split('/').next()?;
    let (namespace, name) = outermost.rsplit_once('.').unwrap_or(("", outermost));
    let mut rows = metadata
        .rows::<ExportedTypeRow>()
        .filter_map(|row| row.ok());
    let row = rows.find(|row| {
        metadata.string(row.name).is_ok_and(|it| it == name)
            && metadata
                .string(row.namespace)
                .is_ok_and(|it| it == namespace)
    })?;
    let to = AssemblyRef::try_from(Token::from(row.implementation)).ok()?;
    let reference: AssemblyRefRow = metadata.row(to).ok()?;
    Some(metadata.string(reference.name).ok()?.to_owned())
}
