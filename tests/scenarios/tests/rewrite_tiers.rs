//! Bodies are set when their module is loaded, and again when a later tier is compiled.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteError;
use scenario_support::{clsid, log};

const PATIENCE: Duration = Duration::from_secs(60);

/// Adds 1000 to the results of two methods of `Switched`, at load, and removes it from one of them in its next tier.
#[derive(Default)]
pub(crate) struct RewritesTiers {
    compiled: AtomicU32,
}

fn is_own(method: &Method<'_>) -> Result<bool> {
    Ok(method.full_name()? == "Switched.Program.Own()")
}

#[profiler(clsid = clsid("RewritesTiers"))]
impl Profiler for RewritesTiers {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if !info.module_info(module)?.name.ends_with("Switched.dll") {
            return Ok(());
        }
        let metadata = info.module_metadata(module)?;
        let class = metadata.find_type_def_by_name("Switched.Program", None)?;
        for method in metadata.methods(class) {
            let method = method?;
            let name = metadata.method_props(method)?.name;
            if !matches!(name.as_str(), "Own" | "Small") {
                continue;
            }
            let rewritten = info.rewrite_method(module, method, |body, _| {
                body.before_ret(Fragment::new().ldc_i4(1000).add())?;
                Ok(())
            })?;
            let again = info.rewrite_method(module, method, |_, _| Err(Error::other("twice")))?;
            log::line(format_args!(
                "{name} {} {} {}",
                rewritten.is_changed(),
                again.is_first(),
                again.after_bytes() == rewritten.after_bytes()
            ));
            // A failure leaves the earlier body.
            let failed = info.rewrite_method_again(module, method, |body, _| {
                body.before_ret(Fragment::new().add())?;
                Ok(())
            });
            log::line(format_args!("{name} again {}", failed.is_err()));
        }
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if is_own(&method)? && self.compiled.load(Ordering::SeqCst) > 0 {
            let again =
                info.rewrite_method_again(method.module(), method.token(), |_, _| Ok(()))?;
            log::line(format_args!("original {}", !again.is_changed()));
        }
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if is_own(&info.method(function)?)? {
            self.compiled.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Waits for the next tier, while threads of the program call the method.
    fn thread_name_changed(&self, _: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while name == "toggle" && self.compiled.load(Ordering::SeqCst) < 2 {
            if Instant::now() > deadline {
                return Err(Error::other("there is no next tier"));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

/// Adds 1000 to the result of a method with a loop, and removes that before the loop runs for long.
#[derive(Default)]
pub(crate) struct RewritesLoops {
    method: OnceLock<(ModuleId, MethodDef)>,
}

#[profiler(clsid = clsid("RewritesLoops"))]
impl Profiler for RewritesLoops {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Looped.Program.Sum(int)" {
            method.rewrite(|body, _| {
                body.prologue(Fragment::new().ldc_i4(1_000_000).pop())?;
                body.before_ret(Fragment::new().ldc_i4(1000).add())?;
                Ok(())
            })?;
            let _ = self.method.set((method.module(), method.token()));
        }
        Ok(())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if let Some((module, method)) = self.method.get().filter(|_| name == "toggle") {
            let again = info.rewrite_method_again(*module, *method, |_, _| Ok(()));
            let error = again.as_ref().err().and_then(RewriteError::of);
            log::line(format_args!("{:?}", error.map(RewriteError::reason)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{RewritesLoops, RewritesTiers};

    /// From .NET 7 on its code is replaced in the middle of the loop: without the refusal the program gets an
    /// `InvalidProgramException` there.
    #[test]
    fn a_method_keeps_the_body_in_whose_loop_it_may_be() {
        let scenario = Scenario::new("Looped").profiled_by::<RewritesLoops>();
        scenario.on_each_runtime(|runtime, profiled| {
            let expected = (Some(6), "1024\n3000997\n", "");
            assert_eq!(profiled.output(), expected, "{}", profiled.log);
            let reason = match runtime.major < 7 {
                true => "None\n",
                false => "Some(Some(MayBeInLoop))\n",
            };
            assert_eq!(profiled.log, reason);
        });
    }

    #[test]
    fn a_method_loses_its_new_il_in_the_next_tier() {
        let scenario = Scenario::new("Switched")
            .profiled_by::<RewritesTiers>()
            // Tiers follow at once.
            .env("COMPlus_TC_CallCountingDelayMs", "0");
        scenario.on_each_runtime(|_, profiled| {
            let (stdout, log) = (&profiled.stdout, &profiled.log);
            assert_eq!(profiled.status.code(), Some(9), "{stdout}{log}");
            assert!(stdout.starts_with("at first: 1041 1051 5 6 "), "{stdout}");
            assert!(stdout.contains("\nwrong 0\n"), "{stdout}");
            // The last of the lines.
            let last = stdout.rfind("\noff: 41 1051 5 6 ");
            assert!(last > stdout.find("\nwrong 0\n"), "{stdout}{log}");
            for line in [
                "Own true false true",
                "Small true false true",
                "Own again true",
                "Small again true",
                "original true",
            ] {
                assert!(log.lines().any(|logged| logged == line), "{line}: {log}");
            }
            // A callback of a thread that still compiles may end after the runtime.
            let failed = |line: &str| line.contains("failed") && !line.ends_with("has shut down");
            assert!(!log.lines().any(failed), "{log}");
        });
    }
}
