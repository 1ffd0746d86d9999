//! The cost of coverage: the processor time of programs under `cargo clr cover`, as a multiple of that without it, and the time in
//! which reports are written.
//!
//! ```sh
//! cargo bench -p cargo-clr --bench cover            # 5 runs of each
//! cargo bench -p cargo-clr --bench cover -- 11
//! ```
//!
//! A program that computes runs in six ways: without coverage, with hits, with hits whose probes stay, with counts, and with and
//! without hits where code is compiled once. Two programs of others are a generator of C# code with a PDB, and the C# compiler without
//! one. The ways alternate. The least of their runs counts, because other programs make runs longer, never shorter.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[path = "../../tests/command.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod command;
#[cfg(target_os = "linux")]
#[path = "../../tests/compiled.rs"]
mod compiled;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod reports;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let runs = runs.unwrap_or(5);
    measure::computing(runs);
    measure::programs_of_others(runs);
    reports::thousand_files();
    ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("cover: error: the processor time of programs is measured on Linux only");
    ExitCode::FAILURE
}
