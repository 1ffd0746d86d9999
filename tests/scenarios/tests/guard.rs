//! Whatever mistakes a profiler makes, the program behaves as without one.

use clr_profiler_tests::{Scenario, clsid};

#[test]
fn a_panic_in_every_callback_changes_nothing() {
    let scenario = Scenario::new("Basics").profiler("Panics");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(profiled.status.code(), Some(7));
        let panics: std::collections::BTreeSet<&str> = profiled
            .log
            .lines()
            .filter_map(|line| line.split_once(" panicked: "))
            .map(|p| p.0)
            .collect();
        // The hook gets the callback, the message and the location.
        assert!(
            profiled
                .log
                .contains("jit_compilation_started panicked: in jit_compilation_started (at ")
        );
        // There were callbacks of many kinds, so many kinds were tested.
        assert!(panics.len() > 40, "only {panics:?}");
    });
}

#[test]
fn an_error_from_every_callback_changes_nothing() {
    let scenario = Scenario::new("Basics").profiler("Fails");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert!(profiled.logged("module_load_finished failed: as always"));
        assert!(profiled.logged("shutdown failed: as always"));
    });
}

#[test]
fn after_too_many_panics_the_profiler_is_left_alone() {
    let scenario = Scenario::new("Basics").profiler("PanicsUntilRetired");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let disabled = profiled
            .log
            .lines()
            .filter(|line| line.contains("the profiler gets no more callbacks"));
        assert_eq!(disabled.count(), 1, "{}", profiled.log);
        // Threads that were in a callback at that moment finish it.
        let calls = profiled
            .log
            .lines()
            .filter(|line| line.starts_with("called "))
            .count();
        assert!((3..20).contains(&calls), "{}", profiled.log);
    });
}

#[test]
fn a_profiler_that_fails_to_start_leaves_the_program_unprofiled_and_says_so() {
    let cases = [
        ("FailsToStart", "initialize failed: the licence has run out"),
        ("PanicsAtStart", "initialize panicked: no such luck (at "),
    ];
    for (profiler, reason) in cases {
        Scenario::new("Basics")
            .profiler(profiler)
            .compare(|plain, profiled| {
                assert_eq!(profiled.output(), plain.output());
                let mut lines = profiled.log.lines();
                let diagnosis = lines.next().unwrap_or_default();
                let start = format!(
                    "clr_profiler: the profiler {} does not run, the program does: {reason}",
                    clsid(profiler).to_string().to_lowercase()
                );
                assert!(diagnosis.starts_with(&start), "{}", profiled.log);
                assert!(
                    lines.next().is_some_and(|line| line.starts_with(reason)),
                    "{}",
                    profiled.log
                );
            });
    }
}

#[test]
fn a_profiler_that_cancels_its_activation_is_not_a_failure() {
    let scenario = Scenario::new("Basics").profiler("CancelsActivation");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(profiled.log, "cancelled\n");
    });
}
