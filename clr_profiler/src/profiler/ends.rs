//! [`Ends`]: the library's own handling of unloaded modules, types and functions, and of threads that end.
//!
//! Everything that is unloaded with a collectible module is unloaded on one thread, in one sequence, which
//! begins with `module_unload_started`: all calls still succeed there. So the ids of all of it become invalid
//! in this callback.

use std::time::Duration;

use super::traits::Component;
use crate::error::{Error, Hresult, Result};
use crate::event_mask::EventMask;
use crate::events::{Callback, CallbackSet};
use crate::ids::{ClassId, FunctionId, ModuleId, ThreadId};
use crate::info::{CorProfilerInfo, modules_of_class, modules_of_function, note_module};
use crate::lifetimes::seen::{self, Kind};
use crate::lifetimes::{threads, wait_for_calls, wait_for_calls_with_thread};
use crate::runtime::ProfilerInfo;

/// How long to wait for calls. They take much less, unless the profiler's own code runs within one: that must
/// not block the program.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Ends;

impl Component for Ends {
    fn callbacks(&self) -> CallbackSet {
        // The callbacks of the library's own events: without these events none of them is called.
        let of_library = |callback: &&Callback| callback.events().intersects(EventMask::OF_LIBRARY);
        let all = Callback::ALL.iter().filter(of_library);
        all.fold(CallbackSet::EMPTY, |set, callback| {
            set.with(callback.name())
        })
        .with("class_load_finished")
        .with("class_unload_finished")
        .with("dynamic_method_jit_compilation_started")
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if status.is_ok() {
            note_module(info, module);
        }
        Ok(())
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let walks = end_walks(info);
        let assembly = info.module_info(module).ok().and_then(|it| it.assembly);
        let assembly = assembly.map(|assembly| assembly.raw());
        // Whatever was recorded: a module that is unloaded is collectible.
        seen::module_has_loaded(module.raw(), true);
        resolve_all(info);
        seen::module_goes(module.raw(), assembly);
        wait();
        // Ids that calls in flight have seen in the meantime.
        resolve_all(info);
        seen::module_goes(module.raw(), assembly);
        wait();
        walks
    }

    fn module_unload_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        // Ids that were seen in the meantime: the memory of types and functions is freed last.
        seen::module_has_loaded(module.raw(), true);
        resolve_all(info);
        seen::module_goes(module.raw(), None);
        wait();
        seen::module_is_gone(module.raw());
        Ok(())
    }

    fn class_unload_finished(
        &self,
        _info: &ProfilerInfo,
        class: ClassId,
        _status: Hresult,
    ) -> Result<()> {
        if seen::goes(class.raw()) {
            wait();
        }
        Ok(())
    }

    fn dynamic_method_unloaded(&self, _info: &ProfilerInfo, function: FunctionId) -> Result<()> {
        // A collection may wait for this thread, and calls for the collection, so this does not wait for
        // them. They can continue: the runtime keeps the memory of dynamic methods for others.
        seen::goes(function.raw());
        Ok(())
    }

    fn thread_destroyed(&self, _info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        threads::ends(thread.raw());
        // Other calls are not waited for: they may wait for a lock that the thread holds on which this
        // callback runs.
        wait_for_calls_with_thread(thread.raw(), PATIENCE);
        Ok(())
    }
}

/// Removes the event for which the runtime would walk the heap, where it would crash from now on.
fn end_walks(info: &ProfilerInfo) -> Result<()> {
    let events = info.events()?;
    if !events.contains(EventMask::MONITOR_GC) || !info.reads_lost_types()? {
        return Ok(());
    }
    info.set_events(events - EventMask::MONITOR_GC)?;
    Err(Error::other(
        "no callback that needs `MONITOR_GC` is called anymore: the program unloads modules, and .NET 8 \
         crashes when it walks a heap with objects whose types were unloaded",
    ))
}

fn wait() {
    if let Some(waited) = wait_for_calls(Some(PATIENCE)) {
        seen::free_retired(&waited);
        threads::free_retired(&waited);
    }
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
