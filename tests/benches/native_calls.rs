//! The cost of a call from rewritten code: nanoseconds a call of a method that does
//! nothing else, with each kind of call inserted at its start.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench native_calls            # 31 rounds
//! cargo bench -p clr_profiler_tests --bench native_calls -- 101
//! ```
//!
//! The program times loops of a million calls, way by way in each round, so that other activity of the
//! machine affects all alike; the figures are medians. It runs once without a profiler, where all
//! ways are the same, and once with the calls. All code is optimised from the start.

use std::error::Error;
use std::process::ExitCode;

use clr_profiler_launcher::{ProfilerLibrary, find_library};
use clr_profiler_tests::{Runtime, clsid, matrix, profilee};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// In the order of the program.
const WAYS: [&str; 8] = [
    "nothing",
    "call of the helper",
    "calli, guarded",
    "calli, raw",
    "calli, guarded, without transition",
    "calli, raw, without transition",
    "reentrancy guard of the profiler",
    "reentrancy guard in a field",
];

fn main() -> ExitCode {
    let rounds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    for runtime in matrix() {
        if let Err(error) = run(runtime, rounds.unwrap_or(31)) {
            eprintln!("native_calls: error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(runtime: &Runtime, rounds: u32) -> Result<()> {
    let library = find_library("scenarios")?;
    let library = ProfilerLibrary::new(library, clsid("TimesCalls"))?;
    let unprofiled = medians(runtime, rounds, None)?;
    let profiled = medians(runtime, rounds, Some(library))?;
    println!("{}, {rounds} rounds of 1,000,000 calls", runtime.name);
    println!("{:38}{:>11}{:>10}{:>8}", "", "a call", "more", "ratio");
    println!("{:38}{:>8.2} ns", "unprofiled", unprofiled[0]);
    for (name, time) in WAYS.iter().zip(&profiled) {
        if runtime.major < 5 && name.ends_with("without transition") {
            println!("{name:38}    refused");
            continue;
        }
        let more = time - unprofiled[0];
        let ratio = time / unprofiled[0];
        println!("{name:38}{time:>8.2} ns{more:>10.2}{ratio:>8.2}");
    }
    Ok(())
}

/// The nanoseconds of each way.
fn medians(runtime: &Runtime, rounds: u32, library: Option<ProfilerLibrary>) -> Result<Vec<f64>> {
    let mut launch = runtime.launch(&profilee("NativeCalls"), &[&rounds.to_string()]);
    for prefix in ["COMPlus", "DOTNET"] {
        launch.env(format!("{prefix}_TieredCompilation"), "0");
    }
    launch.env("HELPER", profilee("helper/Helper"));
    if let Some(library) = library {
        launch.profiler(library);
    }
    let output = launch.command()?.output()?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}: {stderr}", runtime.name, output.status).into());
    }
    let mut times = vec![Vec::new(); WAYS.len()];
    for line in String::from_utf8(output.stdout)?.lines() {
        let mut figures = line.split_whitespace();
        for times in &mut times {
            times.push(
                figures
                    .next()
                    .ok_or("a figure is missing")?
                    .parse::<f64>()?,
            );
        }
    }
    let medians = times.iter_mut().map(|times| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().ok_or("no rounds")
    });
    Ok(medians.collect::<std::result::Result<_, _>>()?)
}
