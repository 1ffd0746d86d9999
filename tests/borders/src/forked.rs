//! A profiler of a program that forks: it reports the process in which its code runs.

use clr_profiler::prelude::*;
use scenario_support::clsid;

use crate::told;

pub(crate) struct Forked;

impl Drop for Forked {
    fn drop(&mut self) {
        told("dropped");
    }
}

#[profiler(clsid = clsid("Forked"))]
impl Profiler for Forked {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| told(failure));
        told("initialized");
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if info.method(function)?.full_name()?.starts_with("Forks.") {
            told("compiling");
        }
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        // Waits for the threads that are in a call.
        told(format_args!(
            "shutdown {:?}",
            info.runtime_information().map(|_| ())
        ));
        Ok(())
    }
}
