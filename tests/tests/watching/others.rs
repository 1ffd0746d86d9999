//! The examples that rewrite, replace or list methods, to each end of a program.

use clr_profiler_tests::Example;

use crate::endings::{Ending, endings};

#[test]
fn jit_logger_has_its_summary_however_the_program_ends() {
    let options = ["--summary"];
    endings(
        Example("jit_logger"),
        &options,
        "collect",
        |runtime, ending, results| {
            assert!(
                results.contains("[jit] Watched.Collections.Run()\n"),
                "{results}"
            );
            let summaries = results.lines().filter(|line| line.ends_with("  all"));
            // One more if methods were compiled after the signal.
            let most = if ending == Ending::Terminate { 2 } else { 1 };
            let expected = if ending.is_seen(runtime) {
                1..=most
            } else {
                0..=0
            };
            assert!(expected.contains(&summaries.count()), "{results}");
        },
    );
}

#[test]
fn method_logger_leaves_the_ends_of_a_program_as_they_are() {
    endings(Example("method_logger"), &[], "collect", |_, _, results| {
        assert!(
            results.contains("< Watched.Collections.Run()\n"),
            "{results}"
        );
        assert!(results.ends_with('\n'));
    });
}

#[test]
fn return_inspector_leaves_the_ends_of_a_program_as_they_are() {
    endings(
        Example("return_inspector"),
        &[],
        "count",
        |_, _, results| {
            assert!(
                results.contains("Watched.Counted.Deep(int) = "),
                "{results}"
            );
            assert!(results.ends_with('\n'));
        },
    );
}

#[test]
fn hot_patch_leaves_the_ends_of_a_program_as_they_are() {
    endings(
        Example("hot_patch"),
        &[],
        "collect",
        |runtime, ending, results| {
            let is_early = results.is_empty() && !ending.is_seen(runtime);
            assert!(is_early || results.contains("  state  "), "{results}");
        },
    );
}
