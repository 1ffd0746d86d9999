//! Fast hooks: they count each call, and disturb none.

use std::collections::BTreeMap;

use clr_profiler_tests::{Finished, Runtime, Scenario};

const COUNTS: &str = "C0DE0000-0000-4000-8000-0000000000C0";

/// A number of the environment, which `.ci/full` sets higher.
fn number_of(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    }
}

/// How often each method began, ended and ended in a tail call, by its name without parameters.
fn calls(finished: &Finished) -> BTreeMap<String, [u64; 3]> {
    let mut calls = BTreeMap::new();
    for line in finished.log.lines() {
        let counts: Vec<u64> = line
            .rsplit(' ')
            .take(3)
            .filter_map(|word| word.parse().ok())
            .collect();
        let [jumped, left, entered] = *counts.as_slice() else {
            panic!("{line}");
        };
        let name = line.split(['(', '<']).next().unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
        let sum: &mut [u64; 3] = calls.entry(name).or_default();
        for (sum, count) in sum.iter_mut().zip([entered, left, jumped]) {
            *sum += count;
        }
    }
    calls
}

fn profiled(mode: &str, number: u64) -> Scenario {
    Scenario::new("Hooked")
        .arg(mode)
        .arg(&number.to_string())
        .profiler(COUNTS)
        // Small enough that collections of garbage come all the time.
        .env("COMPlus_GCgen0size", "40000")
}

#[test]
fn a_million_calls_of_all_shapes_give_what_they_gave() {
    let number = number_of("HOOKED_CALLS", 1_000_000);
    for (variable, value) in [
        ("COMPlus_TieredCompilation", "0"),
        ("COMPlus_JITMinOpts", "1"),
    ] {
        let scenario = profiled("shapes", number).env(variable, value);
        scenario.compare(|without, with| {
            assert_eq!(without.output().0, Some(5), "{without:?}");
            assert_eq!(without.output(), with.output());
            let seen = calls(with);
            let mut all = 0;
            for line in with.stdout.lines().skip(1) {
                let (shape, count) = line.split_once(' ').expect("a name and a number");
                let count: u64 = count.parse().expect("a number");
                all += count;
                assert_eq!(seen[shape], [count, count, 0], "{shape}");
            }
            assert_eq!(all, number);
            let [entered, left, _] = seen["Area"];
            assert_eq!(entered, left);
            assert_eq!(entered, seen["S21"][0]);
        });
    }
}

/// What the program prints and what is counted, by the number of calls.
fn assert_counts(runtime: &Runtime, with: &Finished, number: u64) {
    let seen = calls(with);
    let of = |name: &str| seen.get(name).copied().unwrap_or_default();
    assert_eq!(of("CountDeep"), [number, number, 0], "{}", runtime.name);
    let threads = number / 16 * 16;
    assert_eq!(of("CountThreads"), [threads, threads, 0]);
    // A hundred of three hundred throw, each from four frames deep; every fifth is thrown again in
    // the `finally`, whether there was another exception or not.
    assert_eq!(of("CountThrows"), [1200, 800, 0]);
    assert_eq!(of("CountFinally"), [300, 240, 0]);
    assert_eq!(of("CountCatches"), [300, 300, 0]);
    assert_eq!(of("CountPasses"), [300, 160, 0]);
    assert_eq!(of("TailFew"), [1000, 0, 1000]);
    // Where the other function's arguments do not fit, a helper of the runtime makes the jump: the
    // function returns.
    assert_eq!(of("TailMany"), [1000, 1000, 0]);
    assert_eq!(of("CountFew"), [1000, 1000, 0]);
    assert_eq!(of("CountMany"), [1000, 1000, 0]);
}

#[test]
fn each_call_is_counted_once() {
    let number = number_of("HOOKED_COUNTS", 1_000_000);
    let scenario = profiled("counts", number).env("COMPlus_TieredCompilation", "0");
    scenario.compare(|without, with| {
        assert_eq!(without.output().0, Some(5), "{without:?}");
        assert_eq!(without.output(), with.output());
    });
    scenario.on_each_runtime(|runtime, with| assert_counts(runtime, with, number));
}

#[test]
fn a_panic_ends_the_hooks_and_nothing_else() {
    let scenario = Scenario::new("Hooked")
        .arg("panics")
        .arg("1000")
        .profiler("C0DE0000-0000-4000-8000-0000000000C1");
    scenario.on_each_runtime(|_, profiled| {
        assert_eq!(profiled.output(), (Some(5), "counted 1000\n", ""));
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(
            lines,
            [
                "the filter failed",
                "0",
                "not this function",
                "0",
                "a hook panicked, none is called any more: the tenth call",
                "10",
            ]
        );
    });
}

#[test]
fn what_cannot_be_is_refused() {
    let scenario = Scenario::new("Hello").profiler("C0DE0000-0000-4000-8000-0000000000C2");
    scenario.on_each_runtime(|_, profiled| {
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("there are hooks already"), "{}", lines[0]);
        assert!(lines[1].contains("does not run"), "{}", lines[1]);
        assert!(lines[1].contains("ENABLE_FRAME_INFO"), "{}", lines[1]);
    });
}
