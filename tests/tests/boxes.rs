//! Arguments and results as objects: what the program is given, for every kind of value.

use clr_profiler_tests::Scenario;

#[test]
fn arguments_and_results_of_every_kind_are_objects() {
    let scenario = Scenario::new("Boxes").profiler("Boxes");
    scenario.compare(|plain, profiled| {
        // By itself, the program says only what its last methods give.
        assert!(
            plain
                .stdout
                .starts_with("twice 42\nreplaced 0 1 Red 3 small 42 by reference 6 7 <")
        );
        assert_eq!(
            profiled.stdout,
            include_str!("expected/boxes.txt"),
            "{}",
            profiled.log
        );
        assert_eq!(profiled.status.code(), Some(5));
        for line in [
            "Nothing: ; this None; result Skipped(Void)",
            "References: Target Target Target Target Target Target; this None; result Target",
            "Pointers: Address Address Address Target; this None; result Address",
            "OnStack: Skipped(ByRefLike) Skipped(ByRefLike) Value Skipped(ByRefLike); this None; \
             result Skipped(ByRefLike)",
            "Typed: Skipped(ByRefLike) Value; this None; result Value",
            "Held: ; this Some(Reference); result Value",
            "Third: Value Reference Target; this Some(Target); result Value",
            "refused the method has no argument 10",
            "refused an object cannot become such a value: there is none of `void`",
            "refused an object cannot become such a value: the type lives on the stack alone",
            "refused an object cannot become a managed pointer",
        ] {
            assert!(profiled.logged(line), "{line}\n{}", profiled.log);
        }
    });
}

#[test]
fn a_framework_whose_values_are_all_boxed_does_what_it_did() {
    let scenario = Scenario::new("Boxes")
        .env("BOX", "everything")
        // Nothing comes precompiled.
        .env("COMPlus_ReadyToRun", "0")
        .env("DOTNET_ReadyToRun", "0")
        .profiler("Boxes");
    scenario.compare(|plain, profiled| {
        let lines = profiled.log.lines();
        let failed: Vec<_> = lines.filter(|line| *line != "boxed").collect();
        assert_eq!(profiled.output(), plain.output(), "{failed:#?}");
        let boxed = profiled.log.lines().filter(|line| *line == "boxed").count();
        assert!(boxed > 400, "{boxed}");
        assert!(failed.is_empty(), "{failed:#?}");
    });
}
