//! [`Setup`]: what `initialize` decides.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::events::EventMask;
use crate::failure::Failure;
use crate::hooks::{self, CallHooks, CallHooksWithInfo, HookedFunctions};
use crate::ids::FunctionId;
use crate::info::{CorProfilerInfo3, ProfilerInfo};

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

    /// Has hooks called when functions begin and end, at the lowest possible cost.
    ///
    /// `filter` is asked once for each function, when that is compiled: it returns what is to be
    /// kept for the function, or `None` for one that has no hooks and costs nothing. The hooks get
    /// what it returned; so do you, for all functions, from the answer of this call. Where two
    /// threads compile a function at once, it is asked twice, and each answer gets a part of the
    /// calls.
    ///
    /// The hooks are set when `initialize` has succeeded. Functions that the compiler inlines have
    /// none unless there is [`EventMask::DISABLE_INLINING`]; precompiled code is not used.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use clr_profiler::prelude::*;
    /// use clr_profiler::{CallHooks, HookedFunction, HookedFunctions};
    ///
    /// struct Counts;
    ///
    /// // SAFETY: `enter` touches nothing but an atomic.
    /// unsafe impl CallHooks for Counts {
    ///     type Function = AtomicU64;
    ///
    ///     fn enter(&self, calls: &'static HookedFunction<AtomicU64>) {
    ///         calls.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// # fn initialize(setup: &mut Setup) -> Result<HookedFunctions<AtomicU64>> {
    /// let functions = setup.hooks(Counts, |info, function| {
    ///     let name = info.method(function)?.full_name()?;
    ///     Ok(name.starts_with("Shop.").then(AtomicU64::default))
    /// })?;
    /// # Ok(functions)
    /// # }
    /// ```
    ///
    /// Wraps `ICorProfilerInfo3::SetEnterLeaveFunctionHooks3` and
    /// `ICorProfilerInfo3::SetFunctionIDMapper2`. **Context**: `initialize`, at start-up. **Events**:
    /// [`MONITOR_ENTERLEAVE`](EventMask::MONITOR_ENTERLEAVE), which this asks for.
    ///
    /// # Errors
    ///
    /// Where this `Setup` has hooks already. What is wrong otherwise is told when `initialize` has
    /// returned, which then counts as failed: the library has set hooks before (a process has one
    /// set of them), a call of [`CorProfilerInfoHooks`](crate::CorProfilerInfoHooks) has set hooks or
    /// a mapper, there are events that go with hooks with info only, the profiler was attached
    /// or is a notification profiler, or the processor is neither x86-64 nor 64-bit ARM.
    #[doc(alias = "SetEnterLeaveFunctionHooks3")]
    #[doc(alias = "SetFunctionIDMapper2")]
    pub fn hooks<H, F>(&mut self, hooks: H, filter: F) -> Result<HookedFunctions<H::Function>>
    where
        H: CallHooks,
        F: Fn(&ProfilerInfo, FunctionId) -> Result<Option<H::Function>> + Send + Sync + 'static,
    {
        let functions = HookedFunctions::new();
        let answer = functions.clone();
        self.add_hooks(
            "Setup::hooks",
            EventMask::MONITOR_ENTERLEAVE,
            Box::new(move |info, events| hooks::install(info, events, hooks, filter, functions)),
        )?;
        Ok(answer)
    }

    /// Has hooks called when functions begin and end, with arguments and returned values.
    ///
    /// They cost several times what [`hooks`](Self::hooks) cost, for which the rest is said. The
    /// signature of a function is read once, when that is compiled.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use clr_profiler::prelude::*;
    /// use clr_profiler::{CallHooksWithInfo, EnterCall, HookKinds};
    ///
    /// /// Remembers the first arguments of the functions that have hooks.
    /// struct Arguments(Mutex<Vec<String>>);
    ///
    /// impl CallHooksWithInfo for Arguments {
    ///     /// Its name.
    ///     type Function = String;
    ///     const KINDS: HookKinds = HookKinds::ENTER;
    ///
    ///     fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
    ///         let text = match call.argument(0)? {
    ///             Value::Reference(Some(object)) => call.info().object(object)?.string()?,
    ///             value => format!("{value:?}"),
    ///         };
    ///         if let Ok(mut calls) = self.0.lock() {
    ///             calls.push(format!("{} {text}", call.function().data()));
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn initialize(setup: &mut Setup) -> Result<()> {
    /// setup.hooks_with_info(Arguments(Mutex::default()), |info, function| {
    ///     let name = info.method(function)?.full_name()?;
    ///     Ok((name == "Shop.Cart.Add(string)").then_some(name))
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Wraps `ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo`. **Context**: `initialize`, at
    /// start-up. **Events**: [`MONITOR_ENTERLEAVE`](EventMask::MONITOR_ENTERLEAVE), and for the kinds
    /// of hooks [`ENABLE_FUNCTION_ARGS`](EventMask::ENABLE_FUNCTION_ARGS) and
    /// [`ENABLE_FUNCTION_RETVAL`](EventMask::ENABLE_FUNCTION_RETVAL); this asks for them.
    ///
    /// # Errors
    ///
    /// As for [`hooks`](Self::hooks), without what is said of events and processors.
    #[doc(alias = "SetEnterLeaveFunctionHooks3WithInfo")]
    pub fn hooks_with_info<H, F>(
        &mut self,
        hooks: H,
        filter: F,
    ) -> Result<HookedFunctions<H::Function>>
    where
        H: CallHooksWithInfo,
        F: Fn(&ProfilerInfo, FunctionId) -> Result<Option<H::Function>> + Send + Sync + 'static,
    {
        let functions = HookedFunctions::new();
        let answer = functions.clone();
        self.add_hooks(
            "Setup::hooks_with_info",
            EventMask::MONITOR_ENTERLEAVE
                | EventMask::ENABLE_FUNCTION_ARGS
                | EventMask::ENABLE_FUNCTION_RETVAL,
            Box::new(move |info, _| hooks::install_with_info(info, hooks, filter, functions)),
        )?;
        Ok(answer)
    }

    fn add_hooks(&mut self, call: &'static str, events: EventMask, set: SetHooks) -> Result<()> {
        if self.hooks.is_some() {
            return Err(Error::rule(
                call,
                "there are hooks already; a process has one set of them",
            ));
        }
        self.hooks = Some(set);
        self.add_events(events);
        Ok(())
    }

    /// Sets the hooks, if there are any, after the events.
    pub(crate) fn set_hooks(&mut self, info: &ProfilerInfo) -> Result<()> {
        match self.hooks.take() {
            Some(set) => set(info, self.events).inspect_err(|_| hooks::shut_down(info)),
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
