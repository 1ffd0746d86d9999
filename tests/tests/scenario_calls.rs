//! Hooks see each call of the program, its arguments and what it returned.

use clr_profiler_tests::Scenario;

#[test]
fn hooks_see_calls_arguments_and_returned_values() {
    let scenario = Scenario::new("Calls")
        .profiler("SeesCalls")
        // Only optimised code has tail calls.
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|runtime, profiled| {
        assert_eq!(
            profiled.output(),
            (
                Some(5),
                "sum 497500\nmixed 1099511627772\ncounter 255\nfactorial 24\nmade 6 7\nhalf True\n\
                 generic StringaInt321\ncaught\nlast 110\n",
                ""
            )
        );
        let lines: Vec<&str> = profiled.log.lines().collect();
        // .NET Core 3.1 does not show the second register of a returned structure.
        let made = if runtime.major < 5 {
            "(6, 0)"
        } else {
            "(6, 7)"
        };
        assert_eq!(
            lines,
            [
                "Add entered 1000 499500, left 1000 497500",
                "enter Main []",
                "enter Mixed [1:1, 4:-7, 8:1099511627776, reference true, (3, -4)]",
                "leave Mixed 8:1099511627772",
                "enter Counter.From [reference true, 1:250]",
                "leave Counter.From 4:255",
                "enter Factorial [4:4]",
                "enter Factorial [4:3]",
                "enter Factorial [4:2]",
                "enter Factorial [4:1]",
                "leave Factorial 4:1",
                "leave Factorial 4:2",
                "leave Factorial 4:6",
                "leave Factorial 4:24",
                "enter Made [4:6, 8:7]",
                &format!("leave Made {made}"),
                "enter Half [5]",
                "leave Half 2.5",
                // Only the enter hook knows what shared code is called for.
                "enter Show<System.__Canon> of System.String [reference true]",
                "leave Show<System.__Canon> of System.__Canon reference true",
                "enter Show<int> of System.Int32 [4:1]",
                "leave Show<int> of System.Int32 reference true",
                // It throws: it does not leave.
                "enter Throws [4:9]",
                "enter Last [4:10]",
                "tailcall Last",
                "enter Product [4:10, 4:11]",
                "leave Product 4:110",
                "leave Main 4:5",
            ]
        );
    });
}
