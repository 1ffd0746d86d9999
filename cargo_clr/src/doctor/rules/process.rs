//! Faults of the program and its process.

use std::path::Path;
use std::time::Duration;

use clr_profiler_launcher::Error;

use super::super::Fault;
use super::super::facts::Facts;
use super::super::system;
use super::number;
use crate::process;

pub(super) fn unreadable(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    if facts.environment.is_some() && process.mappings.is_some() {
        return None;
    }
    let whose = match facts.other_user() {
        Some(user) => format!("belongs to the user {user}"),
        None => "does not let itself be looked into".to_owned(),
    };
    Some(Fault::new(
        "other-user",
        format!(
            "The process {} {whose}, and this user may not see its environment.",
            process.id
        ),
        format!(
            "Run this command as the user of the process, or as {}.",
            system::MIGHTIEST
        ),
    ))
}

/// The program cannot be started under a profiler at all: NativeAOT, a library, a script.
pub(super) fn program(facts: &Facts) -> Option<Fault> {
    let message = facts.program.as_ref()?.as_ref().err()?;
    Some(two_sentences(
        "program",
        message,
        "Give the assembly of the program.",
    ))
}

/// A message of the launcher, whose last sentences are the remedy.
fn two_sentences(name: &'static str, message: &str, remedy: &str) -> Fault {
    match message.split_once(". ") {
        Some((cause, remedy)) => Fault::new(name, format!("{cause}."), remedy),
        None => Fault::new(name, message, remedy),
    }
}

pub(super) fn no_runtime(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    let mappings = process.mappings.as_ref()?;
    let has = |name: &str| mappings.iter().any(|path| process::is_named(path, name));
    if process.has_runtime()? {
        return None;
    }
    let name = process.executable.as_deref().and_then(Path::file_name);
    let name = name
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if has("libmonosgen-2.0") || name.starts_with("mono") {
        return Some(Fault::new(
            "mono",
            format!(
                "The process {} runs on Mono, which has another interface for profilers.",
                process.id
            ),
            "Run the program on .NET (CoreCLR).",
        ));
    }
    if cfg!(windows) && has("clr") && has("mscoree") {
        return Some(Fault::new(
            "framework",
            format!(
                "The process {} runs on .NET Framework, whose variables for profilers begin with COR_.",
                process.id
            ),
            "Set the variables that begin with COR_, or run the program on .NET.",
        ));
    }
    if process.endpoint.is_ok() {
        return Some(Fault::new(
            "native-aot",
            format!(
                "The process {} has a runtime without a JIT compiler: it was published with NativeAOT.",
                process.id
            ),
            "Publish the program without PublishAot; a NativeAOT program cannot be profiled.",
        ));
    }
    Some(Fault::new(
        "no-runtime",
        format!("The process {} ({name}) has no .NET runtime.", process.id),
        "Give the process of the program itself; `cargo clr ps` lists those with a runtime.",
    ))
}

pub(super) fn not_loaded(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    let mappings = process.mappings.as_ref()?;
    let named = facts.named()?;
    if facts.is_loaded() {
        return None;
    }
    if !process.has_runtime()? {
        return None;
    }
    let version = process::runtime(mappings).and_then(|(_, version)| version);
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    // The start of a process is known in whole seconds.
    let precision = Duration::from_secs(2);
    let written =
        std::fs::metadata(system::seen(facts, &named.path)).and_then(|about| about.modified());
    let is_late = process
        .started
        .is_some_and(|started| written.is_ok_and(|written| written > started + precision));
    let state = match is_late {
        true => ": the file was written after the start of the process",
        false => ", although nothing is wrong from outside now",
    };
    Some(Fault::new(
        "not-loaded",
        format!(
            "The runtime{version} of the process {} continues without `{}`{state}.",
            process.id,
            named.path.display()
        ),
        "Its Initialize has failed, or the file has come later: start the program again, and one that is made with \
         clr_profiler reports with CLR_PROFILER_DIAGNOSTICS=stderr.",
    ))
}

pub(super) fn attach_switched_off(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    let names = [
        "DOTNET_EnableDiagnostics_IPC",
        "COMPlus_EnableDiagnostics_IPC",
    ];
    let (name, value) = names.iter().find_map(|name| {
        let value = facts.variable(name)?;
        (number(value) == Some(0)).then_some((name, value))
    })?;
    Some(Fault::new(
        "attach-switched-off",
        format!(
            "{name}={value} keeps the process {} from listening: no profiler can be attached.",
            process.id
        ),
        format!("Start the program without {name}."),
    ))
}

/// The endpoint for attaching could not be made, was removed, or cannot be reached.
pub(super) fn no_endpoint(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    let error = process.endpoint.as_ref().err()?;
    let switches = [
        "DOTNET_EnableDiagnostics",
        "COMPlus_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_IPC",
        "COMPlus_EnableDiagnostics_IPC",
    ];
    let is_off = switches.iter().any(|name| {
        facts
            .variable(name)
            .is_some_and(|value| number(value) == Some(0))
    });
    // Without a runtime, there is another fault.
    if is_off || !process.has_runtime()? {
        return None;
    }
    Some(match error {
        Error::NoDiagnostics { .. } => system::no_endpoint(facts, process),
        Error::NoAnswer { .. } => Fault::new(
            "not-reachable",
            format!(
                "The process {} accepts no connection: it is stopped, for example in a debugger.",
                process.id
            ),
            "Resume it; until then nothing can be attached.",
        ),
        error => two_sentences(
            "not-reachable",
            &error.to_string(),
            "Start the program again.",
        ),
    })
}
