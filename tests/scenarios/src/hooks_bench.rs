//! The profilers of the hooks benchmark: hooks of the component, and hooks written in C.

use std::sync::atomic::{AtomicU64, Ordering};

use clr_profiler::hooks::{
    CallHooks, FunctionEnter3, FunctionLeave3, FunctionTailcall3, Hooked, HookedFunction,
};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// As in the library in C: how often a function was entered and left.
#[derive(Default)]
#[repr(C)]
struct Calls {
    entered: AtomicU64,
    left: AtomicU64,
    /// Written by [`Reads`] alone.
    ticks: AtomicU64,
}

fn add_one(to: &AtomicU64) {
    to.store(to.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts in the cheapest way, for one thread.
struct Counts;

// SAFETY: the hooks touch atomics only.
unsafe impl CallHooks for Counts {
    type Function = Calls;

    fn enter(&self, calls: &'static HookedFunction<Calls>) {
        add_one(&calls.entered);
    }

    fn leave(&self, calls: &'static HookedFunction<Calls>) {
        add_one(&calls.left);
    }
}

/// Counts in the cheapest way, and reads the processor's counter each time: the least that times cost.
struct Reads;

// SAFETY: the hooks read a counter and touch atomics.
unsafe impl CallHooks for Reads {
    type Function = Calls;

    fn enter(&self, calls: &'static HookedFunction<Calls>) {
        add_one(&calls.entered);
        calls.ticks.store(ticks(), Ordering::Relaxed);
    }

    fn leave(&self, calls: &'static HookedFunction<Calls>) {
        add_one(&calls.left);
        calls.ticks.store(ticks(), Ordering::Relaxed);
    }
}

fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: each x86-64 processor has the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Whether the function is the one whose calls are measured.
fn is_measured(info: &ProfilerInfo, function: FunctionId) -> bool {
    info.method(function)
        .and_then(|method| method.name())
        .is_ok_and(|name| name == "CountBench")
}

/// Sets hooks for one function: those of the library that `HOOKS_LIBRARY` names, or its own; with `HOOKS_READ_CLOCK`
/// these read a clock.
pub(crate) struct Measures(Box<dyn Fn() + Send + Sync>);

#[profiler(clsid = clsid("Measures"))]
impl Profiler for Measures {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        let write = |calls: &Calls| {
            let [entered, left] = [&calls.entered, &calls.left].map(|n| n.load(Ordering::Relaxed));
            log::line(format_args!("{entered} {left}"));
        };
        let Some(library) = std::env::var_os("HOOKS_LIBRARY") else {
            let filter = |info: &ProfilerInfo, function| {
                Ok(is_measured(info, function).then(Calls::default))
            };
            let functions = match std::env::var_os("HOOKS_READ_CLOCK") {
                None => setup.hooks(Counts, filter)?,
                Some(_) => setup.hooks(Reads, filter)?,
            };
            return Ok(Self(Box::new(move || {
                functions.iter().for_each(|calls| write(calls.data()));
            })));
        };
        setup.add_events(EventMask::MONITOR_ENTERLEAVE);
        // SAFETY: loading the library runs no code.
        let library = unsafe { libloading::Library::new(library) }.map_err(Error::other)?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the symbols are functions and stubs of these types.
        let (enter, leave, tailcall) = unsafe {
            (
                *library
                    .get::<FunctionEnter3>(b"c_enter")
                    .map_err(Error::other)?,
                *library
                    .get::<FunctionLeave3>(b"c_leave")
                    .map_err(Error::other)?,
                *library
                    .get::<FunctionTailcall3>(b"c_tailcall")
                    .map_err(Error::other)?,
            )
        };
        let calls: &'static Calls = Box::leak(Box::default());
        let asked = info.clone();
        info.set_function_id_mapper2(move |function| {
            if is_measured(&asked, function) {
                Hooked::ByClientId((&raw const *calls).expose_provenance())
            } else {
                Hooked::No
            }
        })?;
        // SAFETY: they preserve the same registers as the component's stubs, and do not unwind.
        unsafe { info.set_enter_leave_function_hooks3(Some(enter), Some(leave), Some(tailcall))? };
        Ok(Self(Box::new(move || write(calls))))
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        (self.0)();
        Ok(())
    }
}
