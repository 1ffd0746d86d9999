//! A profiler decides what is inlined, and knows what was.

use clr_profiler_tests::Scenario;

#[test]
fn what_a_profiler_refuses_is_not_inlined() {
    let scenario = Scenario::new("Inlines")
        .profiler("Inlines")
        // Inlining is of optimised code.
        .env("COMPlus_TieredCompilation", "0");
    scenario.compare(|plain, profiled| {
        let inlined = "CallsFree,! CallsKept,! CallsBoth,CallsBoth,!\n";
        assert_eq!(
            plain.output(),
            (Some(8), &*format!("{inlined}{inlined}"), "")
        );
        assert_eq!(
            profiled.output(),
            (
                Some(8),
                "CallsFree,! Kept,! CallsBoth,Kept,!\n\
                 Free,! Kept,! CallsBoth,Kept,!\n",
                ""
            ),
            "{}",
            profiled.log
        );
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(
            lines,
            [
                "compiling Main",
                "compiling Say",
                "compiling CallsFree",
                "Free into CallsFree",
                "compiling Who",
                "compiling CallsKept",
                "Kept into CallsKept",
                // It was refused.
                "compiling Kept",
                "compiling CallsBoth",
                "Free into CallsBoth",
                "Kept into CallsBoth",
                "compiling .ctor",
                "inliners true, total true, rest true, of another module 0, some call it true",
                // The program is not precompiled.
                "of the program: ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod failed \
                 with CORPROF_E_DATAINCOMPLETE (0x80131351): the runtime is still loading what was \
                 asked for: ask again later",
                "compiling Run",
                // `CallsFree` was compiled again, with nothing inlined.
                "compiling Free",
            ]
        );
    });
}
