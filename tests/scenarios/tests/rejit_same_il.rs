//! A ReJIT with the same IL changes nothing.

use std::sync::Once;
use std::thread;

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Requests a ReJIT of `Basics.Program.Mix` once it was compiled.
pub(crate) struct Rejits {
    requested: Once,
}

#[profiler(clsid = clsid("Rejits"))]
impl Profiler for Rejits {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self {
            requested: Once::new(),
        })
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Basics.Program.Mix(int, int)" {
            let methods = [(method.module(), method.token())];
            let info = info.clone();
            self.requested.call_once(|| {
                // Never from a callback: the runtime holds locks there.
                thread::spawn(move || {
                    let requested = info
                        .initialize_current_thread()
                        .and_then(|()| info.request_rejit(&methods));
                    log::line(format_args!("requested {requested:?}"));
                });
            });
        }
        Ok(())
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let body = info.il_function_body(module, method)?;
        if control
            .set_il_function_body(&body[..body.len() - 1])
            .is_ok()
        {
            log::line("a truncated body was accepted");
        }
        control.set_il_function_body(&body)?;
        log::line("asked for parameters");
        Ok(())
    }

    fn rejit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let name = info.method(function)?.full_name()?;
        log::line(format_args!(
            "started {name}, original {}",
            rejit == RejitId::ORIGINAL
        ));
        Ok(())
    }

    fn rejit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let known = info.rejit_ids(function)?.contains(&rejit);
        log::line(format_args!("finished {status}, known {known}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Rejits;

    #[test]
    fn rejit_with_the_same_il_changes_nothing() {
        let scenario = Scenario::new("Basics").profiled_by::<Rejits>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            assert!(profiled.logged("requested Ok(())"), "{}", profiled.log);
            assert!(profiled.logged("asked for parameters"), "{}", profiled.log);
            let started = "started Basics.Program.Mix(int, int), original false";
            assert!(profiled.logged(started), "{}", profiled.log);
            assert!(
                profiled.logged("finished S_OK (0x00000000), known true"),
                "{}",
                profiled.log
            );
            assert!(!profiled.logged("a truncated body was accepted"));
        });
    }
}
