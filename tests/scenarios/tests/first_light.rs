//! A path through all layers: class factory, callbacks, calls to the runtime, a changed
//! method.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Makes `Basics.Program.Answer` return 42.
pub(crate) struct ReplacesBody;

/// `ldc.i4.s 42; ret` after the header of a tiny method of three bytes.
const BODY: &[u8] = &[0b1110, 0x1f, 42, 0x2a];

#[profiler(clsid = clsid("ReplacesBody"))]
impl Profiler for ReplacesBody {
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
        let name = method.full_name()?;
        log::line(format_args!("compiling {name}"));
        if name == "Basics.Program.Answer()" {
            log::line(format_args!("was {:02x?}", method.il_body()?));
            match method.set_il_body(&BODY[..3]) {
                Ok(()) => log::line("a truncated body was accepted"),
                Err(error) => log::line(error),
            }
            method.set_il_body(BODY)?;
            log::line(format_args!("is {:02x?}", method.il_body()?));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ReplacesBody;

    #[test]
    fn a_replaced_body_is_what_the_program_runs() {
        let scenario = Scenario::new("Basics").profiled_by::<ReplacesBody>();
        scenario.compare(|plain, profiled| {
            assert!(plain.stdout.starts_with("answer 41\n"));
            assert_eq!(
                profiled.stdout,
                plain.stdout.replace("answer 41\n", "answer 42\n")
            );
            assert_eq!(profiled.status.code(), Some(7));
            assert!(profiled.logged("was [0e, 1f, 29, 2a]"), "{}", profiled.log);
            assert!(profiled.logged("is [0e, 1f, 2a, 2a]"), "{}", profiled.log);
            // A body that is shorter than its header states never reaches the runtime.
            assert!(
                profiled
                    .log
                    .contains("ICorProfilerInfo::SetILFunctionBody: "),
                "{}",
                profiled.log
            );
            assert!(!profiled.logged("a truncated body was accepted"));
        });
    }

    #[test]
    fn names_are_those_of_the_source() {
        let scenario = Scenario::new("Basics").profiled_by::<ReplacesBody>();
        scenario.on_each_runtime(|runtime, profiled| {
            // Shared generic code does not know its instantiation;
            // before .NET 10 not even that its arguments are classes.
            let (t, u) = if runtime.major < 10 {
                ("T", "U")
            } else {
                ("int", "System.__Canon")
            };
            let shared = if runtime.major < 10 {
                "T"
            } else {
                "System.__Canon"
            };
            let names = [
                "Basics.Program.Main(string[])".to_owned(),
                "Basics.Program.Catch(int)".to_owned(),
                "Basics.Program+<Numbers>d__7.MoveNext()".to_owned(),
                "Basics.Box<int>.Convert<int>(System.Func<int, int>)".to_owned(),
                "Basics.Box<int>.Convert<System.__Canon>(System.Func<int, System.__Canon>)"
                    .to_owned(),
                format!("Basics.Box<{shared}>.Convert<int>(System.Func<{shared}, int>)"),
                format!("Basics.Outer<{t}>+Inner<{u}>.Join({t}, {u}, double[])"),
                format!("Basics.Outer<{t}>+Inner<{u}>.Count(double[], int&)"),
            ];
            for name in names {
                assert!(
                    profiled.logged(&format!("compiling {name}")),
                    "{name} not in {}",
                    profiled.log
                );
            }
        });
    }
}
