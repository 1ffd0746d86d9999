//! `doctor`: why a profiler is not loaded.

mod agents;
mod elf;
mod facts;
mod probe;
mod rules;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clr_profiler_launcher::{Launch, ProfilerLibrary};
use serde_json::json;

use crate::cli;
use crate::outcome::{Failure, Result};
use crate::{print, process};

pub(crate) use elf::exports_class_factory;
use facts::Facts;

/// The exit code if there is a fault.
const FAULTY: u8 = 3;

/// A fault: one sentence for its cause, and one for the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A name that stays, for machines.
    pub(crate) name: &'static str,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

impl Fault {
    fn new(name: &'static str, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (cause, remedy) = (cause.into(), remedy.into());
        Self {
            name,
            cause,
            remedy,
        }
    }
}

pub(crate) fn examine(options: &cli::Doctor) -> Result<ExitCode> {
    let facts = match (
        options.target.process,
        options.target.program.program.split_first(),
    ) {
        (Some(process), _) => Facts::of_process(process)?,
        (None, Some((program, _))) => Facts::of_program(program.as_ref()),
        (None, None) => match &options.container_root {
            Some(root) => Facts::of_container(root)?,
            None => Facts::of_environment(),
        },
    };
    let mut faults = rules::apply(&facts);
    let mut proof = facts.proof();
    // Everything that can be seen from outside is right: only the runtime knows more.
    if faults.is_empty()
        && let Some((program, arguments)) = options.target.program.program.split_first()
    {
        let mut launch = Launch::new(program);
        launch.args(arguments);
        let command = with_environment(launch.command()?);
        match probe::run(command, &facts)? {
            Ok(loaded) => proof = loaded,
            Err(fault) => faults.push(fault),
        }
    }
    if options.json.json {
        let rows = faults.iter().map(
            |fault| json!({ "fault": fault.name, "cause": fault.cause, "remedy": fault.remedy }),
        );
        let rows: Vec<_> = rows.collect();
        let proof = faults.is_empty().then_some(&proof);
        print(format!("{}\n", json!({ "faults": rows, "well": proof })))?;
    } else if faults.is_empty() {
        print(format!("{proof}\n"))?;
    } else {
        let text = faults
            .iter()
            .map(|fault| format!("{}\n  -> {}\n", fault.cause, fault.remedy));
        print(text.collect::<String>())?;
    }
    Ok(ExitCode::from(if faults.is_empty() { 0 } else { FAULTY }))
}

/// The launcher removes the variables that choose a profiler; here they are examined.
fn with_environment(mut command: Command) -> Command {
    for (name, value) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CORECLR_") || text.contains("PROFILER") {
            command.env(&name, value);
        }
    }
    command
}

/// Loads a library as the runtime does, in a process that may crash of it.
pub(crate) fn load(library: &Path, clsid: &str) -> Result<ExitCode> {
    ProfilerLibrary::new(library, clsid)?.check()?;
    Ok(ExitCode::SUCCESS)
}

/// The socket at which the runtime of a process listens for diagnostic tools.
pub(crate) fn socket(process: u32) -> Option<PathBuf> {
    let (folder, name) = socket_name(process, process)?;
    let path = folder.join(name);
    path.exists().then_some(path)
}

/// The socket as the process itself sees it, whose temporary folder or process id can be another one than here.
fn own_socket(process: u32) -> Option<PathBuf> {
    let (folder, name) = socket_name(process, process::own_id(process)?)?;
    let root = PathBuf::from(format!("/proc/{process}/root"));
    let path = root
        .join(folder.strip_prefix("/").unwrap_or(&folder))
        .join(&name);
    path.exists().then(|| folder.join(name))
}

/// The folder and the name of the socket of a process with this id.
fn socket_name(process: u32, id: u32) -> Option<(PathBuf, String)> {
    let environment = process::environment(process).unwrap_or_default();
    let folder = environment
        .get("TMPDIR")
        .filter(|folder| !folder.is_empty());
    let folder = folder.map_or("/tmp", String::as_str);
    // The time distinguishes it from the socket that an ended process of the same id has left.
    let start = process::start_time(process)?;
    Some((
        folder.into(),
        format!("dotnet-diagnostic-{id}-{start}-socket"),
    ))
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("{error}."))
    }
}
