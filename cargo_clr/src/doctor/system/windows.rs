//! Windows.

use std::path::{Component, Path, PathBuf};
use std::process::ExitStatus;

use clr_profiler_launcher::Clsid;
use windows_registry::{CURRENT_USER, Key, LOCAL_MACHINE};

use super::super::Fault;
use super::super::binary::{Machine, Missing, Place, first_missing};
use super::super::facts::{Facts, Named, Process};

/// Whether the processes of others can be examined.
pub(in crate::doctor) const SHOWS_PROCESSES: bool = true;

/// Who may examine the processes of all users.
pub(in crate::doctor) const MIGHTIEST: &str = "administrator";

/// The list of folders in which the loader looks last.
pub(in crate::doctor) const FOLDERS: &str = "PATH";

/// The path of the value of a variable. A name without a folder is searched for, as `LoadLibrary` does it.
pub(in crate::doctor) fn resolved(facts: &Facts, value: &str) -> PathBuf {
    let mut parts = Path::new(value).components();
    if let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) {
        let program = facts.process.as_ref().and_then(|it| it.executable.as_ref());
        let folder = program.and_then(|program| program.parent());
        if let Some(found) = search(facts, folder, value) {
            return found;
        }
    }
    facts.folder.join(value)
}

/// The root keys of classes, the user's first.
fn roots() -> [(&'static str, &'static Key); 2] {
    [("HKCU", CURRENT_USER), ("HKLM", LOCAL_MACHINE)]
}

/// The key of a class below the keys of the user and of the machine. A program of 32 bits is shown another one.
fn class(facts: &Facts, clsid: Clsid) -> String {
    let view = match (facts.machine.bits, usize::BITS) {
        (32, 64) => r"Wow6432Node\",
        _ => "",
    };
    format!(r"Software\Classes\{view}CLSID\{clsid}\InprocServer32")
}

/// The library that the registry names for the class id.
pub(in crate::doctor) fn registered(facts: &Facts) -> Option<Named> {
    let clsid = facts.variable("CORECLR_PROFILER")?.parse().ok()?;
    let key = class(facts, clsid);
    let (root, value) = roots().into_iter().find_map(|(name, root)| {
        let value = root.open(&key).ok()?.get_string("").ok()?;
        (!value.is_empty()).then_some((name, value))
    })?;
    Some(Named {
        variable: format!(r"{root}\{key}"),
        path: resolved(facts, &value),
        value,
    })
}

/// The fault if nothing names a library.
pub(in crate::doctor) fn no_path(facts: &Facts) -> Fault {
    let clsid = facts.variable("CORECLR_PROFILER").map(str::parse);
    let registry = match clsid {
        Some(Ok(clsid)) => format!(
            ", and the registry has no library for the class id: neither HKCU nor HKLM has {}",
            class(facts, clsid)
        ),
        _ => String::new(),
    };
    Fault::new(
        "no-path",
        format!("CORECLR_PROFILER_PATH, the library of the profiler, is not set{registry}."),
        "Set CORECLR_PROFILER_PATH to the absolute path of the library, or register the library: regsvr32 LIBRARY.",
    )
}

/// Whether a value of `CORECLR_PROFILER` is the name of a class in the registry, which the runtime accepts, too.
pub(in crate::doctor) fn is_name_of_class(value: &str) -> bool {
    let key = format!(r"Software\Classes\{value}\CLSID");
    !value.contains('\\') && roots().iter().any(|(_, root)| root.open(&key).is_ok())
}

/// The paths of a list.
pub(in crate::doctor) fn paths_of_list(value: &str) -> Vec<PathBuf> {
    std::env::split_paths(value).collect()
}

/// All processes see the same files.
pub(in crate::doctor) fn seen_by(_process: u32, path: &Path) -> PathBuf {
    path.to_owned()
}

/// All programs see the same files.
pub(in crate::doctor) fn seen(_facts: &Facts, path: &Path) -> PathBuf {
    path.to_owned()
}

/// The folder with the libraries of the system for programs of these bits.
fn system_folder(machine: &Machine) -> PathBuf {
    let root = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    let name = match (machine.bits, usize::BITS) {
        (32, 64) => "SysWOW64",
        _ => "System32",
    };
    Path::new(&root).join(name)
}

/// A library in the folders in which the loader looks: the first one, those of the system, the current one of the program,
/// and those of the list.
fn search(facts: &Facts, first: Option<&Path>, name: &str) -> Option<PathBuf> {
    let system = system_folder(&facts.machine);
    let windows = system.parent().map(Path::to_owned);
    let listed = facts.variable(FOLDERS).unwrap_or_default();
    let folders = first
        .map(Path::to_owned)
        .into_iter()
        .chain([system])
        .chain(windows)
        .chain([facts.folder.clone()])
        .chain(std::env::split_paths(listed));
    let named = folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    // Without an ending, it is that of a library.
    named
        .map(|path| match path.extension() {
            Some(_) => path,
            None => path.with_extension("dll"),
        })
        .find(|path| path.is_file())
}

/// The first library that the loader does not find. Its message has no name.
pub(in crate::doctor) fn missing(
    facts: &Facts,
    path: &Path,
    _told: Option<&str>,
) -> Option<Missing> {
    let system = system_folder(&facts.machine);
    let mappings = facts.process.as_ref().and_then(|it| it.mappings.as_ref());
    // The loader takes the folder of the library that is loaded for all that it needs.
    let own = path.parent();
    first_missing(path, |_, _, name| {
        // Names of sets of functions, which Windows itself maps to libraries.
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("api-ms-") || lower.starts_with("ext-ms-") {
            return Place::System;
        }
        // A library of that name that the process has already is taken.
        let mut mapped = mappings.into_iter().flatten();
        let is_named = |path: &&PathBuf| {
            path.file_name()
                .is_some_and(|file| file.eq_ignore_ascii_case(name))
        };
        if mapped.any(|path| is_named(&path)) {
            return Place::System;
        }
        match search(facts, own, name) {
            Some(found) if found.starts_with(&system) => Place::System,
            Some(found) => Place::At(found),
            None => Place::Nowhere,
        }
    })
}

/// The remedy if the loader does not find a library.
pub(in crate::doctor) fn provide(name: &str) -> String {
    let runtime = ["vcruntime", "msvcp", "vccorlib"];
    let lower = name.to_ascii_lowercase();
    if runtime.iter().any(|start| lower.starts_with(start)) {
        return "Install the Visual C++ Redistributable on this machine, or link the library with its static runtime \
                (`-C target-feature=+crt-static`)."
            .to_owned();
    }
    format!(
        "Copy {name} to the folder of the profiler's library, or add its folder to {FOLDERS} of the program."
    )
}

/// How to let the user of the program read a file.
pub(in crate::doctor) fn permit(path: &Path) -> String {
    format!("icacls \"{}\" /grant USER:RX.", path.display())
}

/// How to let the user of the program enter the folders of a file.
pub(in crate::doctor) fn permit_folders(path: &Path) -> String {
    format!(
        "Give the user of the program the right to read the folders of `{}`: icacls FOLDER /grant USER:RX.",
        path.display()
    )
}

/// The rights of other users are not examined.
pub(in crate::doctor) fn other_cannot_read(_facts: &Facts, _path: &Path) -> bool {
    false
}

/// How a process crashed, if it did.
pub(in crate::doctor) fn crash(status: ExitStatus) -> Option<String> {
    /// Codes from here on are those of exceptions that nobody has handled.
    const FIRST: u32 = 0xC000_0000;
    let code = status.code()? as u32;
    (code >= FIRST).then(|| format!("it ends with the exception 0x{code:08X}"))
}

/// The fault if the runtime does not listen for diagnostic tools.
pub(in crate::doctor) fn no_endpoint(_facts: &Facts, process: &Process) -> Fault {
    let id = process.id;
    Fault::new(
        "no-pipe",
        format!(
            "The process {id} has no pipe `\\\\.\\pipe\\dotnet-diagnostic-{id}`: its runtime is starting or ending, or its \
             configuration switches diagnostics off."
        ),
        "Try again in a moment, or start the program with DOTNET_EnableDiagnostics=1; until then nothing can be attached.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    #[test]
    fn lists_and_drives() {
        assert_eq!(paths_of_list(r"C:\a;D:\b").len(), 2);
        assert_eq!(paths_of_list(r"C:\a").len(), 1);
    }

    #[test]
    fn names_without_a_folder_are_searched_for() {
        let facts = Facts::of_environment();
        let found = resolved(&facts, "kernel32");
        assert!(found.is_file() && found.is_absolute(), "{found:?}");
        assert_eq!(
            resolved(&facts, "no such library"),
            facts.folder.join("no such library")
        );
    }

    #[test]
    fn this_test_needs_libraries_that_are_there() {
        let facts = Facts::of_environment();
        let own = std::env::current_exe().unwrap();
        assert_eq!(missing(&facts, &own, None), None);
        assert!(process::has_mapped(
            &process::mappings(std::process::id()).unwrap(),
            &own
        ));
    }
}
