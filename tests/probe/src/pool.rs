//! The ids that the profiler has seen: valid, stale and odd ones.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::ContextId;
use clr_profiler::info::{FunctionEnum, MethodMalloc, ModuleEnum, ModuleFlags, ThreadEnum};
use clr_profiler::metadata::MetadataWriter;
use clr_profiler::prelude::*;

/// How many ids of a kind are kept: the first ones and the last ones.
const KEPT: usize = 12;

/// Ids of each kind.
#[derive(Clone, Default)]
pub struct Known {
    pub modules: Vec<ModuleId>,
    pub classes: Vec<ClassId>,
    pub functions: Vec<FunctionId>,
    pub assemblies: Vec<AssemblyId>,
    pub app_domains: Vec<AppDomainId>,
    pub threads: Vec<ThreadId>,
    pub contexts: Vec<ContextId>,
    /// Those that the profiler has created: others cannot be kept.
    pub providers: Vec<EventPipeProviderId<'static>>,
    pub rejits: Vec<RejitId>,
    /// The start addresses of code.
    pub code: Vec<usize>,
}

/// The ids that depend on a module that can be unloaded.
struct Collectible {
    module: ModuleId,
    known: Known,
}

#[derive(Default)]
pub struct Pool {
    pub live: Known,
    pub dead: Known,
    pub odd: Known,
    collectible: Vec<Collectible>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

thread_local! {
    /// Metadata that was opened on this thread while its module was loaded. It stays on the thread.
    static OPENED: RefCell<Vec<Opened>> = const { RefCell::new(Vec::new()) };
}

/// The objects of a module that can be kept, apart from its id.
pub struct Opened {
    pub module: ModuleId,
    pub metadata: Option<Metadata<'static>>,
    pub writer: Option<MetadataWriter<'static>>,
    pub malloc: Option<MethodMalloc<'static>>,
    pub modules: Option<ModuleEnum>,
    pub functions: Option<FunctionEnum>,
    pub threads: Option<ThreadEnum>,
}

/// The pool; the runtime must not be called while it is held.
pub fn pool() -> PoolGuard {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.get_or_insert_with(Pool::default);
    PoolGuard(pool)
}

pub struct PoolGuard(MutexGuard<'static, Option<Pool>>);

impl std::ops::Deref for PoolGuard {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        self.0.as_ref().expect("was filled when it was locked")
    }
}

impl std::ops::DerefMut for PoolGuard {
    fn deref_mut(&mut self) -> &mut Pool {
        self.0.as_mut().expect("was filled when it was locked")
    }
}

/// Keeps an id among the first and the last ones.
pub fn keep<T: PartialEq>(ids: &mut Vec<T>, id: T) {
    if !ids.contains(&id) {
        if ids.len() >= KEPT {
            ids.remove(KEPT / 2);
        }
        ids.push(id);
    }
}

/// Moves ids that have become stale.
fn bury<T: PartialEq + Copy>(live: &mut Vec<T>, dead: &mut Vec<T>, gone: &[T]) {
    live.retain(|id| !gone.contains(id));
    for id in gone {
        keep(dead, *id);
    }
}

/// Runs `with` on the metadata that was opened on this thread for an unloaded module.
pub fn with_opened<R>(with: impl FnOnce(&mut Opened) -> R) -> Option<R> {
    let dead = pool().dead.modules.clone();
    OPENED.with_borrow_mut(|opened| {
        opened
            .iter_mut()
            .rev()
            .find(|it| dead.contains(&it.module))
            .map(with)
    })
}

/// The modules among a type's own, its arguments' and its elements' that can be unloaded.
fn modules_of(info: &ProfilerInfo, class: ClassId, depth: u32, found: &mut Vec<ModuleId>) {
    if depth > 4 {
        return;
    }
    if let Ok(Some(array)) = info.array_class_info(class) {
        if let Some(element) = array.element_class {
            modules_of(info, element, depth + 1, found);
        }
    } else if let Ok(of) = info.class_id_info2(class) {
        found.extend(of.module);
        for argument in of.type_arguments {
            modules_of(info, argument, depth + 1, found);
        }
    }
}

/// Adds an id with the modules on which it depends.
fn enter(modules: &[ModuleId], keep_in: impl Fn(&mut Known)) {
    let mut pool = pool();
    keep_in(&mut pool.live);
    for collectible in &mut pool.collectible {
        if modules.contains(&collectible.module) {
            keep_in(&mut collectible.known);
        }
    }
}

fn has_collectible() -> bool {
    !pool().collectible.is_empty()
}

pub fn see_module(info: &ProfilerInfo, module: ModuleId, keeps_open: bool) {
    let Ok((of, flags)) = info.module_info2(module) else {
        return;
    };
    if flags.intersects(ModuleFlags::DYNAMIC | ModuleFlags::RESOURCE) {
        keep(&mut pool().odd.modules, module);
        return;
    }
    if flags.contains(ModuleFlags::COLLECTIBLE) {
        let known = Known {
            modules: vec![module],
            ..Known::default()
        };
        pool().collectible.push(Collectible { module, known });
        if keeps_open {
            open(info, module);
        }
    } else if of.name.ends_with("Probe.dll") {
        // The program's own is first.
        pool().live.modules.insert(0, module);
        return;
    }
    enter(&[module], |known| keep(&mut known.modules, module));
}

fn open(info: &ProfilerInfo, module: ModuleId) {
    let info: &'static ProfilerInfo = Box::leak(Box::new(info.clone()));
    let opened = Opened {
        module,
        metadata: info.module_metadata(module).ok(),
        writer: info.module_metadata_for_writing(module).ok(),
        malloc: info.il_function_body_allocator(module).ok(),
        modules: info.modules().ok(),
        functions: info.jitted_functions().ok(),
        threads: info.threads().ok(),
    };
    OPENED.with_borrow_mut(|all| all.push(opened));
}

/// The number of an unloaded assembly can be reused.
pub fn assembly_begins(assembly: AssemblyId) {
    pool().dead.assemblies.retain(|dead| *dead != assembly);
}

pub fn see_assembly(module: ModuleId, assembly: AssemblyId) {
    enter(&[module], |known| keep(&mut known.assemblies, assembly));
}

pub fn see_class(info: &ProfilerInfo, class: ClassId) {
    let mut modules = Vec::new();
    if has_collectible() {
        modules_of(info, class, 0, &mut modules);
    }
    if let Ok(Some(_)) = info.array_class_info(class) {
        keep(&mut pool().odd.classes, class);
    }
    enter(&modules, |known| keep(&mut known.classes, class));
}

pub fn see_function(info: &ProfilerInfo, function: FunctionId) {
    let mut modules = Vec::new();
    let has_collectible = has_collectible();
    if let Ok(of) = info.function_info2(function) {
        modules.push(of.module);
        if has_collectible {
            for class in of.class.into_iter().chain(of.type_arguments) {
                modules_of(info, class, 0, &mut modules);
            }
        }
    }
    if has_collectible {
        // An enumerator that has functions of the module.
        OPENED.with_borrow_mut(|opened| {
            if let Some(last) = opened.last_mut().filter(|it| modules.contains(&it.module)) {
                last.functions = info.jitted_functions().ok();
            }
        });
    }
    let code = info.code_info(function).ok().map(|code| code.start);
    enter(&modules, |known| {
        keep(&mut known.functions, function);
        if let Some(code) = code {
            keep(&mut known.code, code);
        }
    });
}

/// The number of an unloaded dynamic method can be reused.
pub fn dynamic_begins(function: FunctionId) {
    pool().dead.functions.retain(|dead| *dead != function);
}

pub fn see_dynamic(function: FunctionId) {
    keep(&mut pool().odd.functions, function);
}

pub fn see_thread(info: &ProfilerInfo, thread: ThreadId) {
    let domain = info.thread_app_domain(thread).ok();
    let context = info.thread_context(thread).ok();
    let mut pool = pool();
    keep(&mut pool.live.threads, thread);
    if let Some(domain) = domain {
        keep(&mut pool.live.app_domains, domain);
    }
    if let Some(context) = context {
        keep(&mut pool.live.contexts, context);
    }
}

pub fn module_is_gone(module: ModuleId) {
    let mut pool = pool();
    let pool = &mut *pool;
    let gone: Vec<Collectible>;
    (gone, pool.collectible) = std::mem::take(&mut pool.collectible)
        .into_iter()
        .partition(|it| it.module == module);
    for Collectible { known, .. } in gone {
        let (live, dead, odd) = (&mut pool.live, &mut pool.dead, &mut pool.odd);
        bury(&mut live.modules, &mut dead.modules, &known.modules);
        bury(&mut live.classes, &mut dead.classes, &known.classes);
        bury(&mut live.functions, &mut dead.functions, &known.functions);
        bury(
            &mut live.assemblies,
            &mut dead.assemblies,
            &known.assemblies,
        );
        bury(&mut live.code, &mut dead.code, &known.code);
        odd.classes.retain(|class| !known.classes.contains(class));
        odd.functions
            .retain(|function| !known.functions.contains(function));
    }
}

pub fn thread_is_gone(thread: ThreadId) {
    let mut pool = pool();
    let pool = &mut *pool;
    bury(&mut pool.live.threads, &mut pool.dead.threads, &[thread]);
}

pub fn dynamic_is_gone(function: FunctionId) {
    let mut pool = pool();
    let pool = &mut *pool;
    bury(
        &mut pool.odd.functions,
        &mut pool.dead.functions,
        &[function],
    );
}
