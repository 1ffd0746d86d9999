//! Calls of native code, and its calls back.
//!
//! The profiler logs where the program's methods enter native code and return.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

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

#[profiler(clsid = clsid("Transitions"))]
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

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Transitions;

    #[test]
    fn calls_into_native_code_and_back_are_told_in_order() {
        let scenario = Scenario::new("Transitions").profiled_by::<Transitions>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            assert_eq!(plain.output(), (Some(9), "5 6\n4 9 1\n", ""));
            let sort =
                "Transitions.Program.Sort(int[], nuint, nuint, Transitions.Program+Comparison)";
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(
                lines,
                [
                    "out Transitions.Program.Absolute(int) Call",
                    "in Transitions.Program.Absolute(int) Return",
                    "out Transitions.Program.Absolute(int) Call",
                    "in Transitions.Program.Absolute(int) Return",
                    // Two numbers are compared once, by the delegate that native code calls.
                    &format!("out {sort} Call"),
                    "in Transitions.Program+Comparison.Invoke(nint, nint) Call",
                    "out Transitions.Program+Comparison.Invoke(nint, nint) Return",
                    &format!("in {sort} Return"),
                ]
            );
        });
    }
}
