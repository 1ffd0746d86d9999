//! Calls that load types, and their preconditions.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::info::Sealed;
use crate::runtime::{is_loading, lock, may_wait};
use clr_profiler_il::token::MethodDef;

/// The modules that are known to have finished loading, on .NET 9.
#[derive(Debug, Default)]
struct FinishedModules(Mutex<HashSet<ModuleId>>);

/// The maximum number of methods that are queried to find one whose type is loaded.
const METHODS: u32 = 10_000;

/// Refuses a call that may load types of a module if the runtime would crash.
///
/// The call needs a thread that has run managed code: runtimes do not check that, and follow a null
/// pointer.
pub(super) fn may_load_types(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    module: ModuleId,
) -> Result<()> {
    let info = info.handle();
    if info.current_thread_id().is_err() {
        return Err(Error::rule_with_code(
            call,
            "the call may load a type, which requires a thread that has run managed code: make it in a \
             callback on such a thread",
            Hresult::CORPROF_E_NOT_MANAGED_THREAD,
        ));
    }
    if is_loading() && !may_wait() {
        return Err(Error::rule(
            call,
            "the call may load a type, which is not possible in this callback: make it in \
             `module_load_finished` or later",
        ));
    }
    if info.runtime_major()? == 9 && !is_loaded(info, module) {
        return Err(Error::rule_with_code(
            call,
            "the module may still be loading, and .NET 9 cannot load its types yet: make the call when one \
             of its types is in use",
            Hresult::CORPROF_E_DATAINCOMPLETE,
        ));
    }
    Ok(())
}

/// Whether the loading of a module has finished. The runtime finishes it some time after its callbacks, and
/// before the first type of the module is loaded: so this searches for a method whose type is loaded.
fn is_loaded(info: &ProfilerInfo, module: ModuleId) -> bool {
    let loaded = &info.extension::<FinishedModules>().0;
    if lock(loaded).contains(&module) {
        return true;
    }
    // During loading, the profiler itself might have loaded a type.
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
