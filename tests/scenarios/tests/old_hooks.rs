//! Hooks of older generations see the same calls.
//!
//! The profiler sets hooks of the first and second generation, and the mapper without client data.

#![allow(deprecated, reason = "the first two generations of hooks")]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use clr_profiler::hooks::Hooked;
use clr_profiler::prelude::*;
use clr_profiler_sys as sys;
use scenario_support::{clsid, log};

/// Counts how often methods of `Calls` are entered and left, with hooks of the generation that
/// `SCENARIO_HOOKS` names.
pub(crate) struct OldHooks;

static INFO: OnceLock<ProfilerInfo> = OnceLock::new();
/// The functions with hooks; the number that hooks get is an index in it, from 1.
static HOOKED: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
/// By name: how often it was entered, left, and ended by a tail call.
static COUNTS: Mutex<BTreeMap<String, [u32; 3]>> = Mutex::new(BTreeMap::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn map(function: FunctionId) -> Hooked {
    let method = INFO.get().and_then(|info| info.method(function).ok());
    let Some(name) = method.and_then(|method| method.full_name().ok()) else {
        return Hooked::No;
    };
    // One of the program's methods has none.
    if !name.starts_with("Calls.") || name.contains("Half") {
        return Hooked::No;
    }
    let name = name.split('(').next().unwrap_or_default().to_owned();
    let mut hooked = locked(&HOOKED);
    hooked.push((function.raw(), name));
    Hooked::ByClientId(hooked.len())
}

fn count(client: usize, function: Option<usize>, which: usize) {
    let hooked = locked(&HOOKED);
    let known = client.checked_sub(1).and_then(|place| hooked.get(place));
    let name = match known {
        Some((id, name)) if function.is_none_or(|function| function == *id) => name.clone(),
        _ => "of another function".to_owned(),
    };
    if let Some(count) = locked(&COUNTS).entry(name).or_default().get_mut(which) {
        *count += 1;
    }
}

unsafe extern "system" fn enter(id: sys::FunctionID) {
    count(id, None, 0);
}

unsafe extern "system" fn leave(id: sys::FunctionID) {
    count(id, None, 1);
}

unsafe extern "system" fn tailcall(id: sys::FunctionID) {
    count(id, None, 2);
}

unsafe extern "system" fn enter2(
    function: sys::FunctionID,
    client: usize,
    _frame: sys::COR_PRF_FRAME_INFO,
    _arguments: *mut sys::COR_PRF_FUNCTION_ARGUMENT_INFO,
) {
    count(client, Some(function), 0);
}

unsafe extern "system" fn leave2(
    function: sys::FunctionID,
    client: usize,
    _frame: sys::COR_PRF_FRAME_INFO,
    _value: *mut sys::COR_PRF_FUNCTION_ARGUMENT_RANGE,
) {
    count(client, Some(function), 1);
}

unsafe extern "system" fn tailcall2(
    function: sys::FunctionID,
    client: usize,
    _frame: sys::COR_PRF_FRAME_INFO,
) {
    count(client, Some(function), 2);
}

#[profiler(clsid = clsid("OldHooks"))]
impl Profiler for OldHooks {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::MONITOR_ENTERLEAVE);
        INFO.get_or_init(|| info.clone());
        let generation = std::env::var("SCENARIO_HOOKS").unwrap_or_default();
        // SAFETY: the hooks do not unwind, and only count: that is sound in any function on any
        // thread, for as long as the library is loaded, which is forever.
        let set = unsafe {
            match generation.as_str() {
                "1" => {
                    info.set_enter_leave_function_hooks(Some(enter), Some(leave), Some(tailcall))
                }
                _ => info.set_enter_leave_function_hooks2(
                    Some(enter2),
                    Some(leave2),
                    Some(tailcall2),
                ),
            }
        };
        log::line(format_args!("set {set:?}"));
        info.set_function_id_mapper(map)?;
        Ok(Self)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        for (name, counts) in locked(&COUNTS).iter() {
            log::line(format_args!("{name} {counts:?}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::{Scenario, compiles_twice};

    use super::OldHooks;

    #[test]
    fn old_hooks_count_calls() {
        for generation in ["1", "2"] {
            let scenario = Scenario::new("Calls")
                .profiled_by::<OldHooks>()
                .env("SCENARIO_HOOKS", generation)
                .env("COMPlus_TieredCompilation", "0");
            scenario.on_each_runtime(|runtime, profiled| {
                assert_eq!(profiled.output(), scenario.run_plain(runtime).output());
                let mut lines: Vec<&str> = profiled.log.lines().collect();
                if compiles_twice(runtime) {
                    // It may not be inlined.
                    lines.retain(|line| *line != "Calls.Counter..ctor [1, 1, 0]");
                }
                assert_eq!(
                    lines,
                    [
                        "set Ok(())",
                        "Calls.Counter.From [1, 1, 0]",
                        "Calls.Program.Add [1000, 1000, 0]",
                        "Calls.Program.Factorial [4, 4, 0]",
                        "Calls.Program.Last [1, 1, 0]",
                        "Calls.Program.Made [1, 1, 0]",
                        "Calls.Program.Main [1, 1, 0]",
                        "Calls.Program.Mixed [1, 1, 0]",
                        "Calls.Program.Product [1, 1, 0]",
                        "Calls.Program.Show<System.__Canon> [1, 1, 0]",
                        "Calls.Program.Show<int> [1, 1, 0]",
                        // It throws: it is not left by a return. `Half` has no hooks.
                        "Calls.Program.Throws [1, 0, 0]",
                    ]
                );
            });
        }
    }
}
