//! Events are changed by calls of the program, like by a switch of a profiler.

use std::sync::OnceLock;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use scenario_support::{clsid, log};

static INFO: OnceLock<ProfilerInfo> = OnceLock::new();

/// Makes a method of the program request events and remove them again.
pub(crate) struct ChangesEvents;

#[profiler(clsid = clsid("ChangesEvents"))]
impl Profiler for ChangesEvents {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "NativeCalls" || method.name()? != "Small" {
            return Ok(());
        }
        INFO.get_or_init(|| info.clone());
        let call = NativeCall::new(|| match INFO.get().map(change) {
            Some(Err(error)) => log::line(error),
            changed => log::line(format_args!("{changed:?}")),
        });
        method.rewrite(|body, cx| {
            let mut code = Fragment::new();
            code.append(&cx.call_native(&call)?);
            body.prologue(&code)?;
            Ok(())
        })?;
        Ok(())
    }
}

fn change(info: &ProfilerInfo) -> Result<()> {
    let before = info.event_mask2()?;
    info.set_event_mask2(before | EventMask::MONITOR_CLASS_LOADS)?;
    if info.event_mask2()? == before {
        return Err(Error::other("nothing has changed"));
    }
    info.set_event_mask2(before)
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ChangesEvents;

    #[test]
    fn events_are_changed_by_what_the_program_calls() {
        let scenario = Scenario::new("NativeCalls").profiled_by::<ChangesEvents>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            // The program calls the method twice.
            assert_eq!(profiled.log, "Some(Ok(()))\n".repeat(2));
        });
    }
}
