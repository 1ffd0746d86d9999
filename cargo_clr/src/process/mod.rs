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

/// Whether a process that has mapped these files has mapped this one.
pub(crate) fn has_mapped(mappings: &[PathBuf], path: &Path) -> bool {
    // A process in a container has another path, which may not exist here.
    let canonical = std::fs::canonicalize(path);
    let canonical = canonical.as_deref().unwrap_or(path);
    let wanted = [plain(canonical), plain(path)];
    mappings
        .iter()
        .any(|mapping| wanted.contains(&plain(mapping)))
}

/// The path in the form in which two paths of one file are equal.
#[cfg(not(windows))]
fn plain(path: &Path) -> &Path {
    path
}

/// A canonical path begins with a prefix that the paths of modules do not have, and their case differs.
#[cfg(windows)]
fn plain(path: &Path) -> String {
    let path = path.to_string_lossy().to_lowercase().replace('/', r"\");
    match path.strip_prefix(r"\\?\unc\") {
        Some(share) => format!(r"\\{share}"),
        None => path.trim_start_matches(r"\\?\").to_owned(),
    }
}

/// Whether a file is a library of this name.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| stem == name)
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_path() {
        let mappings = [r"C:\Tools\P.dll", r"\\server\share\q.dll"].map(PathBuf::from);
        for path in [
            r"\\?\c:\tools\p.dll",
            r"C:/Tools/p.dll",
            r"\\?\UNC\Server\share\q.dll",
        ] {
            assert!(has_mapped(&mappings, Path::new(path)), "{path}");
        }
        assert!(!has_mapped(&mappings, Path::new(r"C:\Tools\q.dll")));
    }
}
