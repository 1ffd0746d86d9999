//! Events follow from callbacks and setup; the runtime reports its version.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Logs the runtime's information about itself, at the start and after the end.
pub(crate) struct WritesFacts;

#[profiler(clsid = clsid("WritesFacts"))]
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

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::WritesFacts;

    #[test]
    fn events_follow_from_callbacks_and_setup() {
        let scenario = Scenario::new("Basics").profiled_by::<WritesFacts>();
        scenario.on_each_runtime(|runtime, profiled| {
            // .NET Core 3.1 reports version 4, and has ICorProfilerInfo11; 8 has 14 and 10 has 15.
            let (major, info) = match runtime.major {
                3 => (4, 11),
                8 => (8, 14),
                10 => (10, 15),
                newer => (newer, 15),
            };
            let first = profiled.log.lines().next().unwrap_or_default();
            assert!(
                first.starts_with(&format!("runtime {major}.")),
                "{}",
                profiled.log
            );
            assert!(
                first.ends_with(&format!(" Core, ICorProfilerInfo{info}")),
                "{}",
                profiled.log
            );
            assert!(
                profiled.logged("events EventMask(MONITOR_THREADS | HIGH_BASIC_GC)"),
                "{}",
                profiled.log
            );
            assert!(
                profiled.logged("collection Some(2) Induced"),
                "{}",
                profiled.log
            );
            assert!(!profiled.logged("an event that was removed"));
            assert!(
                profiled.logged(&format!("shutdown, version {major}")),
                "{}",
                profiled.log
            );
        });
    }
}
