//! Errors of rewrites that break a rule name the line of the source.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Breaks each method of the program: takes values from an empty stack before it returns.
pub(crate) struct ViolationLines;

#[profiler(clsid = clsid("ViolationLines"))]
impl Profiler for ViolationLines {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failed: {failure}")));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: bool,
    ) -> Result<()> {
        let Ok(method) = info.method(function) else {
            return Ok(());
        };
        let name = method.full_name()?;
        if !name.starts_with("Sources.Program.") {
            return Ok(());
        }
        let rewritten = method.rewrite(|body, _| {
            body.before_ret(Fragment::new().pop().pop())?;
            Ok(())
        });
        match rewritten {
            Ok(_) => log::line(format_args!("rewritten: {name}")),
            Err(error) => log::line(format_args!("refused {name}: {error}")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ViolationLines;

    fn name_lines(program: &str) {
        let scenario = Scenario::new(program).profiled_by::<ViolationLines>();
        scenario.compare(|plain, profiled| {
            let log = &profiled.log;
            // Each refused method keeps its IL.
            assert_eq!(profiled.output(), plain.output(), "{log}");
            assert!(!log.contains("failed: "), "{log}");
            // The last statements of these methods, before their ends.
            for (method, line) in [
                ("Constants(int)", "/_/tests/profilees/pdb/Sources.cs:108"),
                ("Others(int)", "/_/tests/profilees/pdb/Sources.cs:126"),
            ] {
                let refused = log
                    .lines()
                    .find(|line| line.starts_with(&format!("refused Sources.Program.{method}: ")));
                let refused = refused.unwrap_or_else(|| panic!("{method}: {log}"));
                assert!(refused.contains(line), "{refused}");
            }
        });
    }

    #[test]
    fn of_a_pdb_next_to_the_assembly() {
        name_lines("pdb/SourcesDebug");
    }

    #[test]
    fn of_an_embedded_pdb() {
        name_lines("pdb/SourcesRelease");
    }
}
