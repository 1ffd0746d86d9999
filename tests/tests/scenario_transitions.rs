//! Calls of native code, and its calls back.

use clr_profiler_tests::Scenario;

#[test]
fn calls_into_native_code_and_back_are_told_in_order() {
    let scenario = Scenario::new("Transitions").profiler("Transitions");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(plain.output(), (Some(9), "5 6\n4 9 1\n", ""));
        let sort = "Transitions.Program.Sort(int[], nuint, nuint, Transitions.Program+Comparison)";
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
