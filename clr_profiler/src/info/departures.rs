//! The end of modules and threads: their ids become invalid before the runtime frees its data.
//!
//! Everything that is unloaded with a collectible module is unloaded on one thread, in one sequence, which
//! begins with `module_unload_started`: all calls still succeed there. So the ids of all of it become invalid
//! in this callback; if the library has several profilers, in that of the last one.

use std::time::Duration;

use super::{CorProfilerInfo, ProfilerInfo, modules_of_class, modules_of_function};
use crate::ids::{ClassId, FunctionId, ModuleId, ThreadId};
use crate::lifetimes::audience::{self, Leaving};
use crate::lifetimes::seen::{self, Kind};
use crate::lifetimes::{self, threads, wait_for_calls_with_thread};

/// How long to wait for calls. They take much less, unless the profiler's own code runs within one: that must
/// not block the program.
const PATIENCE: Duration = Duration::from_secs(10);

fn key(info: &ProfilerInfo) -> usize {
    info.identity().addr()
}

/// The profiler gets callbacks from now on.
pub(crate) fn begin(info: &ProfilerInfo) {
    audience::join(key(info));
}

/// The profiler is about to get no callbacks anymore. Whether it got any before.
pub(crate) fn end(info: &ProfilerInfo) -> bool {
    let told = audience::leave(key(info));
    for leaving in told.iter().flatten() {
        match *leaving {
            Leaving::Module(module) => invalidate_module(info, module),
            Leaving::Thread(thread) => invalidate_thread(thread),
        }
    }
    told.is_some()
}

/// The runtime tells the profiler that a module is unloaded.
pub(crate) fn module_is_unloaded(info: &ProfilerInfo, module: ModuleId) {
    if audience::told(key(info), Leaving::Module(module.raw())) {
        invalidate_module(info, module.raw());
    }
}

fn invalidate_module(info: &ProfilerInfo, module: usize) {
    let id = ModuleId::seen_in(module, seen::now());
    let assembly = info.module_info(id).ok().and_then(|it| it.assembly);
    let assembly = assembly.map(|assembly| assembly.raw());
    // Whatever was recorded: a module that is unloaded is collectible.
    seen::module_has_loaded(module, true);
    resolve_all(info);
    seen::module_goes(module, assembly);
    wait();
    // Ids that calls in flight have seen in the meantime.
    resolve_all(info);
    seen::module_goes(module, assembly);
    wait();
}

/// The runtime tells the profiler that a module was unloaded.
pub(crate) fn module_was_unloaded(info: &ProfilerInfo, module: ModuleId) {
    audience::has_left(Leaving::Module(module.raw()));
    // Ids that were seen in the meantime: the memory of types and functions is freed last.
    seen::module_has_loaded(module.raw(), true);
    resolve_all(info);
    seen::module_goes(module.raw(), None);
    wait();
    seen::module_is_gone(module.raw());
}

/// The runtime tells the profiler that a thread ends.
pub(crate) fn thread_ends(info: &ProfilerInfo, thread: ThreadId) {
    if audience::told(key(info), Leaving::Thread(thread.raw())) {
        invalidate_thread(thread.raw());
    }
}

fn invalidate_thread(thread: usize) {
    threads::ends(thread);
    // Other calls are not waited for: they may wait for a lock that the thread holds on which the callback runs.
    wait_for_calls_with_thread(thread, PATIENCE);
}

/// Waits for the calls that may not have seen the records before it.
pub(crate) fn wait() {
    lifetimes::wait_and_free(PATIENCE);
}

/// Determines the modules on which each seen id depends.
fn resolve_all(info: &ProfilerInfo) {
    while let Some((kind, number, epoch)) = seen::unresolved() {
        let modules = match kind {
            Kind::Class => modules_of_class(info, ClassId::seen_in(number, epoch)),
            Kind::Function => modules_of_function(info, FunctionId::seen_in(number, epoch)),
            Kind::Module | Kind::Assembly => None,
        };
        seen::resolved(number, modules.as_ref());
    }
}
