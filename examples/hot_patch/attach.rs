//! `hot_patch --attach`.

use std::io::Write;
use std::process::ExitCode;

use clr_profiler_launcher::{Attach, ProfilerLibrary, find_library};

use crate::CLSID;

const USAGE: &str =
    "usage: hot_patch --attach PROCESS [--methods PATTERNS] [--control FILE] [--output FILE]";

/// Loads the profiler into a running program.
pub(crate) fn run(words: impl Iterator<Item = String>) -> ExitCode {
    let (message, code) = match parse(words) {
        Some((process, settings)) => match attach(process, &settings) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.to_string(), 1),
        },
        None => (USAGE.to_owned(), 2),
    };
    // If stderr is closed, there is nothing to do.
    let _ = writeln!(std::io::stderr(), "hot_patch: {message}");
    ExitCode::from(code)
}

/// The process, and the client data for the profiler.
fn parse(mut words: impl Iterator<Item = String>) -> Option<(u32, String)> {
    let process = words.next()?.parse().ok()?;
    // The program has another current folder.
    let absolute = |path: &str| Some(std::path::absolute(path).ok()?.display().to_string());
    let (mut control, mut output) = (absolute("hot_patch.control")?, absolute("hot_patch.txt")?);
    let mut settings = String::new();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--control" => control = absolute(&value)?,
            "--output" => output = absolute(&value)?,
            "--methods" => {
                let value = match value.strip_prefix('@') {
                    Some(path) => format!("@{}", absolute(path)?),
                    None => value,
                };
                settings = format!("HOT_PATCH_METHODS={value}\0");
            }
            _ => return None,
        }
    }
    settings += &format!("HOT_PATCH_CONTROL={control}\0HOT_PATCH_OUTPUT={output}");
    Some((process, settings))
}

fn attach(process: u32, settings: &str) -> Result<(), Box<dyn std::error::Error>> {
    let library = ProfilerLibrary::new(find_library("hot_patch")?, CLSID)?;
    Attach::new(process)
        .profiler(library)
        .client_data(settings)
        .send()?;
    Ok(())
}
