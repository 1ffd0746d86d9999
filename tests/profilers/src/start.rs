//! Ways to start, or not to.

use clr_profiler::prelude::*;

use crate::log;

/// Does nothing at all.
pub(crate) struct Null;

#[profiler(clsid = crate::clsid("Null"))]
impl Profiler for Null {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

/// Returns an error from `initialize`.
pub(crate) struct FailsToStart;

#[profiler(clsid = crate::clsid("FailsToStart"))]
impl Profiler for FailsToStart {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Err(Error::other("the licence has run out"))
    }
}

/// Panics in `initialize`.
pub(crate) struct PanicsAtStart;

#[profiler(clsid = crate::clsid("PanicsAtStart"))]
impl Profiler for PanicsAtStart {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        panic!("no such luck")
    }
}

/// Chooses not to be active.
pub(crate) struct CancelsActivation;

#[profiler(clsid = crate::clsid("CancelsActivation"))]
impl Profiler for CancelsActivation {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        log::line("cancelled");
        Err(Error::cancel_activation())
    }
}

/// Writes what the runtime says of itself, at the start and after the end.
pub(crate) struct WritesFacts;

#[profiler(clsid = crate::clsid("WritesFacts"))]
impl Profiler for WritesFacts {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup
            .add_events(EventMask::HIGH_BASIC_GC | EventMask::MONITOR_EXCEPTIONS)
            .remove_events(EventMask::MONITOR_EXCEPTIONS | EventMask::MONITOR_MODULE_LOADS);
        let runtime = info.runtime_information()?;
        log::line(format_args!(
            "runtime {}.{}.{} {:?}, ICorProfilerInfo{}",
            runtime.major,
            runtime.minor,
            runtime.build,
            runtime.kind,
            info.version()
        ));
        Ok(Self)
    }

    fn thread_created(&self, info: &ProfilerInfo, _thread: ThreadId) -> Result<()> {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| match info.event_mask2() {
            Ok(mask) => log::line(format_args!("events {mask:?}")),
            Err(error) => log::line(error),
        });
        Ok(())
    }

    fn module_load_finished(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        log::line("an event that was removed");
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        log::line(format_args!(
            "collection {:?} {reason:?}",
            generations.oldest()
        ));
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "shutdown, version {}",
            info.runtime_information()?.major
        ));
        Ok(())
    }
}
