//! The cost of tracing whole programs, most of them of other people: the CPU time of the process, and the size of the trace.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench tracing                # 3 runs of each
//! cargo bench -p clr_profiler_tests --bench tracing -- 5 server    # 5 of those with this word in their names
//! cargo bench -p clr_profiler_tests --bench tracing -- loaded 15 100   # for 15 minutes, 100 requests a second
//! ```
//!
//! `TRACER_LIBRARY` is the path of a library to be measured, such as that of a build with optimisation across crates, and `TRACER_METHODS` are
//! other methods than those of the row, such as `None!None.None`.
//!
//! The programs are fetched, and run in turn without a profiler and with `method_tracer`, with its default options: all methods of the program
//! itself, with a budget of 5 %. The ratio is that of the medians. "Started, 200 targets" is the start of a precompiled ASP.NET Core
//! program to its first answer, with spans for 200 of the precompiled methods that it calls until then. A second line has the start with a profiler
//! that only refuses the precompiled code of these methods, which is the least that spans in them can cost.
//!
//! `loaded` runs a server without and with the tracer at the same time, asks both at the same rate, and compares their answers,
//! their memory, and the CPU time of a request. The traced one has the default options, all conventions, and a collector.

#[cfg(target_os = "linux")]
mod loaded;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
#[path = "../usage/mod.rs"]
mod usage;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u32> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let number = |at: usize, other| numbers.get(at).copied().unwrap_or(other);
    let part = words
        .iter()
        .find(|word| !word.starts_with('-') && word.parse::<usize>().is_err());
    let result = match part.map_or("", String::as_str) {
        "loaded" => loaded::run(number(0, 15).into(), number(1, 100).max(1)),
        part => measure::run(number(0, 3) as usize, part),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tracing: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("tracing: error: the programs are for Linux");
    ExitCode::FAILURE
}
