use clr_profiler::prelude::*;
use clr_profiler::hooks::{CallHooks, HookedFunction};

struct Hooks;

// Nothing catches a panic there: a promise that the compiler cannot check.
impl CallHooks for Hooks {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {}
}

fn raw(info: &ProfilerInfo) -> Result<()> {
    info.set_enter_leave_function_hooks3(None, None, None)
}

fn main() {}
