//! The messages that `CLR_PROFILER_DIAGNOSTICS` enables, and that there are none without it.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use scenario_support::clsid;

/// Fails when a module is loaded, panics in each compilation, and makes `Main` call a function that panics.
pub(crate) struct Silent;

#[profiler(clsid = clsid("Silent"))]
impl Profiler for Silent {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.panic_limit(u32::MAX);
        Ok(Self)
    }

    fn module_load_finished(&self, _: &ProfilerInfo, _: ModuleId, _: Hresult) -> Result<()> {
        Err(Error::other("as always"))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.name()? == "Main" {
            method.rewrite(|body, cx| {
                let mut code = Fragment::new();
                code.append(&cx.call_native(&NativeCall::new(panics))?);
                body.prologue(&code)?;
                Ok(())
            })?;
        }
        panic!("as ever");
    }
}

fn panics() {
    panic!("called");
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::{Finished, Runtime, Scenario, clsid, profilee, runtimes};

    use super::Silent;

    /// Fails, panics, and calls a function that panics, all without a hook.
    /// The same with a hook, which receives the failures instead.
    const FAILS: &str = "Fails";
    /// No library has it.
    const UNKNOWN: &str = "C0DE0000-0000-4000-8000-00000000FFFF";
    const NULL: &str = "Null";
    const WATCHES: &str = "Watches";

    /// The lines of the library, if the program behaves as without them.
    fn lines<'a>(asked: &'a Finished, silent: &Finished) -> Vec<&'a str> {
        assert_eq!(asked.status, silent.status);
        assert_eq!(asked.stdout, silent.stdout);
        assert!(!silent.stderr.contains("clr_profiler: "), "{silent:?}");
        let lines = asked.stderr.lines();
        lines
            .filter_map(|line| line.strip_prefix("clr_profiler: "))
            .collect()
    }

    /// Runs with and without the variable, and returns the lines that appear only with it.
    fn told(scenario: &Scenario, assert: impl Fn(&Runtime, &[&str])) {
        for runtime in runtimes() {
            let run = |target: &str| {
                let scenario = scenario.clone().env("CLR_PROFILER_DIAGNOSTICS", target);
                scenario.start(runtime).finish()
            };
            let asked = run("stderr");
            let lines = lines(&asked, &run("off"));
            println!("on {}: {lines:#?}", runtime.name);
            assert(runtime, &lines);
        }
    }

    fn times(lines: &[&str], what: &str) -> usize {
        lines.iter().filter(|line| line.contains(what)).count()
    }

    #[test]
    fn what_no_hook_is_told_of_is_told_once_of_each_kind_and_counted() {
        told(
            &Scenario::new("Basics").profiled_by::<Silent>(),
            |_, lines| {
                assert_eq!(lines.len(), 4);
                for start in [
                    "module_load_finished failed: as always",
                    "jit_compilation_started panicked: as ever (at ",
                    "a native call panicked: called (at ",
                ] {
                    assert_eq!(times(lines, start), 1, "{start}");
                }
                let last = lines[3];
                assert!(last.starts_with("in all, module_load_finished failed "));
                assert!(last.contains(" times (E_FAIL (0x80004005)); "));
                assert!(last.contains("jit_compilation_started panicked "));
                assert!(last.contains("a native call panicked 1 time"));
            },
        );
    }

    #[test]
    fn what_a_hook_is_told_of_is_its_own() {
        told(&Scenario::new("Basics").profiler(FAILS), |_, lines| {
            assert_eq!(lines, [""; 0]);
        });
    }

    #[test]
    fn a_class_id_that_the_library_does_not_have_is_told() {
        for runtime in runtimes() {
            let run = |target: &str| {
                let scenario = Scenario::new("Basics");
                let mut launch = runtime.launch(&profilee("Basics"), &[]);
                launch.profiler(scenario.profiler_library(NULL));
                launch.env("CLR_PROFILER_DIAGNOSTICS", target);
                let mut command = launch.command().unwrap();
                // The launcher would refuse it.
                command.env("CORECLR_PROFILER", format!("{{{UNKNOWN}}}"));
                Finished::of(command)
            };
            let asked = run("stderr");
            let lines = lines(&asked, &run("off"));
            println!("on {}: {lines:#?}", runtime.name);
            let unknown = UNKNOWN.to_lowercase();
            let start =
                format!("no profiler runs, the program does: the library has no {{{unknown}}}, ");
            assert!(lines.len() == 1 && lines[0].starts_with(&start));
            let null = clsid(NULL).to_string();
            assert!(lines[0].contains(null.to_lowercase().trim_matches(['{', '}'])));
        }
    }

    /// .NET Core 3.1 has no notification profilers.
    #[test]
    fn a_main_profiler_that_is_listed_with_another_is_told() {
        let scenario = Scenario::new("Basics")
            .profiler(NULL)
            .notification_profiler(WATCHES);
        told(&scenario, |runtime, lines| {
            let watches = clsid(WATCHES);
            let start = format!("the profiler {watches} is listed as a notification profiler and ");
            let expected = usize::from(runtime.major >= 5);
            assert_eq!(times(lines, &start.to_lowercase()), expected);
        });
    }
}
