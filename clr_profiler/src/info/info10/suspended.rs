//! [`SuspendedRuntime`]: no managed thread runs while it lives.

use std::fmt;
use std::marker::PhantomData;

use crate::boundary::{Mark, Suspended, suspend_here, suspended};
use crate::error::{Error, Result};
use crate::info::ProfilerInfo;

/// All managed threads are stopped while this lives, and go on when it is dropped.
///
/// From [`suspend_runtime`](crate::CorProfilerInfo10::suspend_runtime). It stays on the thread that
/// suspended the runtime.
#[must_use = "the managed threads go on when it is dropped"]
pub struct SuspendedRuntime {
    info: ProfilerInfo,
    /// What this thread may ask meanwhile; none when it has been resumed.
    mark: Option<Mark>,
    /// The mark belongs to this thread.
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
        ask!(info, ICorProfilerInfo10::SuspendRuntime())?;
        Ok(Self {
            info: info.clone(),
            mark: Some(suspend_here(Suspended::ByProfiler)),
            stays_here: PhantomData,
        })
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
        // This thread may ask for everything again: for resuming it has to.
        if self.mark.take().is_none() {
            return Ok(());
        }
        let info = &self.info;
        ask!(info, ICorProfilerInfo10::ResumeRuntime())?;
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
