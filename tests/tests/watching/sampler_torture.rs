//! The sampler under a program that compiles, instantiates, allocates, throws, starts threads, loads,
//! unloads and collects as fast as it can: nothing hangs, nothing crashes, no result is wrong.
//!
//! `SAMPLER_LOOKS` makes it a longer run: until there were so many looks on each runtime.

use std::env;
use std::fs;
use std::time::Instant;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, STRESS, profilee, runtimes};

const EXAMPLE: Example = Example("cpu_sampler");

/// Lets `Stress` run so long under the sampler; gives samples and looks.
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
        let (_, samples) = table.lines().last()?.split_once(" s in ")?;
        let (samples, rest) = samples.split_once(" samples; the program was stopped ")?;
        let (looks, _) = rest.split_once(" times")?;
        Some((samples.parse().ok()?, looks.parse().ok()?))
    };
    numbers().unwrap_or_else(|| panic!("{table}"))
}

#[test]
fn nothing_breaks_that_is_looked_at_while_it_does_everything() {
    let longer: Option<u64> = env::var("SAMPLER_LOOKS")
        .ok()
        .map(|looks| looks.parse().expect("SAMPLER_LOOKS is a number"));
    let (seconds, wanted) = match longer {
        Some(looks) => (20, looks),
        None => (4, 50),
    };
    for runtime in runtimes() {
        let begun = Instant::now();
        let (mut samples, mut looks) = (0, 0);
        // Threads that wait are looked at in every other run.
        for options in [&["--wall"][..], &[]].into_iter().cycle() {
            let (new_samples, new_looks) = torture(runtime, seconds, options);
            samples += new_samples;
            looks += new_looks;
            println!(
                "{}: {samples} samples in {looks} looks, {:?}",
                runtime.name,
                begun.elapsed()
            );
            if looks >= wanted {
                break;
            }
            let most = if longer.is_some() { 1800 } else { 60 };
            assert!(begun.elapsed().as_secs() < most, "it is too slow");
        }
        assert!(samples >= looks, "each look finds somebody at work");
    }
}
