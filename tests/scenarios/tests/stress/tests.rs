use std::env;

use clr_profiler_tests::{Finished, STRESS, Scenario};

use super::Stress;

/// The duration on each runtime.
const SECONDS: u32 = 3;

#[test]
fn threads_call_while_everything_happens() {
    let longer: Option<u32> = env::var("SCENARIO_STRESS_SECONDS").ok().map(|seconds| {
        seconds
            .parse()
            .expect("SCENARIO_STRESS_SECONDS is a number")
    });
    let seconds = longer.unwrap_or(SECONDS).to_string();
    let scenario = Scenario::new("Stress")
        .profiled_by::<Stress>()
        .arg(&seconds)
        .env("SCENARIO_STRESS", "begins")
        // 256 KiB: a collection every other moment.
        .env("COMPlus_GCgen0size", "40000")
        .env("DOTNET_GCgen0size", "0x40000");
    scenario.on_each_runtime_where(
        |runtime| longer.is_none() || runtime.major == 8,
        |runtime, profiled| {
            assert_eq!(profiled.output(), STRESS, "{}", profiled.log);
            assert_calls(profiled);
            let figures = profiled.log.lines();
            for line in figures.filter(|line| !line.starts_with("right")) {
                println!("{}: {line}", runtime.name);
            }
        },
    );
}

/// Every call was right, or failed legally, and every kind of callback occurred meanwhile.
fn assert_calls(profiled: &Finished) {
    let log = &profiled.log;
    let mut calls = 0;
    for line in log.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or_default();
        match kind {
            "right" => {
                let (count, call) = rest.split_once(' ').unwrap_or_default();
                // Calls about nothing have to fail; only some of the threads are known.
                let fails = call.ends_with(" of none");
                let is_either = call == "current_thread_id";
                assert!(is_either || (count == "0") == fails, "{line} in {log}");
            }
            "failed" => {}
            "callbacks" => {
                assert!(!line.ends_with(" 0"), "{line} in {log}");
            }
            "references" => {}
            "calls" => calls += rest.split(' ').next().map_or(0, |n| n.parse().unwrap_or(0)),
            _ => panic!("{line} in {log}"),
        }
    }
    assert!(calls > 1000, "{log}");
    assert!(
        profiled.logged("references to the runtime balanced true"),
        "{log}"
    );
    let balanced = log
        .lines()
        .any(|line| line.starts_with("references to metadata of ") && !line.contains(" of 0 "));
    assert!(balanced, "{log}");
}
