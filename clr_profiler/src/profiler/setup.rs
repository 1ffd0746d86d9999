//! [`Setup`]: what `initialize` decides.

use std::fmt;
use std::sync::Arc;

use super::failure::Failure;
use crate::error::{Error, Result};
use crate::events::EventMask;
use crate::info::CorProfilerInfo3;
use crate::runtime::ProfilerInfo;

/// A hook that is told of failed callbacks.
pub(crate) type FailureHook = Arc<dyn Fn(&Failure) + Send + Sync>;
/// What hands hooks to the runtime once it knows the events.
type SetHooks = Box<dyn FnOnce(&ProfilerInfo, EventMask) -> Result<()>>;

/// What `initialize` decides about the profiler: events, and what happens when a callback fails.
///
/// It starts with the events of the callbacks that the profiler overrides.
///
/// ```
/// # use clr_profiler::prelude::*;
/// # fn initialize(setup: &mut Setup) {
/// setup
///     .add_events(EventMask::ENABLE_REJIT)
///     .on_failure(|failure| eprintln!("my profiler: {failure}"));
/// # }
/// ```
pub struct Setup {
    pub(crate) events: EventMask,
    /// Those of them that were asked for by name.
    named: EventMask,
    pub(crate) on_failure: Option<FailureHook>,
    pub(crate) panic_limit: u32,
    hooks: Option<SetHooks>,
}

impl Setup {
    /// How many panics a profiler survives unless it says otherwise.
    pub const DEFAULT_PANIC_LIMIT: u32 = 16;

    pub(crate) fn new(events: EventMask) -> Self {
        Self {
            events,
            named: EventMask::empty(),
            on_failure: None,
            panic_limit: Self::DEFAULT_PANIC_LIMIT,
            hooks: None,
        }
    }

    /// Sets hooks after the events. `set` is called once, when `initialize` has succeeded.
    pub(crate) fn add_hooks(
        &mut self,
        call: &'static str,
        events: EventMask,
        set: impl FnOnce(&ProfilerInfo, EventMask) -> Result<()> + 'static,
    ) -> Result<()> {
        if self.hooks.is_some() {
            return Err(Error::rule(
                call,
                "there are hooks already; a process has one set of them",
            ));
        }
        self.hooks = Some(Box::new(set));
        self.add_events(events);
        Ok(())
    }

    /// Sets the hooks, if there are any, after the events.
    pub(crate) fn set_hooks(&mut self, info: &ProfilerInfo) -> Result<()> {
        match self.hooks.take() {
            Some(set) => set(info, self.events),
            None => Ok(()),
        }
    }

    /// The events that the runtime will report.
    pub fn events(&self) -> EventMask {
        self.events
    }

    /// Asks for more than the overridden callbacks imply: features, or flags like
    /// [`EventMask::DISABLE_INLINING`].
    ///
    /// Events that endanger the program come only if they are named here: those of exceptions on
    /// runtimes that [lose exceptions](crate::RuntimeInformation::loses_exceptions). Without that,
    /// [`on_failure`](Self::on_failure) is told that their callbacks will not come.
    pub fn add_events(&mut self, events: EventMask) -> &mut Self {
        self.events |= events;
        self.named |= events;
        self
    }

    /// Takes events away. Callbacks that need them are not called.
    pub fn remove_events(&mut self, events: EventMask) -> &mut Self {
        self.events -= events;
        self.named -= events;
        self
    }

    /// Takes away what nobody asked for by name and would endanger the program on this runtime.
    pub(crate) fn leave_out_dangers(&mut self, info: &ProfilerInfo) -> Option<Error> {
        let exceptions = EventMask::MONITOR_EXCEPTIONS;
        if !self.events.contains(exceptions) || self.named.contains(exceptions) {
            return None;
        }
        let runtime = info.runtime_information().ok()?;
        if !runtime.loses_exceptions() {
            return None;
        }
        self.events -= exceptions;
        Some(Error::other(format!(
            "no callback of exceptions will come: .NET {} loses exceptions while they are monitored, \
             and the program with them. `ExceptionEvents` tells of them there; \
             `setup.add_events(EventMask::MONITOR_EXCEPTIONS)` asks for the callbacks all the same",
            runtime.version
        )))
    }

    /// Sets the hook that is told when a callback returns an error or panics, and when a
    /// [`NativeCall`](crate::NativeCall) panics.
    ///
    /// Without one, failures are silent unless `CLR_PROFILER_DIAGNOSTICS` asks for them: a library
    /// does not write to its host's streams. The hook runs on the thread of the callback, and so
    /// possibly on many at once; what it may do is what that callback may do. A panic in it is
    /// swallowed.
    ///
    /// Rewritten code does not tell whose function it calls: a panic there goes to the hooks of all
    /// profilers of the library that run.
    pub fn on_failure(&mut self, hook: impl Fn(&Failure) + Send + Sync + 'static) -> &mut Self {
        self.on_failure = Some(Arc::new(hook));
        self
    }

    /// Sets after how many panics the profiler is retired: from then on no callback reaches it and
    /// the program runs as if unprofiled. At least one.
    pub fn panic_limit(&mut self, panics: u32) -> &mut Self {
        self.panic_limit = panics.max(1);
        self
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("events", &self.events)
            .field("on_failure", &self.on_failure.is_some())
            .field("panic_limit", &self.panic_limit)
            .finish()
    }
}
