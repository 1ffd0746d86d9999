//! Legal calls by context: profilers for the tests that drive the callback object themselves.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// A module of the fake runtime.
// SAFETY: the fake runtime accepts any number.
const MODULE: ModuleId = unsafe { ModuleId::from_raw(1) };

/// Needs only events of the low half of the mask, and logs the callbacks.
pub(crate) struct LowEvents;

impl Drop for LowEvents {
    fn drop(&mut self) {
        log::line("dropped");
    }
}

#[profiler(clsid = clsid("LowEvents"))]
impl Profiler for LowEvents {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        log::line(format_args!("version {}", info.version()));
        Ok(Self)
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        log::line(format_args!("attached with {client_data:?}"));
        Self::initialize(info, setup)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        let name = info.module_info(module)?.name;
        log::line(format_args!("module {} {name} {status}", module.raw()));
        Ok(())
    }

    fn thread_name_changed(&self, _: &ProfilerInfo, thread: ThreadId, name: &str) -> Result<()> {
        log::line(format_args!("thread {} {name:?}", thread.raw()));
        Ok(())
    }

    fn jit_inlining(
        &self,
        _: &ProfilerInfo,
        caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        Ok(caller != callee)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("shutdown");
        Ok(())
    }
}

/// Makes calls that are forbidden and legal during a collection, and logs the results.
pub(crate) struct AsksInCollection {
    /// The handle for other threads; it is independent of the scope of a callback.
    info: ProfilerInfo,
}

#[profiler(clsid = clsid("AsksInCollection"))]
impl Profiler for AsksInCollection {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self { info: info.clone() })
    }

    fn garbage_collection_started(
        &self,
        _: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        log::line(format_args!("started {generations:?} {reason:?}"));
        let elsewhere = std::thread::scope(|scope| {
            let asked = scope.spawn(|| self.info.module_info(MODULE).is_ok());
            asked.join().unwrap_or(false)
        });
        log::line(format_args!("another thread {elsewhere}"));
        self.info.force_gc()
    }

    fn finalizeable_object_queued(
        &self,
        gc: &GcScope,
        is_critical: bool,
        object: ObjectId<'_>,
    ) -> Result<()> {
        let class = gc.class_from_object(object)?;
        let size = gc.object_size(object)?;
        log::line(format_args!(
            "queued {is_critical} class {} size {size}",
            class.raw()
        ));
        Ok(())
    }

    fn moved_references2(&self, _: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        log::line(format_args!(
            "moved {:?}",
            ranges.iter().collect::<Vec<_>>()
        ));
        Ok(())
    }

    fn root_references2(&self, _: &GcScope, roots: Roots<'_>) -> Result<()> {
        log::line(format_args!("roots {}", roots.iter().count()));
        Ok(())
    }

    fn garbage_collection_finished(&self, _: &GcScope) -> Result<()> {
        panic!("in a collection")
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        log::line(format_args!("after it {}", info.module_info(module)?.name));
        Ok(())
    }
}

/// Makes the runtime call back during a call.
pub(crate) struct Reenters;

#[profiler(clsid = clsid("Reenters"))]
impl Profiler for Reenters {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn thread_created(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        log::line(format_args!("thread {} began", thread.raw()));
        let answer = info.force_gc();
        // The nested collection is over: this is legal again.
        let module = info.module_info(MODULE)?;
        log::line(format_args!(
            "thread {} {answer:?} {}",
            thread.raw(),
            module.name
        ));
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        _: GenerationSet,
        _: GcReason,
    ) -> Result<()> {
        log::line(format_args!("inner {gc:?}"));
        Ok(())
    }

    fn garbage_collection_finished(&self, _: &GcScope) -> Result<()> {
        panic!("inner panic")
    }
}

/// Panics in unexpected places: in the failure hook, and when it is dropped.
pub(crate) struct HookPanics;

#[profiler(clsid = clsid("HookPanics"))]
impl Profiler for HookPanics {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| {
            log::line(failure);
            panic!("the hook itself")
        });
        Ok(Self)
    }

    fn thread_created(&self, _: &ProfilerInfo, _: ThreadId) -> Result<()> {
        Err(Error::other("no thread"))
    }

    fn thread_destroyed(&self, _: &ProfilerInfo, _: ThreadId) -> Result<()> {
        panic!("no thread")
    }
}

impl Drop for HookPanics {
    fn drop(&mut self) {
        panic!("dropped")
    }
}
