//! The runtime's trace events of exceptions, and the effect on callbacks where it loses them.

use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes a line for each event about an exception.
pub(crate) struct TracesExceptions;

#[profiler(clsid = clsid("TracesExceptions"))]
impl Profiler for TracesExceptions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.attach(ExceptionEvents::new(|info, event| {
            let name = |function| info.method(function)?.full_name();
            match event {
                ExceptionEvent::Thrown(thrown) => log::line(format_args!(
                    "thrown {} {} {}",
                    thrown.type_name, thrown.message, thrown.hresult
                )),
                ExceptionEvent::FilterBegins(f) => log::line(format_args!("filter {}", name(f)?)),
                ExceptionEvent::FinallyBegins(f) => log::line(format_args!("finally {}", name(f)?)),
                ExceptionEvent::CatchBegins(f) => log::line(format_args!("catch {}", name(f)?)),
                ended => log::line(format_args!("{ended:?}")),
            }
            Ok(())
        }))?;
        Ok(Self)
    }
}

/// Has a callback of exceptions, and does not request it by name.
pub(crate) struct HearsOfExceptions;

#[profiler(clsid = clsid("HearsOfExceptions"))]
impl Profiler for HearsOfExceptions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        let events = info.event_mask2()?;
        log::line(format_args!(
            "thrown {}",
            events.contains(EventMask::MONITOR_EXCEPTIONS)
        ));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("shutdown");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{HearsOfExceptions, TracesExceptions};

    #[test]
    fn exceptions_are_traced_without_callbacks() {
        let scenario = Scenario::new("Throws").profiled_by::<TracesExceptions>();
        scenario.on_each_runtime_where(
        |runtime| runtime.major > 3,
        |runtime, profiled| {
            let plain = scenario.run_plain(runtime);
            assert_eq!(profiled.output(), plain.output());
            let lines: Vec<&str> = profiled.log.lines().collect();
            let mut expected = vec![
                "thrown System.InvalidOperationException first COR_E_INVALIDOPERATION (0x80131509)",
                "filter Throws.Program.Inner()",
                "FilterEnds",
                "finally Throws.Program.Inner()",
                "FinallyEnds",
                "catch Throws.Program.Inner()",
                "catch Throws.Program.Middle()",
                "thrown System.ArgumentException replaced E_INVALIDARG (0x80070057)",
                "catch Throws.Program.Outer()",
                "CatchEnds",
                "thrown System.DivideByZeroException Attempted to divide by zero. 0x80020012",
                "filter Throws.Program.Filtered(int)",
                "FilterEnds",
                "catch Throws.Program.Filtered(int)",
                "CatchEnds",
            ];
            if runtime.major < 9 {
                // `throw;` in the catch block of `Inner`.
                expected.insert(6, expected[0]);
            }
            assert_eq!(lines, expected);
        },
    );
    }

    #[test]
    fn runtimes_that_lose_exceptions_are_not_asked_for_them() {
        let scenario = Scenario::new("Throws").profiled_by::<HearsOfExceptions>();
        scenario.on_each_runtime(|runtime, profiled| {
            let (failures, lines): (Vec<&str>, Vec<&str>) = profiled
                .log
                .lines()
                .partition(|line| line.contains("no callback of exceptions will be called"));
            if runtime.major >= 9 {
                assert_eq!(lines, ["shutdown"]);
                // In the hook, and in the diagnostics.
                assert_eq!(failures.len(), 2, "{failures:?}");
                assert!(failures[0].contains("`ExceptionEvents`"), "{failures:?}");
            } else {
                assert!(failures.is_empty(), "{failures:?}");
                assert_eq!(
                    lines,
                    [["thrown true"; 4].as_slice(), &["shutdown"]].concat()
                );
            }
        });
    }
}
