//! The example on the programs of these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub(crate) use clr_profiler_tests::Folder;
use clr_profiler_tests::{Example, Finished, Runtime, profilee};

const EXAMPLE: Example = Example("jit_logger");

/// The executable, next to its library.
pub(crate) fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| EXAMPLE.executable())
}

/// The example on a runtime: first its own options, then a program with its arguments.
pub(crate) fn command(
    runtime: &Runtime,
    options: &[&str],
    program: &Path,
    arguments: &[&str],
) -> Command {
    EXAMPLE.command(runtime, options, program, arguments)
}

/// The same program without a profiler.
pub(crate) fn plain(runtime: &Runtime, program: &Path, arguments: &[&str]) -> Command {
    EXAMPLE.plain(runtime, program, arguments)
}

/// Runs `profilees/Behaviours.dll` to its end, the log in a file and with a summary.
pub(crate) fn behaviour(runtime: &Runtime, arguments: &[&str]) -> Finished {
    let folder = Folder::new();
    let file = folder.path("log");
    let options = ["--summary", "--output", file.to_str().unwrap()];
    let program = profilee("Behaviours");
    let mut finished = Finished::of(command(runtime, &options, &program, arguments));
    finished.log = fs::read_to_string(file).unwrap();
    finished
}

/// The lines before the summaries' tables: `[kind] name`.
pub(crate) fn lines(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.starts_with('[')).collect()
}
