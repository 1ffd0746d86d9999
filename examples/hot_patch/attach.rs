//! `hot_patch --attach`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clr_profiler_launcher::{Attach, ProfilerLibrary, find_library};

use crate::CLSID;

const USAGE: &str = "usage: hot_patch --attach PROCESS [--control FILE] [--output FILE]";

/// Loads the profiler into a running program.
pub(crate) fn run(words: impl Iterator<Item = String>) -> ExitCode {
    let (message, code) = match parse(words) {
        Some((process, control, output)) => match attach(process, &control, &output) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), 1),
        },
        None => (USAGE.to_owned(), 2),
    };
    // If stderr is closed, there is nothing to do.
    let _ = writeln!(std::io::stderr(), "hot_patch: {message}");
    ExitCode::from(code)
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<(u32, PathBuf, PathBuf)> {
    let process = words.next()?.parse().ok()?;
    let (mut control, mut output) = ("hot_patch.control".into(), "hot_patch.txt".into());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--control" => control = words.next()?.into(),
            "--output" => output = words.next()?.into(),
            _ => return None,
        }
    }
    Some((process, control, output))
}

fn attach(
    process: u32,
    control: &PathBuf,
    output: &PathBuf,
) -> Result<(), Box<dyn std::error::Error>> {
    let library = ProfilerLibrary::new(find_library("hot_patch")?, CLSID)?;
    // The program has another current folder.
    let (control, output) = (std::path::absolute(control)?, std::path::absolute(output)?);
    let data = format!(
        "HOT_PATCH_CONTROL={}\0HOT_PATCH_OUTPUT={}",
        control.display(),
        output.display()
    );
    Attach::new(process)
        .profiler(library)
        .client_data(data)
        .send()?;
    Ok(())
}
