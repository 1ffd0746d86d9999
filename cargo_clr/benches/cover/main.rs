//! The cost of coverage: the processor time of programs under `cargo clr cover`, as a multiple of that without it, and the time in
//! which reports are written.
//!
//! ```sh
//! cargo bench -p cargo-clr --bench cover                # 5 runs of each
//! cargo bench -p cargo-clr --bench cover -- 11 Roslyn   # a part
//! JIT=1 cargo bench -p cargo-clr --bench cover -- 11 Roslyn   # and the time that the JIT takes
//! ```
//!
//! A program that computes runs in six ways: without coverage, with hits, with hits whose probes stay, with counts, and with and
//! without hits where code is compiled once. The least of its runs counts, because other programs make runs longer, never shorter.
//! Programs of others follow, with the medians of their runs. Runs with and without coverage alternate. For some of them, "the floor"
//! is the cost of a profiler that sets bodies with the same probes, which were made before the program started.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[path = "../../tests/command.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod command;
#[cfg(target_os = "linux")]
#[path = "../../tests/compiled.rs"]
mod compiled;
#[cfg(target_os = "linux")]
mod computing;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod jit;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod reports;
#[cfg(target_os = "linux")]
#[path = "../../../tests/benches/usage/mod.rs"]
mod usage;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq(programs::TIMER).is_some() {
        return match programs::time(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cover: error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut arguments = arguments.filter(|word| word != "--bench").peekable();
    let runs = arguments.next_if(|word| word.parse::<usize>().is_ok());
    let runs = runs.and_then(|runs| runs.parse().ok()).unwrap_or(5);
    let part = arguments.next().unwrap_or_default();
    if "computing".contains(&part) {
        computing::measure(runs);
    }
    programs::measure(runs, &part);
    if "reports".contains(&part) {
        reports::thousand_files();
    }
    ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("cover: error: the processor time of programs is measured on Linux only");
    ExitCode::FAILURE
}
