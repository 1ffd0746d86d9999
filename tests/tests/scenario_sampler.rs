//! The sampler on programs with deep stacks, and with many threads: it stops them for a bounded part of
//! the time.

use std::collections::HashMap;

use clr_profiler_tests::{Finished, Scenario, runtimes};

const SAMPLES_DEEP: &str = "SamplesDeep";

fn deep(frames: &str, threads: &str, rounds: &str) -> Scenario {
    let deep = Scenario::new("Deep").arg(frames).arg(threads).arg(rounds);
    deep.profiler(SAMPLES_DEEP)
}

/// The numbers that the profiler has logged, by their names.
fn numbers(finished: &Finished) -> HashMap<&str, u64> {
    let words: Vec<&str> = finished.log.split_whitespace().collect();
    let pairs = words.windows(2);
    let numbers = pairs.filter_map(|pair| Some((pair[0], pair[1].parse().ok()?)));
    numbers.collect()
}

/// A fifth of the time, a tenth of a second, and the stop after which the program ended.
fn assert_bounded(finished: &Finished) -> HashMap<&str, u64> {
    let numbers = numbers(finished);
    println!("{numbers:?}");
    let (time, stopped) = (numbers["time"], numbers["stopped"]);
    let bound = time / 5 + 100_000 + numbers["longest"];
    assert!(stopped <= bound, "{numbers:?}");
    assert!(numbers["suspending"] <= stopped, "{numbers:?}");
    numbers
}

#[test]
fn a_deep_stack_is_truncated_and_rarely_walked() {
    deep("20000", "1", "1500").compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let numbers = assert_bounded(profiled);
        assert!(numbers["truncated"] > 0, "{numbers:?}");
    });
}

#[test]
fn all_of_many_threads_have_their_turn() {
    let scenario = deep("20", "2000", "1").env("SCENARIO_THREADS", "2000");
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        program.until_logged("all seen");
        let finished = program.finish();
        let plain = scenario.run_plain(runtime);
        assert_eq!(finished.output(), plain.output());
        let numbers = assert_bounded(&finished);
        assert!(numbers["postponed"] > 0, "{numbers:?}");
    }
}
