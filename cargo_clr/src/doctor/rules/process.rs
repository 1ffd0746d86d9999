//! Faults of the program and its process.

use std::path::Path;

use super::super::Fault;
use super::super::facts::Facts;
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
        "Run this command as the user of the process, or as root.",
    ))
}

/// The program cannot be started under a profiler at all: NativeAOT, a library, a script.
pub(super) fn program(facts: &Facts) -> Option<Fault> {
    let message = facts.program.as_ref()?.as_ref().err()?;
    let (cause, remedy) = match message.split_once(". ") {
        Some((cause, remedy)) => (format!("{cause}."), remedy.to_owned()),
        None => (
            message.clone(),
            "Give the assembly of the program.".to_owned(),
        ),
    };
    Some(Fault::new("program", cause, remedy))
}

pub(super) fn no_runtime(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    let mappings = process.mappings.as_ref()?;
    let has = |name: &str| mappings.iter().any(|path| process::is_named(path, name));
    if has("libcoreclr") || has("libclrjit") {
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
    if process.socket.is_some() {
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
    let (_, version) = process::runtime(mappings)?;
    let version = version.unwrap_or_default();
    Some(Fault::new(
        "not-loaded",
        format!(
            "The runtime {version} of the process {} continues without `{}`, although nothing is wrong from outside \
             now.",
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

/// The socket is in folders that only the process and its relatives see.
pub(super) fn private_folder(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
    if process.socket.is_some() {
        return None;
    }
    let own = process.own_socket.as_ref()?;
    Some(Fault::new(
        "private-temporary-folder",
        format!(
            "The process {} has a file system or process ids of its own, as in a container or a service with PrivateTmp: its \
             socket `{}` cannot be reached from here.",
            process.id,
            own.display()
        ),
        format!(
            "Attach from inside: nsenter -m -p -t {} cargo-clr ..., with the command copied there.",
            process.id
        ),
    ))
}

/// The socket for attaching could not be made, or was removed.
pub(super) fn no_socket(facts: &Facts) -> Option<Fault> {
    let process = facts.process.as_ref()?;
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
    // Its mappings must show a runtime, or there is another fault.
    let has_runtime = process::runtime(process.mappings.as_ref()?).is_some();
    if process.socket.is_some() || is_off || !has_runtime {
        return None;
    }
    let folder = facts.variable("TMPDIR").unwrap_or("/tmp");
    let is_usable = std::fs::metadata(folder).is_ok_and(|about| about.is_dir());
    Some(if is_usable {
        Fault::new(
            "no-socket",
            format!(
                "The process {} has no socket in its temporary folder `{folder}`: the folder was read-only when the \
                 program began, or was cleaned since.",
                process.id
            ),
            "Start the program with TMPDIR set to a folder that it can write to; until then nothing can be attached.",
        )
    } else {
        Fault::new(
            "no-temporary-folder",
            format!(
                "The temporary folder `{folder}` of the process {} does not exist.",
                process.id
            ),
            "Start the program with TMPDIR set to a folder that it can write to; until then nothing can be attached.",
        )
    })
}
