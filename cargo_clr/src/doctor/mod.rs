//! `doctor`: why a profiler is not loaded.

mod agents;
mod binary;
mod facts;
mod probe;
mod rules;
mod system;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clr_profiler_launcher::{Attach, Launch, ProfilerLibrary};
use serde_json::json;

use crate::cli;
use crate::outcome::{Failure, Result};
use crate::{print, process};

pub(crate) use binary::has_class_factory;
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

/// The socket or pipe at which the runtime of a process listens for diagnostic tools.
fn endpoint(process: u32) -> std::result::Result<PathBuf, clr_profiler_launcher::Error> {
    /// A process that has been stopped accepts no connection.
    const PATIENCE: Duration = Duration::from_secs(5);
    Attach::new(process).timeout(PATIENCE).endpoint()
}

/// Whether a process without a library of the runtime has the runtime in its executable, and listens.
pub(crate) fn is_single_file(process: u32) -> bool {
    endpoint(process).is_ok() && facts::has_runtime(process::image(process).as_deref(), true)
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("{error}."))
    }
}
