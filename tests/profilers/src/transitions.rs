//! Writes where the program's methods go to native code and come back.

use clr_profiler::prelude::*;

use crate::log;

/// Writes a line for each transition of a method of the program.
pub(crate) struct Transitions;

fn line(
    info: &ProfilerInfo,
    direction: &str,
    function: Option<FunctionId>,
    reason: TransitionReason,
) -> Result<()> {
    let Some(function) = function else {
        return Ok(());
    };
    // Stubs of the runtime have no metadata.
    if let Ok(method) = info.method(function)
        && let Ok(name) = method.full_name()
        && name.starts_with("Transitions.")
    {
        log::line(format_args!("{direction} {name} {reason:?}"));
    }
    Ok(())
}

#[profiler(clsid = crate::clsid("Transitions"))]
impl Profiler for Transitions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn managed_to_unmanaged_transition(
        &self,
        info: &ProfilerInfo,
        function: Option<FunctionId>,
        reason: TransitionReason,
    ) -> Result<()> {
        line(info, "out", function, reason)
    }

    fn unmanaged_to_managed_transition(
        &self,
        info: &ProfilerInfo,
        function: Option<FunctionId>,
        reason: TransitionReason,
    ) -> Result<()> {
        line(info, "in", function, reason)
    }
}
