//! [`Setup::hooks`] and [`Setup::hooks_with_info`].

use std::sync::Mutex;

use super::state::shut_down;
use super::{CallHooks, CallHooksWithInfo, HookedFunctions, fast, with_info};
use crate::error::Result;
use crate::event_mask::EventMask;
use crate::events::CallbackSet;
use crate::ids::FunctionId;
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, lock};

/// Sets the hooks, once the event mask is set.
type SetHooks = Box<dyn FnOnce(&ProfilerInfo, EventMask) -> Result<()> + Send>;

/// The component that sets the hooks when the profiler starts, and disables them when it ends.
struct Hooks(Mutex<Option<SetHooks>>);

impl Component for Hooks {
    fn callbacks(&self) -> CallbackSet {
        CallbackSet::EMPTY
    }

    fn start(&self, info: &ProfilerInfo) -> Result<()> {
        let set = lock(&self.0).take();
        match set {
            Some(set) => set(info, info.events()?).inspect_err(|_| shut_down(info)),
            None => Ok(()),
        }
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        shut_down(info);
        Ok(())
    }
}

/// Registers hooks to be set when the profiler starts, and returns the list of their functions.
fn add<T: Send + Sync + 'static>(
    setup: &mut Setup,
    call: &'static str,
    events: EventMask,
    set: impl FnOnce(&ProfilerInfo, EventMask, HookedFunctions<T>) -> Result<()> + Send + 'static,
) -> Result<HookedFunctions<T>> {
    setup.own_hooks(call)?;
    setup.add_events(events);
    let functions = HookedFunctions::new();
    let kept = functions.clone();
    let set: SetHooks = Box::new(move |info, events| set(info, events, kept));
    setup.attach(Hooks(Mutex::new(Some(set))))?;
    Ok(functions)
}

impl Setup {
    /// Sets enter, leave and tailcall hooks at the lowest possible cost.
    ///
    /// `filter` is called once for each function, when the function is compiled. It returns the
    /// data to keep for the function, or `None` for a function that has no hooks and costs nothing.
    /// The hooks receive this data, and the returned [`HookedFunctions`] lists all functions with
    /// theirs. If two threads compile a function at once, the filter is called twice, and the calls
    /// of the function are divided between the two results.
    ///
    /// The hooks are set when `initialize` has succeeded. Functions that the compiler inlines have
    /// no hooks unless [`EventMask::DISABLE_INLINING`] is set; precompiled code is not used.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use clr_profiler::prelude::*;
    /// use clr_profiler::hooks::{CallHooks, HookedFunction, HookedFunctions};
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
    /// `ICorProfilerInfo3::SetFunctionIDMapper2`. **Context**: `initialize`, at start-up.
    /// **Events**: [`MONITOR_ENTERLEAVE`](EventMask::MONITOR_ENTERLEAVE), which this method adds.
    ///
    /// # Errors
    ///
    /// Returns an error if this `Setup` already has hooks. All other errors are reported after
    /// `initialize` has returned, which then counts as failed: the library has set hooks before (a
    /// process has one set of them), a call of
    /// [`CorProfilerInfoHooks`](crate::hooks::CorProfilerInfoHooks) has set hooks or a mapper, an
    /// event is set that only works with hooks with info, the profiler was attached or is a
    /// notification profiler, or the processor is neither x86-64 nor 64-bit ARM.
    #[doc(alias = "SetEnterLeaveFunctionHooks3")]
    #[doc(alias = "SetFunctionIDMapper2")]
    pub fn hooks<H, F>(&mut self, hooks: H, filter: F) -> Result<HookedFunctions<H::Function>>
    where
        H: CallHooks,
        F: Fn(&ProfilerInfo, FunctionId) -> Result<Option<H::Function>> + Send + Sync + 'static,
    {
        add(
            self,
            "Setup::hooks",
            EventMask::MONITOR_ENTERLEAVE,
            move |info, events, functions| fast::install(info, events, hooks, filter, functions),
        )
    }

    /// Sets enter, leave and tailcall hooks that can read arguments and returned values.
    ///
    /// They cost several times as much as those of [`hooks`](Self::hooks), and otherwise work as
    /// described there. The signature of a function is read once, when the function is compiled.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use clr_profiler::prelude::*;
    /// use clr_profiler::info::ObjectValue;
    /// use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, HookKinds};
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
    ///             ObjectValue::Reference(Some(object)) => call.info().object(object)?.string()?,
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
    /// Wraps `ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo`. **Context**: `initialize`,
    /// at start-up. **Events**: [`MONITOR_ENTERLEAVE`](EventMask::MONITOR_ENTERLEAVE), and for the
    /// kinds of hooks [`ENABLE_FUNCTION_ARGS`](EventMask::ENABLE_FUNCTION_ARGS) and
    /// [`ENABLE_FUNCTION_RETVAL`](EventMask::ENABLE_FUNCTION_RETVAL); this method adds them.
    ///
    /// # Errors
    ///
    /// The errors of [`hooks`](Self::hooks), except those about events and processors.
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
        add(
            self,
            "Setup::hooks_with_info",
            EventMask::MONITOR_ENTERLEAVE
                | EventMask::ENABLE_FUNCTION_ARGS
                | EventMask::ENABLE_FUNCTION_RETVAL,
            move |info, _, functions| with_info::install(info, hooks, filter, functions),
        )
    }
}
