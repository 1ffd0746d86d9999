//! [`SuspendedRuntime`]: no managed thread runs while it exists.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::ids::GcTriggerCount;
use crate::info::enumerate::ThreadEnum;
use crate::info::handle::Suspension;
use crate::pending_signals;
use crate::runtime::{ProfilerInfo, Suspended, set_suspended, suspended};
use clr_profiler_sys as sys;

/// The runtime with all managed threads suspended.
///
/// From [`with_suspended_runtime`](crate::info::CorProfilerInfo10::with_suspended_runtime). It stays on the
/// thread that suspended the runtime.
pub struct SuspendedRuntime<'info> {
    info: &'info ProfilerInfo,
    /// This thread records which calls are legal meanwhile.
    stays_here: PhantomData<*const ()>,
}

/// The first version that was seen to continue if the system refuses the signal that stops a thread. .NET Core 3.1 aborts.
const SURVIVES_REFUSED_SIGNALS: u16 = 8;

/// Suspends the runtime while `work` runs, and resumes it in any case.
pub(super) fn suspend<R>(
    info: &ProfilerInfo,
    work: impl FnOnce(&SuspendedRuntime<'_>) -> Result<R>,
) -> Result<R> {
    const CALL: &str = "ICorProfilerInfo10::SuspendRuntime";
    if suspended() == Suspended::ByProfiler {
        return Err(Error::rule(
            CALL,
            "this thread has already suspended the runtime",
        ));
    }
    if info.runtime_major()? < SURVIVES_REFUSED_SIGNALS && pending_signals::are_scarce() {
        return Err(Error::rule(
            CALL,
            "the system hardly queues signals for this user (`RLIMIT_SIGPENDING`, `ulimit -i`), and this runtime ends the \
             program if one is refused while it stops threads: raise the limit",
        ));
    }
    let suspension = info.begin_suspension(CALL)?;
    ask!(waiting info, ICorProfilerInfo10::SuspendRuntime())?;
    let resume = Resume {
        suspension,
        before: set_suspended(Suspended::ByProfiler),
        is_resumed: false,
    };
    let result = work(&SuspendedRuntime {
        info,
        stays_here: PhantomData,
    });
    resume.now().and(result)
}

impl SuspendedRuntime<'_> {
    /// The managed threads. None starts or ends meanwhile, so their ids are valid until the runtime is
    /// resumed.
    ///
    /// Calls `ICorProfilerInfo4::EnumThreads`. **Context**: the thread that suspended the runtime.
    ///
    /// # Errors
    ///
    /// The error of the native call, at once or as an item.
    pub fn threads(&self) -> Result<ThreadEnum> {
        let mut enumerator = None;
        let info = self.info;
        ask!(in gc info, ICorProfilerInfo4::EnumThreads(&mut enumerator))?;
        Ok(ThreadEnum::new(enumerator))
    }
}

opaque! { SuspendedRuntime<'_> }

/// Resumes the runtime, also if the closure panics.
struct Resume<'info> {
    /// Dropped after the runtime is resumed.
    suspension: Suspension<'info>,
    before: Suspended,
    is_resumed: bool,
}

impl Resume<'_> {
    fn now(mut self) -> Result<()> {
        self.once()
    }

    fn once(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_resumed, true) {
            return Ok(());
        }
        set_suspended(self.before);
        GcTriggerCount::count_one();
        let call = "ICorProfilerInfo10::ResumeRuntime";
        let native = self.suspension.native::<sys::ICorProfilerInfo10>(call)?;
        native_call!(native, ICorProfilerInfo10::ResumeRuntime())?;
        Ok(())
    }
}

impl Drop for Resume<'_> {
    fn drop(&mut self) {
        // The panic propagates, and hides the error.
        let _ = self.once();
    }
}
