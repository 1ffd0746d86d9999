//! [`UnloadObserver`]: the library's own handling of unloaded modules, types and functions, and of threads that end.

use super::traits::Component;
use crate::error::{Error, Hresult, Result};
use crate::event_mask::EventMask;
use crate::events::{Callback, CallbackSet};
use crate::ids::{ClassId, FunctionId, ModuleId, ThreadId};
use crate::image::Images;
use crate::info::{departures, note_earlier_unloads, note_module};
use crate::lifetimes::seen;
use crate::runtime::ProfilerInfo;

pub(crate) struct UnloadObserver;

impl Component for UnloadObserver {
    fn callbacks(&self) -> CallbackSet {
        // The callbacks of the library's own events: without these events none of them is called.
        let of_library = |callback: &&Callback| callback.events().intersects(EventMask::OF_LIBRARY);
        let all = Callback::ALL.iter().filter(of_library);
        all.fold(CallbackSet::EMPTY, |set, callback| {
            set.with(callback.name())
        })
        .with("profiler_attach_complete")
        .with("class_load_finished")
        .with("class_unload_finished")
        .with("dynamic_method_jit_compilation_started")
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        departures::begin(info);
        // Unloads that began when the profiler was being attached, and whose events it may not have.
        note_earlier_unloads(info);
        if seen::has_unloaded() {
            end_walks(info)?;
        }
        Ok(())
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if status.is_ok() {
            note_module(info, module);
            #[cfg(feature = "rewrite")]
            crate::info::prepare_expected(info, module);
        }
        Ok(())
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        // No call requests further walks of the heap from now on.
        if seen::note_unloads() {
            departures::wait();
        }
        let walks = end_walks(info);
        info.extension::<Images>().module_goes(module);
        #[cfg(feature = "rewrite")]
        crate::info::module_goes(info, module);
        #[cfg(feature = "lines")]
        info.extension::<crate::image::AllSymbols>()
            .module_goes(module);
        departures::module_is_unloaded(info, module);
        walks
    }

    fn module_unload_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        departures::module_was_unloaded(info, module);
        Ok(())
    }

    fn class_unload_finished(
        &self,
        _info: &ProfilerInfo,
        class: ClassId,
        _status: Hresult,
    ) -> Result<()> {
        if seen::goes(class.raw()) {
            departures::wait();
        }
        Ok(())
    }

    fn dynamic_method_unloaded(&self, _info: &ProfilerInfo, function: FunctionId) -> Result<()> {
        // A collection may wait for this thread, and calls for the collection, so this does not wait for
        // them. They can continue: the runtime keeps the memory of dynamic methods for others.
        seen::goes(function.raw());
        Ok(())
    }

    fn thread_destroyed(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        departures::thread_ends(info, thread);
        Ok(())
    }
}

/// Removes the event for which the runtime would walk the heap, where it would crash from now on.
fn end_walks(info: &ProfilerInfo) -> Result<()> {
    let events = match info.events() {
        Ok(events) => events,
        // Callbacks that are under way when a detach begins cannot change anything.
        Err(error) if error.hresult() == Hresult::CORPROF_E_PROFILER_DETACHING => return Ok(()),
        Err(error) => return Err(error),
    };
    if !events.contains(EventMask::MONITOR_GC) || !info.reads_lost_types()? {
        return Ok(());
    }
    info.set_events(events - EventMask::MONITOR_GC)?;
    Err(Error::other(
        "no callback that needs `MONITOR_GC` is called anymore: the program unloads modules, and .NET 8 \
         crashes when it walks a heap with objects whose types were unloaded",
    ))
}
