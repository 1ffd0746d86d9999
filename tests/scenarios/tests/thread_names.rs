//! Names of threads arrive as the program set them.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Logs the names that the program gives its threads.
pub(crate) struct ThreadNames;

#[profiler(clsid = clsid("ThreadNames"))]
impl Profiler for ThreadNames {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn thread_name_changed(&self, _: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        log::line(format_args!("{name:?}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ThreadNames;

    #[test]
    fn names_of_threads_are_those_that_the_program_gave() {
        let scenario = Scenario::new("ThreadNames").profiled_by::<ThreadNames>();
        scenario.compare(|plain, profiled| {
            assert_eq!(plain.output(), (Some(4), "5\n3\n2\n10\n300\n", ""));
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let long = "x".repeat(300);
            let names = ["plain", "ä ß", "\u{1d11e}", "with\nlines", &long];
            for name in names {
                assert!(profiled.logged(&format!("{name:?}")), "{}", profiled.log);
            }
        });
    }
}
