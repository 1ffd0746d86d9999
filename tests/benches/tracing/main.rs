//! The cost of tracing whole programs, most of them of other people: the CPU time of the process, and the size of the trace.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench tracing                # 3 runs of each
//! cargo bench -p clr_profiler_tests --bench tracing -- 5 server    # 5 of those with this word in their names
//! ```
//!
//! The programs are fetched, and run in turn without a profiler and with `method_tracer`, with its default options: all methods of the program
//! itself, with a budget of 5 %. The ratio is that of the medians. "Started, 200 targets" is the start of a precompiled ASP.NET Core
//! program to its first answer, with spans for 200 of the methods that it calls until then.

#[cfg(target_os = "linux")]
mod measure;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok());
    let part = words
        .iter()
        .find(|word| !word.starts_with('-') && word.parse::<usize>().is_err());
    match measure::run(rounds.unwrap_or(3), part.map_or("", String::as_str)) {
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
