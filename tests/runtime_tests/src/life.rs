//! The life of profilers: several at once, attached and detached, and the environment that they are given.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clr_profiler::prelude::*;

use crate::common::{Count, clsid, log, report_failures, shown};

static EXCEPTIONS: Count = Count::new();
static DETACHED: Count = Count::new();
static DROPPED: Count = Count::new();

/// Requests its detach at the first exception. Any number of them can be loaded at once.
#[derive(Default)]
pub(crate) struct DetachesAtException {
    asked: AtomicBool,
}

#[profiler(clsid = clsid("DetachesAtException"))]
impl Profiler for DetachesAtException {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_EXCEPTIONS);
        log::line("loaded");
        Ok(Self::default())
    }

    fn initialize_for_attach(_: &ProfilerInfo, setup: &mut Setup, _: &[u8]) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_EXCEPTIONS);
        log::line("attached");
        Ok(Self::default())
    }

    fn load_as_notification_only() -> bool {
        true
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _: ObjectId<'_>) -> Result<()> {
        if self.asked.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        EXCEPTIONS.one();
        let info = info.clone();
        std::thread::spawn(move || {
            let asked = info.request_profiler_detach(Duration::ZERO);
            log::line(format_args!("detach {}", shown(asked)));
        });
        Ok(())
    }

    fn profiler_detach_succeeded(&self, _: &ProfilerInfo) -> Result<()> {
        let detached = DETACHED.one();
        log::line(format_args!(
            "detached {detached} after {} exceptions",
            EXCEPTIONS.get()
        ));
        Ok(())
    }
}

impl Drop for DetachesAtException {
    fn drop(&mut self) {
        log::line(format_args!("dropped {}", DROPPED.one()));
    }
}

/// Requests its detach as soon as it is attached.
pub(crate) struct DetachesOnceAttached;

#[profiler(clsid = clsid("DetachesOnceAttached"))]
impl Profiler for DetachesOnceAttached {
    fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
        Err(Error::other("to be attached"))
    }

    fn initialize_for_attach(_: &ProfilerInfo, setup: &mut Setup, _: &[u8]) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_MODULE_LOADS);
        log::line("attached");
        Ok(Self)
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        let asked = info.request_profiler_detach(Duration::ZERO);
        log::line(format_args!("detach {}", shown(asked)));
        Ok(())
    }

    fn profiler_detach_succeeded(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("detached");
        Ok(())
    }
}

impl Drop for DetachesOnceAttached {
    fn drop(&mut self) {
        log::line("dropped");
    }
}

/// Reads variables that the diagnostics server has set before the program began.
pub(crate) struct ReadsEnvironment;

#[profiler(clsid = clsid("ReadsEnvironment"))]
impl Profiler for ReadsEnvironment {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        for name in ["OVERWRITTEN", "NEW", "CLEARED"] {
            let value = info.environment_variable(name);
            log::line(format_args!("{name} {}", shown(value)));
        }
        Ok(Self)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("shutdown");
        Ok(())
    }
}
