//! Hooks of older generations see the same calls.

use clr_profiler_tests::Scenario;

#[test]
fn old_hooks_count_calls() {
    for generation in ["1", "2"] {
        let scenario = Scenario::new("Calls")
            .profiler("OldHooks")
            .env("SCENARIO_HOOKS", generation)
            .env("COMPlus_TieredCompilation", "0");
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(
                lines,
                [
                    "set Ok(())",
                    "Calls.Counter.From [1, 1, 0]",
                    "Calls.Program.Add [1000, 1000, 0]",
                    "Calls.Program.Factorial [4, 4, 0]",
                    "Calls.Program.Last [1, 1, 0]",
                    "Calls.Program.Made [1, 1, 0]",
                    "Calls.Program.Main [1, 1, 0]",
                    "Calls.Program.Mixed [1, 1, 0]",
                    "Calls.Program.Product [1, 1, 0]",
                    "Calls.Program.Show<System.__Canon> [1, 1, 0]",
                    "Calls.Program.Show<int> [1, 1, 0]",
                    // It throws: it does not leave. `Half` has no hooks.
                    "Calls.Program.Throws [1, 0, 0]",
                ]
            );
        });
    }
}
