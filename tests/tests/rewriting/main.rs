//! The examples that rewrite a program, from their command lines to the program's behaviour.

#![cfg(unix)]

mod every_call;
mod method_logger;
mod precompiled;
mod return_inspector;

use std::fs;
use std::path::PathBuf;

use clr_profiler_tests::{Example, Finished, Folder, Runtime};

/// How many methods were rewritten, as the last line of the results says; the lines before it are the others.
fn rewritten(results: &str) -> (Vec<&str>, u64) {
    let mut lines: Vec<&str> = results.lines().collect();
    let last = lines.pop().unwrap();
    let number = last
        .strip_prefix("overhead: ")
        .and_then(|rest| rest.split_once(" methods were rewritten"))
        .and_then(|(before, _)| before.rsplit(' ').next());
    assert!(
        lines.iter().all(|line| !line.starts_with("overhead: ")),
        "{results}"
    );
    (lines, number.expect(last).parse().unwrap())
}

/// Runs the bundled sample to its end: without a profiler, and with an example and its results.
fn sample(
    example: Example,
    runtime: &Runtime,
    options: &[&str],
    variables: &[(&str, &str)],
) -> (Finished, Finished) {
    let program = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/support/samples/Sample.dll"
    ));
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let plain = Finished::of(example.plain(runtime, &program, &[]));
    let mut command = example.command(runtime, &all, &program, &[]);
    command.envs(variables.iter().copied());
    let mut finished = Finished::of(command);
    finished.log = fs::read_to_string(file).unwrap_or_default();
    (plain, finished)
}
