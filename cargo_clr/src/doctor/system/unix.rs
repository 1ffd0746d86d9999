//! Linux, and the other systems whose libraries `dlopen` loads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::super::Fault;
use super::super::binary::{Binary, Missing, Place, first_missing, who_needs};
use super::super::facts::{Facts, Named, Process};

/// Whether the processes of others can be examined.
pub(in crate::doctor) const SHOWS_PROCESSES: bool = cfg!(target_os = "linux");

/// Who may examine the processes of all users.
pub(in crate::doctor) const MIGHTIEST: &str = "root";

/// The list of folders in which the loader looks first.
pub(in crate::doctor) const FOLDERS: &str = "LD_LIBRARY_PATH";

/// The path of the value of a variable.
pub(in crate::doctor) fn resolved(facts: &Facts, value: &str) -> PathBuf {
    facts.folder.join(value)
}

/// There is no registry.
pub(in crate::doctor) fn registered(_facts: &Facts) -> Option<Named> {
    None
}

/// The fault if nothing names a library.
pub(in crate::doctor) fn no_path(_facts: &Facts) -> Fault {
    Fault::new(
        "no-path",
        "CORECLR_PROFILER_PATH, the library of the profiler, is not set.",
        "Set CORECLR_PROFILER_PATH to the absolute path of the library.",
    )
}

/// The fault if a value of `CORECLR_PROFILER` is neither a class id nor another name of one.
pub(in crate::doctor) fn is_name_of_class(_value: &str) -> bool {
    false
}

/// The paths of a list. Those of Windows are separated by another character than here, and are copied from there.
pub(in crate::doctor) fn paths_of_list(value: &str) -> Vec<PathBuf> {
    value.split([':', ';']).map(PathBuf::from).collect()
}

/// A file as a process sees it, which may be in a container.
pub(in crate::doctor) fn seen_by(process: u32, path: &Path) -> PathBuf {
    let below = path.strip_prefix("/").unwrap_or(path);
    let theirs = PathBuf::from(format!("/proc/{process}/root")).join(below);
    if theirs.exists() {
        theirs
    } else {
        path.to_owned()
    }
}

/// The file as the program sees it, which may be in a container.
pub(in crate::doctor) fn seen(facts: &Facts, path: &Path) -> PathBuf {
    match (&facts.root, &facts.process) {
        (Some(root), _) => within(root, path.strip_prefix("/").unwrap_or(path)),
        (None, Some(process)) => seen_by(process.id, path),
        (None, None) => path.to_owned(),
    }
}

/// The file below the root of a container, where absolute links begin at that root.
pub(in crate::doctor) fn within(root: &Path, below: &Path) -> PathBuf {
    let mut path = root.to_owned();
    for part in below.components() {
        path.push(part);
        // A chain of links that never ends is a file that cannot be opened.
        for _ in 0..8 {
            let Ok(target) = fs::read_link(&path) else {
                break;
            };
            path = match target.strip_prefix("/") {
                Ok(target) => root.join(target),
                Err(_) => path.with_file_name("").join(target),
            };
        }
    }
    path
}

/// A library in the usual folders of a container.
pub(in crate::doctor) fn library_in(root: &Path, name: &str) -> Option<PathBuf> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["lib", "lib64", "usr/lib", "usr/lib64", "usr/local/lib"];
    let plain = folders.iter().map(PathBuf::from);
    let multi = ["lib", "usr/lib"].map(|folder| Path::new(folder).join(&triple));
    plain
        .chain(multi)
        .map(|folder| within(root, &folder.join(name)))
        .find(|path| path.is_file())
}

/// Where the loader finds a library that a file needs.
fn place(facts: &Facts, file: &Path, binary: &Binary, name: &str) -> Place {
    let listed: Vec<PathBuf> = match facts.variable(FOLDERS) {
        Some(folders) => std::env::split_paths(folders).collect(),
        None => Vec::new(),
    };
    let listed = listed.iter().filter(|folder| folder.is_absolute());
    let of_file = binary.run_paths.iter().filter_map(|folder| {
        let Some(below) = folder
            .strip_prefix("$ORIGIN")
            .or(folder.strip_prefix("${ORIGIN}"))
        else {
            return Some(seen(facts, Path::new(folder)));
        };
        Some(file.parent()?.join(below.trim_start_matches('/')))
    });
    let mut folders = listed
        .map(|folder| seen(facts, folder))
        .chain(of_file)
        .map(|folder| folder.join(name));
    let own = folders.find(|path| path.is_file());
    let root = facts.root.as_deref().unwrap_or(Path::new("/"));
    match own.or_else(|| library_in(root, name)) {
        Some(path) => Place::At(path),
        None => Place::Nowhere,
    }
}

/// The first library that the loader does not find; `told` is its message.
pub(in crate::doctor) fn missing(
    facts: &Facts,
    path: &Path,
    told: Option<&str>,
) -> Option<Missing> {
    let place = |file: &Path, binary: &Binary, name: &str| place(facts, file, binary, name);
    // The loader and the libraries of a container are others, so that nothing was loaded.
    if facts.root.is_some() {
        return first_missing(path, place);
    }
    // The loader has places that are not known here.
    let name = missing_name(told?)?;
    let needed_by = who_needs(path, name, place).unwrap_or_else(|| path.to_owned());
    (Path::new(name) != path).then(|| Missing {
        name: name.to_owned(),
        needed_by,
    })
}

/// The name in the message of the loader of glibc or of musl.
fn missing_name(told: &str) -> Option<&str> {
    let of_glibc = || {
        let (before, _) = told.split_once(": cannot open shared object file")?;
        before.rsplit([' ', '(', '`', '\n']).next()
    };
    let of_musl = || {
        let (_, after) = told.split_once("Error loading shared library ")?;
        after.split(':').next()
    };
    of_glibc().or_else(of_musl).filter(|name| !name.is_empty())
}

/// The remedy if the loader does not find a library.
pub(in crate::doctor) fn provide(name: &str) -> String {
    format!("Install the package with {name}, or add its folder to {FOLDERS} of the program.")
}

/// How to let the user of the program read a file.
pub(in crate::doctor) fn permit(path: &Path) -> String {
    format!("chmod a+r `{}`.", path.display())
}

/// How to let the user of the program enter the folders of a file.
pub(in crate::doctor) fn permit_folders(path: &Path) -> String {
    format!(
        "Give the user of the program the right to read it: chmod a+rx on the folders of `{}`.",
        path.display()
    )
}

/// Whether the process belongs to another user, who may not read the file.
pub(in crate::doctor) fn other_cannot_read(facts: &Facts, path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let Some(user) = facts.other_user().filter(|user| *user != 0) else {
        return false;
    };
    fs::metadata(path)
        .is_ok_and(|about| about.uid() != user && about.permissions().mode() & 0o004 == 0)
}

/// How a process crashed, if it did.
pub(in crate::doctor) fn crash(status: ExitStatus) -> Option<String> {
    // A signal has ended it.
    status.code().is_none().then(|| status.to_string())
}

/// The fault if the runtime does not listen for diagnostic tools.
pub(in crate::doctor) fn no_endpoint(facts: &Facts, process: &Process) -> Fault {
    let folder = facts.variable("TMPDIR").unwrap_or("/tmp");
    let seen = seen_by(process.id, Path::new(folder));
    let remedy = "Start the program with TMPDIR set to a folder that it can write to; until then nothing can be attached.";
    if fs::metadata(seen).is_ok_and(|about| about.is_dir()) {
        return Fault::new(
            "no-socket",
            format!(
                "The process {} has no socket in its temporary folder `{folder}`: the folder was read-only when the \
                 program began, or was cleaned since.",
                process.id
            ),
            remedy,
        );
    }
    Fault::new(
        "no-temporary-folder",
        format!(
            "The temporary folder `{folder}` of the process {} does not exist.",
            process.id
        ),
        remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_messages_of_loaders() {
        for (told, name) in [
            (
                "it is missing. (libz.so.1: cannot open shared object file: No such file or directory)",
                Some("libz.so.1"),
            ),
            (
                "Error loading shared library libz.so.1: No such file or directory (needed by /x/p.so)",
                Some("libz.so.1"),
            ),
            ("undefined symbol: frob", None),
        ] {
            assert_eq!(missing_name(told), name);
        }
    }

    #[test]
    fn lists_of_both_systems() {
        assert_eq!(paths_of_list("/a:/b").len(), 2);
        assert_eq!(paths_of_list("/a;/b").len(), 2);
        assert_eq!(paths_of_list("/a").len(), 1);
    }
}
