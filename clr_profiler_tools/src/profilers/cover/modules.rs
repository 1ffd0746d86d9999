//! The covered modules of the program.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use clr_metadata::Bundle;
use clr_metadata::token::{HashTokens, MethodDef};
use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::info::ModuleInfo;
use clr_profiler::instrumentation::MethodOutcome;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

use crate::coverage::{
    Code, ContextHits, HitsLayout, MethodProbes, ModuleFiles, ProbeKind, path_in_bundle,
    read_in_bundle,
};
use crate::report::{Session, Settings, lock};

use super::mapping::{Mapping, ReadFiles, running_bundle};
use super::vanish::{Vanishing, take_out};

/// How many names of files are tried: those of an ended process with the same number may be there.
const NAMES: u32 = 10_000;

/// A module with a file of hits.
struct Module {
    /// The number in the name of the file.
    number: u32,
    mapping: Mapping,
    kind: ProbeKind,
    files: ReadFiles,
    methods_of_file: MethodsOfFile,
    /// Those that have got probes.
    methods: RwLock<HashMap<MethodDef, Arc<Method>, HashTokens>>,
    /// The number of probes of all of them.
    used: AtomicU32,
}

/// The methods of a file of hits.
enum MethodsOfFile {
    /// All of the module from this row on: of one that is not covered nothing is known until it is compiled.
    From(u32),
    /// The covered ones, by their numbers.
    Chosen(HashMap<MethodDef, usize, HashTokens>),
}

impl MethodsOfFile {
    /// The number of a method.
    fn index(&self, method: MethodDef) -> Option<usize> {
        match self {
            Self::From(first) => method.row().checked_sub(*first).map(|index| index as usize),
            Self::Chosen(indexes) => indexes.get(&method).copied(),
        }
    }
}

thread_local! {
    /// The memory of the last method's code: a thread rewrites many.
    static CODE: Cell<Option<Box<Code>>> = const { Cell::new(None) };
}

struct Method {
    first: u32,
    probes: MethodProbes,
    /// Whether a tier of it was compiled, and the number of its probes that have vanished.
    tiers: Mutex<Tiers>,
}

#[derive(Default)]
struct Tiers {
    is_compiled: bool,
    vanished: usize,
}

impl Module {
    /// A method that has got probes.
    fn method(&self, method: MethodDef) -> Option<Arc<Method>> {
        let methods = self.methods.read().unwrap_or_else(PoisonError::into_inner);
        methods.get(&method).cloned()
    }

    /// A covered method, which gets its probes if it has none yet. `None` if it needs none. `code` is its code
    /// without edits.
    fn method_with_probes(&self, method: MethodDef, code: &Code) -> Result<Option<Arc<Method>>> {
        let Some(index) = self.methods_of_file.index(method) else {
            return Ok(None);
        };
        if let Some(of) = self.method(method) {
            return Ok(Some(of));
        }
        // It is covered: it was chosen.
        let probes = self.files.module().probes_of_code(method, code);
        let probes = probes.map_err(Error::other)?;
        let mut methods = self.methods.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if let Some(of) = methods.get(&method) {
            return Ok(Some(Arc::clone(of)));
        }
        let first = self.used.load(Ordering::Relaxed);
        let count = probes.probes.len() as u32;
        let space = self.mapping.probes.len() / self.kind.size();
        let end = first.checked_add(count);
        let end = end.filter(|end| *end as usize <= space);
        let Some(end) = end else {
            return Err(Error::other("there is no space for its probes"));
        };
        self.used.store(end, Ordering::Relaxed);
        self.mapping.give(index, first, count);
        let tiers = Mutex::default();
        let of = Arc::new(Method {
            first,
            probes,
            tiers,
        });
        methods.insert(method, Arc::clone(&of));
        Ok(Some(of))
    }

    /// The bytes of the probes that methods have got.
    fn probes(&self) -> &'static [AtomicU8] {
        let used = self.used.load(Ordering::Relaxed) as usize * self.kind.size();
        self.mapping.probes.get(..used).unwrap_or_default()
    }

    /// The number of probes of a method that were hit.
    fn hits_of(&self, of: &Method) -> usize {
        let first = of.first as usize * self.kind.size();
        let size = of.probes.probes.len() * self.kind.size();
        let probes = self.mapping.probes.get(first..first + size);
        let hit = |byte: &&AtomicU8| byte.load(Ordering::Relaxed) != 0;
        probes.map_or(0, |probes| probes.iter().filter(hit).count())
    }

    /// How the hit probes of a method vanish, which is compiled, or with `is_copied` copied into another one; `None` if they stay.
    fn vanishing(&self, method: MethodDef, is_copied: bool) -> Option<Vanishing> {
        let methods = self.methods.read().unwrap_or_else(PoisonError::into_inner);
        let of = methods.get(&method)?;
        let mut tiers = lock(&of.tiers);
        let is_first = !tiers.is_compiled && !is_copied;
        tiers.is_compiled |= !is_copied;
        if is_first {
            return None;
        }
        let hits = self.hits_of(of);
        let is_complete = hits == of.probes.probes.len();
        // Copies are made often: only a change that is final is worth the work.
        if hits <= tiers.vanished || is_copied && !is_complete {
            return None;
        }
        tiers.vanished = hits;
        Some(match is_complete && !of.probes.has_loops {
            true => Vanishing::Removed,
            false => Vanishing::Nops,
        })
    }

    /// Whether this is the address of a probe that was hit.
    fn is_hit(&self, address: usize) -> bool {
        let offset = address.checked_sub(self.mapping.address(0));
        let probe = offset.and_then(|offset| self.mapping.probes.get(offset));
        probe.is_some_and(|probe| probe.load(Ordering::Relaxed) != 0)
    }
}

/// The modules with files of hits.
pub(super) struct Modules {
    settings: Settings,
    folder: PathBuf,
    kind: ProbeKind,
    /// Those of the user, which select modules without PDBs by their names.
    patterns: Option<Arc<MethodPatterns>>,
    files: AtomicU32,
    /// All modules, also those that are unloaded, if contexts are told apart.
    of_contexts: Option<Mutex<Vec<Arc<Module>>>>,
    /// Each compilation and each inlining reads them.
    modules: RwLock<HashMap<ModuleId, Arc<Module>>>,
}

impl Modules {
    pub(super) fn new(
        settings: &Settings,
        folder: PathBuf,
        kind: ProbeKind,
        patterns: Option<Arc<MethodPatterns>>,
        has_contexts: bool,
    ) -> Self {
        Self {
            settings: settings.clone(),
            folder,
            kind,
            patterns,
            files: AtomicU32::new(0),
            of_contexts: has_contexts.then(Mutex::default),
            modules: RwLock::default(),
        }
    }

    /// The methods of a module that get probes: those with lines. Makes the file of their hits.
    pub(super) fn choose(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        selected: &[MethodDef],
    ) -> Result<Vec<MethodDef>> {
        let chosen = self.open_or_say(info, module, |covered| chosen(covered, selected))?;
        Ok(chosen.unwrap_or_default())
    }

    /// Makes the file of hits of a module whose methods are all selected. Returns whether it is covered.
    pub(super) fn choose_all(&self, info: &ProfilerInfo, module: ModuleId) -> Result<bool> {
        let opened = self.open_or_say(info, module, |files| {
            let is_left_out = files.module_for_few()?.is_left_out();
            Ok(is_left_out.then(Vec::new))
        })?;
        Ok(opened.is_some())
    }

    /// Whether a method of such a module gets probes. The report leaves some of them out.
    pub(super) fn covers(&self, module: ModuleId, method: MethodDef) -> Result<bool> {
        let Some(module) = self.module(module) else {
            return Ok(false);
        };
        let covers = module.files.module().may_cover(method);
        covers.map_err(Error::other)
    }

    fn open_or_say(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        choose: impl FnOnce(&ModuleFiles) -> clr_metadata::Result<Option<Vec<MethodDef>>>,
    ) -> Result<Option<Vec<MethodDef>>> {
        let facts = info.module_info(module)?;
        let opened = self.open(info, module, &facts, choose);
        opened.or_else(|problem| {
            let path = &facts.name;
            Session::say(
                &self.settings,
                format_args!("`{path}` is not covered: {problem}"),
            );
            Ok(None)
        })
    }

    /// Makes the file of hits of the methods that `choose` returns, all if that is `None`. Returns `None` if there are none.
    fn open(
        &self,
        info: &ProfilerInfo,
        id: ModuleId,
        facts: &ModuleInfo,
        choose: impl FnOnce(&ModuleFiles) -> clr_metadata::Result<Option<Vec<MethodDef>>>,
    ) -> Result<Option<Vec<MethodDef>>, String> {
        let loaded = info.module_metadata(id);
        let loaded = loaded.and_then(|loaded| loaded.scope_props());
        let loaded = loaded.map_err(|error| error.to_string())?;
        let loaded = loaded.mvid.to_bytes_le();
        let is_loaded = |files: &ModuleFiles| {
            let mvid = files.mvid();
            mvid.is_ok_and(|mvid| mvid == loaded)
        };
        let name = facts.assembly.and_then(|of| info.assembly_info(of).ok());
        let name = name.map(|of| of.name).unwrap_or_default();
        let patterns = self.patterns.as_ref();
        let is_named = patterns.is_some_and(|patterns| patterns.names_assembly(&name));
        let (path, files) = match read(facts.name.as_ref(), !is_named, &is_loaded) {
            Ok(Some(read)) => read,
            // Without a PDB, or from memory, of which nothing is known.
            Ok(None) => return Ok(None),
            Err(_) if !is_named => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(reason) = files.without_pdb() {
            let path = path.display();
            Session::say(
                &self.settings,
                format_args!("`{path}` is covered by IL blocks instead of lines: {reason}"),
            );
        }
        let words = |error: clr_metadata::Error| error.to_string();
        if !is_loaded(&files) {
            return Err("the file is another build than the loaded module".to_owned());
        }
        let chosen = choose(&files).map_err(words)?;
        let (methods, capacity) = files.space(chosen.as_deref()).map_err(words)?;
        let Some(first) = methods.first().copied() else {
            return Ok(None);
        };
        let layout = HitsLayout {
            kind: self.kind,
            mvid: loaded,
            process: std::process::id(),
            path,
            methods,
            capacity,
        };
        let create = |path: &Path| Mapping::create(path, &layout);
        let created = self.create_file("hits", create);
        let (number, mapping) = created.map_err(|error| error.to_string())?;
        let module = Arc::new(Module {
            number,
            mapping,
            kind: self.kind,
            files: ReadFiles::new(files).map_err(words)?,
            methods_of_file: match chosen {
                Some(_) => MethodsOfFile::Chosen(layout.methods.iter().copied().zip(0..).collect()),
                None => MethodsOfFile::From(first.row()),
            },
            methods: RwLock::default(),
            used: AtomicU32::new(0),
        });
        if let Some(of_contexts) = &self.of_contexts {
            lock(of_contexts).push(Arc::clone(&module));
        }
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.insert(id, module);
        Ok(Some(layout.methods))
    }

    /// Creates a file with a name that is free: its number, and the result of `create`.
    pub(super) fn create_file<T>(
        &self,
        ending: &str,
        create: impl Fn(&Path) -> std::io::Result<T>,
    ) -> std::io::Result<(u32, T)> {
        loop {
            let number = self.files.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}.{ending}", std::process::id());
            match create(&self.folder.join(name)) {
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && number < NAMES => {}
                created => return created.map(|created| (number, created)),
            }
        }
    }

    /// The probes that were hit, by the numbers of files.
    pub(super) fn hits(&self) -> ContextHits {
        let modules = self.of_contexts.as_ref().map(lock);
        let modules = modules.iter().flat_map(|modules| modules.iter());
        let of_modules = modules.map(|module| {
            let probes = (0..).zip(module.probes());
            let hit = probes.filter(|(_, byte)| byte.load(Ordering::Relaxed) != 0);
            let hit: Vec<u32> = hit.map(|(probe, _)| probe).collect();
            (module.number, hit)
        });
        of_modules.filter(|(_, hit)| !hit.is_empty()).collect()
    }

    /// Clears these probes.
    pub(super) fn clear(&self, hits: &[(u32, Vec<u32>)]) {
        let modules = self.of_contexts.as_ref().map(lock);
        for module in modules.iter().flat_map(|modules| modules.iter()) {
            let hit = hits.iter().filter(|(number, _)| *number == module.number);
            for probe in hit.flat_map(|(_, probes)| probes) {
                if let Some(byte) = module.mapping.probes.get(*probe as usize) {
                    byte.store(0, Ordering::Relaxed);
                }
            }
        }
    }

    fn module(&self, module: ModuleId) -> Option<Arc<Module>> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        modules.get(&module).cloned()
    }

    /// Gives a method its probes.
    pub(super) fn insert(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        let Some(module) = self.module(cx.module()) else {
            return Ok(());
        };
        // A thread that is about to end keeps nothing.
        let kept = CODE.try_with(Cell::take).ok().flatten();
        let mut code = kept.unwrap_or_default();
        code.read(body);
        let of = module.method_with_probes(cx.token(), &code);
        if code.is_small() {
            let _ = CODE.try_with(|kept| kept.set(Some(code)));
        }
        let Some(of) = of? else {
            return Ok(());
        };
        // Without a PDB no lines depend on offsets, and the runtime takes longer for each map the more methods have one.
        cx.map_offsets(module.files.module().pdb().is_some());
        let write = |probe, code: &mut Fragment| {
            let offset = (of.first + probe) as usize * module.kind.size();
            write(module.kind, module.mapping.address(offset), code);
        };
        of.probes.insert(body, write).map_err(Error::other)
    }

    /// A method is compiled, or with `is_copied` copied into another one: the next tier, and later copies, go without the
    /// probes that were hit.
    pub(super) fn compiles(
        &self,
        info: &ProfilerInfo,
        (id, method): (ModuleId, MethodDef),
        is_copied: bool,
    ) -> Result<()> {
        // The runtime is not called with the lock.
        let found = {
            let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
            let module = modules.get(&id);
            module
                .and_then(|module| Some((Arc::clone(module), module.vanishing(method, is_copied)?)))
        };
        let Some((module, how)) = found else {
            return Ok(());
        };
        let rewritten = info.rewrite_method_again(id, method, |body, _| {
            take_out(body, how, |address| module.is_hit(address)).map_err(Error::other)
        });
        rewritten.map(drop)
    }

    /// Records a method that could not be given probes, so that it does not count as one that was not run.
    pub(super) fn refused(&self, outcome: &MethodOutcome) {
        if let Some(module) = self.module(outcome.module)
            && let Some(index) = module.methods_of_file.index(outcome.method)
        {
            module.mapping.refuse(index);
        }
    }

    /// Says which patterns have matched nothing, in a process of which something is covered: others may have other assemblies.
    pub(super) fn say_unmatched(&self) {
        if self.files.load(Ordering::Relaxed) == 0 {
            return;
        }
        let patterns = self.patterns.iter();
        for pattern in patterns.flat_map(|patterns| patterns.unmatched()) {
            Session::say(
                &self.settings,
                format_args!("the pattern `{pattern}` has matched no method"),
            );
        }
    }

    /// Forgets a module that is unloaded. Its file stays.
    pub(super) fn forget(&self, module: ModuleId) {
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.remove(&module);
    }
}

/// The methods with lines among those that are selected.
fn chosen(
    files: &ModuleFiles,
    selected: &[MethodDef],
) -> clr_metadata::Result<Option<Vec<MethodDef>>> {
    let module = files.module()?;
    let of_user: HashSet<MethodDef, HashTokens> = selected.iter().copied().collect();
    let mut chosen = Vec::new();
    for &method in selected {
        // Lambdas and state machines follow the methods that they are a part of.
        if of_user.contains(&module.source_method(method)) && module.covers(method)? {
            chosen.push(method);
        }
    }
    Ok(Some(chosen))
}

/// The files of a module, and the path by which they are found again: that of the module, or one below the single-file application
/// that runs, if no file at its own path `is_loaded`. `None` if it needs a PDB and has none.
fn read(path: &Path, needs_pdb: bool, is_loaded: &dyn Fn(&ModuleFiles) -> bool) -> Found {
    match ModuleFiles::read_if(path, needs_pdb) {
        Ok(Some(files)) if is_loaded(&files) => Ok(Some((path.to_owned(), files))),
        other => read_bundled(path, needs_pdb)
            .unwrap_or_else(|| other.map(|files| Some((path.to_owned(), files?)))),
    }
}

type Found = Result<Option<(PathBuf, ModuleFiles)>, String>;

fn read_bundled(path: &Path, needs_pdb: bool) -> Option<Found> {
    let (application, bundle) = application()?;
    let inner = path_in_bundle(bundle, path.file_name()?.to_str()?)?;
    let files = read_in_bundle(application, bundle, inner, needs_pdb)?;
    Some(files.map(|files| Some((application.join(inner), files?))))
}

/// The single-file application that runs; `None` if it is none.
fn application() -> Option<&'static (PathBuf, Bundle<'static>)> {
    static APPLICATION: OnceLock<Option<(PathBuf, Bundle<'static>)>> = OnceLock::new();
    let found = APPLICATION.get_or_init(|| Some((env::current_exe().ok()?, running_bundle()?)));
    found.as_ref()
}

/// The code of a probe: a store of one byte, without a call or a lock.
fn write(kind: ProbeKind, address: usize, code: &mut Fragment) {
    // The short form keeps small methods small enough to be inlined.
    match i32::try_from(address) {
        Ok(address) => code.ldc_i4(address),
        Err(_) => code.ldc_i8(address as i64),
    };
    code.conv_u();
    match kind {
        ProbeKind::Hit => code.ldc_i4(1).stind_i1(),
        ProbeKind::Count => code.dup().ldind_u4().ldc_i4(1).add().stind_i4(),
    };
}
