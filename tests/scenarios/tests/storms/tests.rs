//! The programs of the storms, and the assertions about them.

use std::env;

use clr_profiler_tests::{STRESS, Scenario};

use super::Storms;

/// The program does everything right, no callback fails, and each component was busy.
fn storm(components: &str) {
    // A minute for the four kinds of storms around the sampler that interrupts, on three runtimes.
    let default = if components.contains("interrupts") { "5" } else { "2" };
    let seconds = env::var("STORM_SECONDS").unwrap_or_else(|_| default.to_owned());
    let seed = env::var("STORM_SEED").unwrap_or_else(|_| "1".to_owned());
    let is_native = components.contains("others");
    // A detach takes as long as the threads need to leave.
    let seconds = match components.contains("detach") {
        true => format!("{}", seconds.parse::<u32>().unwrap() + 2),
        false => seconds,
    };
    let mut arguments = vec![seconds.as_str()];
    arguments.extend(is_native.then_some("natively"));
    let (code, stdout, stderr) = STRESS;
    let stdout = match is_native {
        true => format!("{stdout}{NATIVELY}"),
        false => stdout.to_owned(),
    };
    let scenario = Scenario::new("Stress")
        .profiled_by::<Storms>()
        .args(&arguments)
        .env("STORM", components)
        .env("STORM_SEED", &seed)
        // A runtime that twice finds a thread in a callback retries a detach after ten minutes; here sooner (hex).
        .env("COMPlus_ProfAPI_DetachMaxSleepMs", "12c")
        // 256 KiB: a collection every other moment.
        .env("COMPlus_GCgen0size", "40000")
        .env("DOTNET_GCgen0size", "0x40000");
    scenario.on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        let what = format!("{} seed {seed}\n{}", runtime.name, counted(log));
        assert_eq!(profiled.output(), (code, &*stdout, stderr), "{what}");
        let mut busy = 0;
        for line in log.lines() {
            // The sampler that interrupts leaves nothing.
            if let Some(left) = line.strip_prefix("after: ") {
                assert_eq!(
                    left, "timers false events false thread false first handler true",
                    "{what}"
                );
                continue;
            }
            if line.starts_with("totals: ")
                || line.starts_with("broken: ")
                || line == "detach Ok(())"
            {
                busy += 1;
                continue;
            }
            if let Some(held) = line.strip_prefix("held ") {
                assert_level(held, &what);
                continue;
            }
            if runtime.major == 3 && line == "ticks 0" {
                busy += 1;
                continue;
            }
            // .NET 8 cannot walk a heap after an unload, and the library says so.
            let is_lost = runtime.major == 8 && components.contains("heap");
            if is_lost && (line.contains("unload") || line == "graphs 0") {
                continue;
            }
            assert!(!line.starts_with("failure"), "{what}");
            let count = line
                .rsplit(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
            assert!(count.is_some_and(|count| count > 0), "{line} of {what}");
            busy += 1;
        }
        // `events` is how another one works.
        let components = components.split(',').filter(|component| *component != "events");
        assert!(busy >= components.count(), "{what}");
        println!("{what}");
    });
}

/// The different lines of a log, each with its number.
fn counted(log: &str) -> String {
    let mut lines: Vec<(&str, usize)> = Vec::new();
    for line in log.lines() {
        match lines.iter_mut().find(|(other, _)| *other == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let lines = lines.iter().map(|(line, count)| format!("{count} x {line}\n"));
    lines.collect()
}

/// An unload leaves nothing of its module but its ID. Maps grow in steps, so most unloads show it.
fn assert_level(held: &str, what: &str) {
    let numbers = held.split(|c: char| !c.is_ascii_digit());
    let held: Vec<i64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let mut grown: Vec<i64> = held.windows(2).map(|two| two[1] - two[0]).collect();
    grown.sort_unstable();
    let median = grown.get(grown.len() / 2);
    if let Some(median) = median.filter(|_| grown.len() >= 16) {
        assert!(*median < 1_500, "{median} bytes an unload: {what}");
    }
}

/// The works of `Stress` that only run `natively`.
const NATIVELY: &str = "Fault right True\n\
     Descend right True\n\
     Shrink right True\n\
     Switch right True\n\
     Link right True\n\
     Execute right True\n\
     Compute right True\n";

/// Without `seen::module_goes` and `module_is_gone` in `profiler/unload_observer.rs`, the driver's ids reach the runtime.
#[test]
fn rewriting_and_rejit_in_modules_that_are_unloaded() {
    storm("rewrite,rejit");
}

/// Without `wait` in `info/departures.rs`, the runtime frees memory that calls still read.
#[test]
fn modules_are_read_while_they_are_unloaded() {
    storm("readers");
}

#[test]
fn the_heap_while_exceptions_and_allocations_are_counted() {
    storm("heap,exceptions,ticks");
}

#[test]
fn exceptions_alone() {
    storm("exceptions");
}

#[test]
fn samples_of_rewritten_methods() {
    storm("sampler,rewrite,exceptions,threads");
}

#[test]
fn hooks_with_the_heap_and_the_sampler() {
    storm("hooks,heap,sampler");
}

#[test]
fn everything_at_once() {
    storm("rewrite,rejit,heap,sampler,exceptions,ticks");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_are_interrupted_in_rewritten_code() {
    storm("interrupts,rewrite,rejit,exceptions");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_are_interrupted_beside_other_signals() {
    storm("interrupts,others");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_are_interrupted_until_a_detach() {
    storm("interrupts,others,detach");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_the_kernel_samples_beside_other_signals() {
    storm("interrupts,events,others");
}
