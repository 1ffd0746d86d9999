//! Calls that load types, and where they can be made.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::info::Sealed;
use crate::runtime::{is_loading, lock, may_wait};
use clr_profiler_il::token::MethodDef;

/// The modules of .NET 9 whose loading is known to be over.
#[derive(Debug, Default)]
struct Loaded(Mutex<HashSet<ModuleId>>);

/// How many methods are asked for at the most until one of a loaded type is found.
const METHODS: u32 = 10_000;

/// Refuses a call that may load types of a module where the runtime could not bear that.
///
/// It takes a thread that has run managed code: runtimes do not look, and follow a null pointer.
pub(super) fn may_load_types(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    module: ModuleId,
) -> Result<()> {
    let info = info.handle();
    if info.current_thread_id().is_err() {
        return Err(Error::rule_with_code(
            call,
            "the call may load a type, which takes a thread that has run managed code: make it in a \
             callback on such a thread",
            Hresult::CORPROF_E_NOT_MANAGED_THREAD,
        ));
    }
    if is_loading() && !may_wait() {
        return Err(Error::rule(
            call,
            "the call may load a type, which cannot be done in this callback: make it in \
             `module_load_finished` or later",
        ));
    }
    if info.runtime_major()? == 9 && !is_loaded(info, module) {
        return Err(Error::rule_with_code(
            call,
            "the module may still be loading, where .NET 9 cannot load its types: ask when one of its \
             types is in use",
            Hresult::CORPROF_E_DATAINCOMPLETE,
        ));
    }
    Ok(())
}

/// Whether the loading of a module is over, which goes on after the callbacks that tell of it: the program
/// then has loaded a type of it.
fn is_loaded(info: &ProfilerInfo, module: ModuleId) -> bool {
    let loaded = &info.extension::<Loaded>().0;
    if lock(loaded).contains(&module) {
        return true;
    }
    // Here the profiler might have done so.
    if is_loading() {
        return false;
    }
    let is_used = |method| match info.function_from_token(module, method) {
        Ok(_) => true,
        Err(error) => error.is(Hresult::CORPROF_E_FUNCTION_IS_PARAMETERIZED),
    };
    let found = (1..METHODS).filter_map(MethodDef::from_row).any(is_used);
    if found {
        lock(loaded).insert(module);
    }
    found
}
