//! `ps`: the processes with a .NET runtime.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use crate::cli::Ps;
use crate::outcome::Result;
use crate::{doctor, print, process};

/// A process with a runtime.
struct Found {
    process: u32,
    version: Option<String>,
    program: String,
    /// Libraries of profilers that are loaded.
    profilers: Vec<PathBuf>,
}

pub(crate) fn list(options: &Ps) -> Result<ExitCode> {
    let own = std::process::id();
    let others = process::all().into_iter().filter(|process| *process != own);
    let found: Vec<Found> = others.filter_map(examine).collect();
    if options.json.json {
        let rows = found.iter().map(|found| {
            json!({
                "pid": found.process,
                "runtime": found.version,
                "program": found.program,
                "profilers": found.profilers.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
            })
        });
        let rows = rows.collect::<Vec<_>>();
        return print(format!("{}\n", json!(rows)));
    }
    let mut text = format!(
        "{:>8}  {:<16}  {:<40}  profiler\n",
        "pid", "runtime", "program"
    );
    for found in &found {
        let profilers: Vec<_> = found
            .profilers
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let profilers = match profilers.is_empty() {
            true => "none".to_owned(),
            false => profilers.join(", "),
        };
        text += &format!(
            "{:>8}  {:<16}  {:<40}  {profilers}\n",
            found.process,
            found.version.as_deref().unwrap_or("in the program"),
            found.program,
        );
    }
    if found.is_empty() {
        text += "There is no process with a .NET runtime that this user may look into.\n";
    }
    print(text)
}

fn examine(process: u32) -> Option<Found> {
    let mappings = process::mappings(process)?;
    let version = match process::runtime(&mappings) {
        Some((_, version)) => version,
        // A program in a single file has its runtime in itself, and has no mapping of that name.
        None if doctor::is_single_file(process) => None,
        None => return None,
    };
    Some(Found {
        process,
        version,
        program: program(&process::command_line(process)),
        profilers: profilers(&mappings),
    })
}

/// The program in a command line: the assembly after `dotnet exec`, or the executable.
pub(crate) fn program(words: &[String]) -> String {
    let is_host = words
        .first()
        .is_some_and(|word| process::is_named(Path::new(word), "dotnet"));
    let assembly = words.iter().find(|word| word.ends_with(".dll"));
    let word = match (is_host, assembly) {
        (true, Some(assembly)) => assembly,
        _ => words.first().map_or("", String::as_str),
    };
    let name = Path::new(word).file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The libraries in a process that export a class factory and are not of the runtime.
pub(crate) fn profilers(mappings: &[PathBuf]) -> Vec<PathBuf> {
    let runtime = mappings
        .iter()
        .filter(|path| process::is_named(path, process::CORECLR));
    let runtime: Vec<&Path> = runtime.filter_map(|path| path.parent()).collect();
    let others = mappings.iter().filter(|path| {
        is_library(path)
            && !path
                .parent()
                .is_some_and(|folder| runtime.contains(&folder))
    });
    let with_factory = others.filter(|path| doctor::has_class_factory(path));
    with_factory.cloned().collect()
}

/// Whether a mapped file may be a library of a profiler.
#[cfg(not(windows))]
fn is_library(path: &Path) -> bool {
    path.to_string_lossy().contains(".so")
}

/// Whether a library may be that of a profiler. Many of the system have class factories, too.
#[cfg(windows)]
fn is_library(path: &Path) -> bool {
    let system = std::env::var("SystemRoot").unwrap_or_else(|_| r"C:\Windows".to_owned());
    let path = path.to_string_lossy().to_lowercase();
    path.ends_with(".dll") && !path.starts_with(&format!("{}\\", system.to_lowercase()))
}
