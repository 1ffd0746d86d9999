//! [`SuspendedRuntime`]: no managed thread runs while it lives.

use std::fmt;
use std::marker::PhantomData;

use crate::boundary::{Suspended, set_suspended, suspended};
use crate::error::{Error, Result};
use crate::info::ProfilerInfo;
use crate::info::enumerate::ThreadEnum;
use crate::info::handle::Hold;
use clr_profiler_sys as sys;

/// All managed threads are stopped while this lives, and go on when it is dropped.
///
/// From [`suspend_runtime`](crate::CorProfilerInfo10::suspend_runtime). It stays on the thread that
/// suspended the runtime.
#[must_use = "the managed threads go on when it is dropped"]
pub struct SuspendedRuntime {
    /// The runtime is resumed whatever happens meanwhile: a shutdown, a detach.
    hold: Hold,
    /// Whether the threads go on already.
    is_resumed: bool,
    /// What this thread may ask meanwhile is noted on this thread.
    stays_here: PhantomData<*const ()>,
}

impl SuspendedRuntime {
    pub(super) fn suspend(info: &ProfilerInfo) -> Result<Self> {
        if suspended() == Suspended::ByProfiler {
            return Err(Error::rule(
                "ICorProfilerInfo10::SuspendRuntime",
                "this thread has suspended the runtime already",
            ));
        }
        let hold = info.hold("ICorProfilerInfo10::SuspendRuntime")?;
        ask!(info, ICorProfilerInfo10::SuspendRuntime())?;
        set_suspended(Suspended::ByProfiler);
        Ok(Self {
            hold,
            is_resumed: false,
            stays_here: PhantomData,
        })
    }

    /// The managed threads that there are while none can begin or end: an id is good until the
    /// runtime is resumed.
    ///
    /// Ends in `ICorProfilerInfo4::EnumThreads`. **Context**: the thread that suspended the runtime.
    ///
    /// # Errors
    ///
    /// What the runtime answers, at once or as an item.
    pub fn threads(&self) -> Result<ThreadEnum> {
        let mut enumerator = None;
        let info = self.hold.info();
        ask!(in gc info, ICorProfilerInfo4::EnumThreads(&mut enumerator))?;
        Ok(ThreadEnum::new(enumerator))
    }

    /// Lets the managed threads go on. Dropping it does so too, and says nothing where that fails.
    ///
    /// Wraps `ICorProfilerInfo10::ResumeRuntime`. **Context**: the thread that suspended the runtime.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "ResumeRuntime")]
    pub fn resume(mut self) -> Result<()> {
        self.resume_once()
    }

    fn resume_once(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_resumed, true) {
            return Ok(());
        }
        // This thread may ask for everything again: for resuming it has to.
        set_suspended(Suspended::No);
        let call = "ICorProfilerInfo10::ResumeRuntime";
        let native = self.hold.native::<sys::ICorProfilerInfo10>(call)?;
        native_call!(native, ICorProfilerInfo10::ResumeRuntime())?;
        Ok(())
    }
}

impl Drop for SuspendedRuntime {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.resume_once();
    }
}

impl fmt::Debug for SuspendedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuspendedRuntime")
    }
}
