//! The examples that rewrite, replace or list methods, to each end of a program.

use clr_profiler_tests::{Example, Runtime};

use super::endings::{Ending, endings};

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

/// The line is written where something can be written at the end.
fn ends_with_the_overhead(runtime: &Runtime, ending: Ending, results: &str) {
    let lines = results
        .lines()
        .filter(|line| line.starts_with("overhead: "));
    // One more if methods were called after the signal.
    let most = if ending == Ending::Terminate { 2 } else { 1 };
    let expected = match ending {
        // The stack overflows where a line is written, and no other is written from then on.
        Ending::Overflow => 0..=most,
        _ if ending.is_seen(runtime) => 1..=most,
        _ => 0..=0,
    };
    assert!(expected.contains(&lines.count()), "{results}");
}

#[test]
fn method_logger_leaves_the_ends_of_a_program_as_they_are() {
    endings(
        Example("method_logger"),
        &[],
        "collect",
        |runtime, ending, results| {
            assert!(
                results.contains("< Watched.Collections.Run()\n"),
                "{results}"
            );
            assert!(results.ends_with('\n'));
            ends_with_the_overhead(runtime, ending, results);
        },
    );
}

#[test]
fn return_inspector_leaves_the_ends_of_a_program_as_they_are() {
    endings(
        Example("return_inspector"),
        &[],
        "count",
        |runtime, ending, results| {
            assert!(
                results.contains("Watched.Counted.Deep(int) = "),
                "{results}"
            );
            assert!(results.ends_with('\n'));
            ends_with_the_overhead(runtime, ending, results);
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
            assert!(
                is_early || results.contains(" longest us  state "),
                "{results}"
            );
        },
    );
}
