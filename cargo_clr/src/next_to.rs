//! A tool is attached to a process that may have a profiler already.

use std::path::{Path, PathBuf};

use clr_profiler_launcher::{Attach, Clsid, Error, ProfilerLibrary};

use crate::outcome::{Failure, Result};
use crate::{library, process, ps};

/// `CORPROF_E_PROFILER_ALREADY_ACTIVE`.
const ALREADY_ACTIVE: u32 = 0x8013_136A;

/// Attaches the tool: as the main profiler of the process, or next to that if there is one and `next_to` is the class id
/// of the tool as a notification profiler.
pub(crate) fn send(
    verb: &str,
    process: u32,
    library: ProfilerLibrary,
    next_to: Option<&str>,
    data: &str,
) -> Result<()> {
    let path = library.path().to_owned();
    if !is_refused(attach(process, library, data))? {
        return Ok(());
    }
    if let Some(clsid) = next_to {
        let clsid: Clsid = clsid.parse()?;
        let library = ProfilerLibrary::new(&path, clsid)?;
        if !is_refused(attach(process, library, data))? {
            return Ok(());
        }
    }
    Err(Failure::new(refusal(verb, process, next_to.is_some())))
}

fn attach(process: u32, library: ProfilerLibrary, data: &str) -> Result<(), Error> {
    Attach::new(process)
        .profiler(library)
        .client_data(data)
        .send()
}

/// Whether the process has a main profiler already.
fn is_refused(answer: Result<(), Error>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(false),
        Err(Error::AttachRefused { hresult, .. }) if hresult as u32 == ALREADY_ACTIVE => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Why the tool is refused, and what to do.
fn refusal(verb: &str, process: u32, watches: bool) -> String {
    let loaded = ps::profilers(&process::mappings(process).unwrap_or_default());
    let names = match &loaded[..] {
        [] => "another profiler".to_owned(),
        loaded => quoted(loaded),
    };
    let mut text = format!("The process {process} has a profiler already: {names}.");
    if loaded.iter().any(|path| is_own(path)) {
        text += " It is that of an earlier or a running verb of this command; `trace`, `patch` and `cover` stay loaded, because \
                 no runtime lets go of a profiler that has changed methods.";
    }
    text += match watches {
        true => {
            " .NET Core 3.1 takes one profiler, and newer runtimes one such as this in addition."
        }
        false => {
            " A runtime takes one profiler that changes methods. `cpu`, `gc`, `exceptions`, `log`, `alloc` and `top` change none, \
             and can be attached next to it on .NET 5 and newer."
        }
    };
    text += " Start the program anew";
    match verb {
        // Needs a running program.
        "top" => text + ".",
        _ => text + &format!(", or under the tool: `cargo clr {verb} -- App.dll`."),
    }
}

fn quoted(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    paths.join(", ")
}

/// Whether a file is a library of this command, of any version.
fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with(library::NAME))
}
