//! Hooks and mapper have one owner: `Setup`, or the profiler itself.

#![allow(deprecated, reason = "hooks of all generations are refused")]

use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler::hooks::{
    CallHooks, CallHooksWithInfo, EnterCall, Hooked, HookedFunction, HookedFunctions,
};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Counts calls by the data that is kept for each function.
struct Counts;

// SAFETY: `enter` touches nothing but an atomic.
unsafe impl CallHooks for Counts {
    type Function = AtomicU32;

    fn enter(&self, function: &'static HookedFunction<AtomicU32>) {
        function.fetch_add(1, Ordering::Relaxed);
    }
}

impl CallHooksWithInfo for Counts {
    type Function = AtomicU32;

    fn enter(&self, call: &EnterCall<'_, AtomicU32>) -> Result<()> {
        call.function().data().fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Sets hooks by `Setup` as `SCENARIO_HOOKS` says, and then tries every other way to set hooks or a
/// mapper: those of `Calls` would be called with numbers that are not `Setup`'s.
pub(crate) struct OwnsHooks(HookedFunctions<AtomicU32>);

#[profiler(clsid = clsid("OwnsHooks"))]
impl Profiler for OwnsHooks {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let filter = |info: &ProfilerInfo, function| {
            let name = info.method(function)?.full_name()?;
            Ok(name.starts_with("Calls.").then(AtomicU32::default))
        };
        match std::env::var("SCENARIO_HOOKS").as_deref() {
            Ok("fast") => setup.hooks(Counts, filter),
            Ok("mapper") => {
                info.set_function_id_mapper(|_| Hooked::ById)?;
                setup.hooks(Counts, filter)
            }
            Ok("mapper2") => {
                info.set_function_id_mapper2(|_| Hooked::ByClientId(4))?;
                setup.hooks_with_info(Counts, filter)
            }
            Ok("native") => {
                // SAFETY: the hook does nothing.
                unsafe { info.set_enter_leave_function_hooks(Some(nothing), None, None) }?;
                setup.hooks(Counts, filter)
            }
            _ => setup.hooks_with_info(Counts, filter),
        }
        .map(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if !info.method(function)?.full_name()?.contains(".Main(") {
            return Ok(());
        }
        // SAFETY: there is no hook.
        let native = unsafe {
            [
                info.set_enter_leave_function_hooks(None, None, None),
                info.set_enter_leave_function_hooks2(None, None, None),
                info.set_enter_leave_function_hooks3(None, None, None),
                info.set_enter_leave_function_hooks3_with_info(None, None, None),
            ]
        };
        let mappers = [
            info.set_function_id_mapper2(|_| Hooked::ById),
            info.set_function_id_mapper2(|_| Hooked::ByClientId(0x4141_4141_4140)),
            info.set_function_id_mapper(|_| Hooked::ById),
        ];
        for outcome in native.into_iter().chain(mappers) {
            match outcome {
                Ok(()) => log::line("set"),
                Err(error) => log::line(error),
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let calls = self
            .0
            .iter()
            .map(|function| function.load(Ordering::Relaxed));
        log::line(format_args!("calls {}", calls.sum::<u32>()));
        Ok(())
    }
}

unsafe extern "system" fn nothing(_function: usize) {}
