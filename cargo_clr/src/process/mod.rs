//! Processes, as this user sees them.

use std::path::{Path, PathBuf};

#[cfg(not(windows))]
mod files;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use files::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// The name of the runtime's library.
pub(crate) const CORECLR: &str = if cfg!(windows) {
    "coreclr"
} else {
    "libcoreclr"
};

/// The library of the runtime in a process: its path, and the version of the folder that it is in.
pub(crate) fn runtime(mappings: &[PathBuf]) -> Option<(&Path, Option<String>)> {
    let library = mappings.iter().find(|path| is_named(path, CORECLR))?;
    let folder = library.parent().and_then(Path::file_name);
    let version = folder.map(|name| name.to_string_lossy().into_owned());
    let is_version = |name: &String| name.starts_with(|first: char| first.is_ascii_digit());
    Some((library, version.filter(is_version)))
}

/// Whether a file is a library of this name.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| stem == name)
}
