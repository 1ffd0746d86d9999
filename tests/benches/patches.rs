//! The cost of patches: nanoseconds a call of a method that does nothing else, with each kind of patch, and
//! with an empty native function that is called with a GC transition.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench patches            # 1001 rounds
//! cargo bench -p clr_profiler_tests --bench patches -- 3001
//! ```
//!
//! The program times loops of ten thousand calls, way by way in each round, so that other activity of the machine
//! affects all alike, and few loops are interrupted; the figures are medians. "added" is the time more than that of the method without a patch, and "ratio"
//! the added time of a way by that of one empty `calli`. All code is optimised from the start.
//!
//! `... -- 3001 only 3` runs the fourth way alone, for `perf record`.

use std::error::Error;
use std::process::ExitCode;

use clr_profiler_launcher::{ProfilerLibrary, find_library};
use clr_profiler_tests::{Runtime, clsid, matrix, profilee};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// In the order of the program.
const WAYS: [&str; 15] = [
    "not patched",
    "empty calli",
    "two empty calli",
    "before",
    "before and after",
    "before, no values",
    "before and after, no values",
    "before, get an i32, alone",
    "before, get an i32",
    "before, set an i32",
    "before, get and set an i32",
    "before, get a string of 4",
    "before and after, keep a u64",
    "count",
    "record an i32",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok());
    let (rounds, only) = (numbers.next().unwrap_or(1001), numbers.next());
    for runtime in matrix() {
        if let Err(error) = run(runtime, rounds, only) {
            eprintln!("patches: error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(runtime: &Runtime, rounds: u32, only: Option<u32>) -> Result<()> {
    let library = find_library("scenarios")?;
    let library = ProfilerLibrary::new(library, clsid("TimesPatches"))?;
    let medians = medians(runtime, rounds, only, library)?;
    println!("{}, {rounds} rounds of 10,000 calls", runtime.name);
    if let (Some(only), [time]) = (only, &medians[..]) {
        let name = WAYS.get(only as usize).ok_or("there is no such way")?;
        println!("{name:32}{time:>8.2} ns");
        return Ok(());
    }
    let [unpatched, empty, ..] = medians[..] else {
        return Err("there are no figures".into());
    };
    println!("{:32}{:>11}{:>10}{:>8}", "", "a call", "added", "ratio");
    for (name, time) in WAYS.iter().zip(&medians) {
        let added = time - unpatched;
        let ratio = added / (empty - unpatched);
        println!("{name:32}{time:>8.2} ns{added:>10.2}{ratio:>8.2}");
    }
    Ok(())
}

/// The nanoseconds of each way.
fn medians(
    runtime: &Runtime,
    rounds: u32,
    only: Option<u32>,
    library: ProfilerLibrary,
) -> Result<Vec<f64>> {
    let arguments = [Some(rounds), only];
    let arguments: Vec<String> = arguments.iter().flatten().map(u32::to_string).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut launch = runtime.launch(&profilee("PatchedCalls"), &arguments);
    for prefix in ["COMPlus", "DOTNET"] {
        launch.env(format!("{prefix}_TieredCompilation"), "0");
    }
    let log = std::env::temp_dir().join(format!("patches-{}", std::process::id()));
    launch.env("SCENARIO_LOG", &log);
    launch.profiler(library);
    let output = launch.command()?.output()?;
    let failures = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    if !output.status.success() || !failures.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}: {stderr}{failures}", runtime.name, output.status).into());
    }
    let count = only.map_or(WAYS.len(), |_| 1);
    let mut times = vec![Vec::new(); count];
    for line in String::from_utf8(output.stdout)?.lines() {
        let mut figures = line.split_whitespace();
        for times in &mut times {
            let figure = figures.next().ok_or("a figure is missing")?;
            times.push(figure.parse::<f64>()?);
        }
    }
    let medians = times.iter_mut().map(|times| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().ok_or("no rounds")
    });
    Ok(medians.collect::<std::result::Result<_, _>>()?)
}
