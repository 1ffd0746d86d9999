//! The sampler under a program that compiles, instantiates, allocates, throws, starts threads, loads,
//! unloads and collects as fast as it can: nothing hangs, nothing crashes, no result is wrong.
//!
//! `SAMPLER_STOPS` makes it a longer run: until there were that many suspensions on each runtime.

use std::env;
use std::fs;
use std::time::Instant;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, STRESS, profilee, runtimes};

const EXAMPLE: Example = Example("cpu_sampler");

/// Runs `Stress` for this many seconds under the sampler; returns samples and suspensions.
fn torture(runtime: &Runtime, seconds: u32, options: &[&str]) -> (u64, u64) {
    let folder = Folder::new();
    let file = folder.path("cpu.txt");
    let mut all = options.to_vec();
    all.extend(["--interval", "100", "--output", file.to_str().unwrap()]);
    let seconds = seconds.to_string();
    let mut command = EXAMPLE.command(runtime, &all, &profilee("Stress"), &[&seconds]);
    // 256 KiB: a collection every other moment.
    command
        .env("COMPlus_GCgen0size", "40000")
        .env("DOTNET_GCgen0size", "0x40000");
    let finished = Finished::of(command);
    assert_eq!(finished.output(), STRESS);
    let table = fs::read_to_string(file).unwrap();
    let numbers = || {
        let report = table.lines().find(|line| line.contains(" samples; "))?;
        let (_, samples) = report.split_once(" s in ")?;
        let (samples, rest) = samples.split_once(" samples; the program was stopped ")?;
        let (stops, _) = rest.split_once(" times")?;
        Some((samples.parse().ok()?, stops.parse().ok()?))
    };
    numbers().unwrap_or_else(|| panic!("{table}"))
}

#[test]
fn nothing_breaks_that_is_sampled_while_it_does_everything() {
    let longer: Option<u64> = env::var("SAMPLER_STOPS")
        .ok()
        .map(|stops| stops.parse().expect("SAMPLER_STOPS is a number"));
    let (seconds, wanted) = match longer {
        Some(stops) => (20, stops),
        None => (2, 50),
    };
    for runtime in runtimes() {
        let begun = Instant::now();
        let (mut samples, mut stops) = (0, 0);
        // By both samplers in turn, with the threads that wait.
        for options in [&["--wall", "--suspend"][..], &["--wall"]]
            .into_iter()
            .cycle()
        {
            let (new_samples, new_stops) = torture(runtime, seconds, options);
            samples += new_samples;
            stops += new_stops;
            println!(
                "{}: {samples} samples in {stops} stops, {:?}",
                runtime.name,
                begun.elapsed()
            );
            if stops >= wanted {
                break;
            }
            let most = if longer.is_some() { 1800 } else { 60 };
            assert!(begun.elapsed().as_secs() < most, "it is too slow");
        }
        assert!(samples >= stops, "each suspension finds a thread at work");
    }
}
