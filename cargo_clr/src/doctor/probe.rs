//! Starts a program, and sees whether its runtime loads the profiler.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Fault;
use super::facts::Facts;
use crate::outcome::{Failure, Result};
use crate::process;

/// How long the runtime of a program may take to start.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the libraries of the program are read. It takes longer on Windows, where each has to be asked for.
const INTERVAL: Duration = Duration::from_millis(if cfg!(windows) { 10 } else { 2 });
/// How long the library has to stay loaded after the runtime has continued: one that refuses to start is unloaded.
const AFTER: Duration = Duration::from_millis(300);
/// The same of a program in a single file, whose runtime listens before it loads the profiler.
const AFTER_LISTENING: Duration = Duration::from_secs(3);

/// Runs the program until its runtime has decided; then the program is ended.
pub(super) fn run(
    mut command: Command,
    facts: &Facts,
) -> Result<std::result::Result<String, Fault>> {
    let Some(named) = facts.named() else {
        return Ok(Ok(facts.proof()));
    };
    let library = named.path;
    let report = std::env::temp_dir().join(format!("cargo-clr-doctor-{}", std::process::id()));
    let _ = fs::remove_file(&report);
    command
        .env("CLR_PROFILER_DIAGNOSTICS", &report)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|source| {
        Failure::from(clr_profiler_launcher::Error::Start {
            path: command.get_program().into(),
            source,
        })
    })?;
    let begun = Instant::now();
    let mut seen: Option<(Instant, Duration)> = None;
    let mut was_mapped = false;
    let outcome = loop {
        let mappings = process::mappings(child.id()).unwrap_or_default();
        let is_mapped = process::has_mapped(&mappings, &library);
        was_mapped |= is_mapped;
        // The runtime loads the profiler before it loads the first assembly.
        if seen.is_none() {
            let after = match has_core_library(&mappings) {
                true => Some(AFTER),
                // It has no library of the runtime that could be seen.
                false
                    if process::runtime(&mappings).is_none()
                        && super::is_single_file(child.id()) =>
                {
                    Some(AFTER_LISTENING)
                }
                false => None,
            };
            seen = after.map(|after| (Instant::now(), after));
        }
        let has_ended = child.try_wait().ok().flatten();
        if seen.is_some_and(|(seen, after)| seen.elapsed() > after) {
            break Some(is_mapped);
        }
        if let Some(status) = has_ended {
            // It may have been too short to be looked at in time.
            break match (status.code(), was_mapped) {
                (_, true) => Some(true),
                (Some(0), false) => Some(false),
                _ => None,
            };
        }
        if begun.elapsed() > PATIENCE {
            break is_mapped.then_some(true);
        }
        thread::sleep(INTERVAL);
    };
    let _ = child.kill();
    let _ = child.wait();
    let told = fs::read_to_string(&report).unwrap_or_default();
    let _ = fs::remove_file(&report);
    let told = told.lines().next().unwrap_or_default().trim();
    Ok(match outcome {
        Some(true) if told.is_empty() => Ok(format!(
            "All is well: the runtime of the program has loaded `{}`.",
            library.display()
        )),
        _ if !told.is_empty() => Err(Fault::new(
            "initialize-failed",
            format!("The runtime has loaded the profiler, which could not start; it says: {told}"),
            "Correct its options, or the code of its `initialize`.",
        )),
        // The program is a .NET program that was started with these variables, and nothing is wrong from outside. The
        // library may have been loaded for a moment alone.
        Some(_) => Err(Fault::new(
            "initialize-refused",
            format!(
                "The runtime of the program continues without `{}`, because its Initialize failed.",
                library.display()
            ),
            "See what the profiler itself reports; one that is made with clr_profiler does so with \
             CLR_PROFILER_DIAGNOSTICS=stderr.",
        )),
        None => Err(Fault::new(
            "program-ended",
            "The program ended with an error before its runtime was started.",
            "Run the program without a profiler, and mend that error first.",
        )),
    })
}

fn has_core_library(mappings: &[PathBuf]) -> bool {
    mappings.iter().any(|path| {
        ["System.Private.CoreLib", "libclrjit", "clrjit"]
            .iter()
            .any(|name| process::is_named(path, name))
    })
}
