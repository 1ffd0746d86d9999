//! Faults of libraries for Linux: their C library, and file systems.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::super::Fault;
use super::super::binary;
use super::super::facts::Facts;
use super::super::system::{library_in, within};
use super::library::{loaded, readable};

pub(super) fn wrong_c_library(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let library = binary::read(&path)?;
    let is_musl = is_musl(facts)?;
    let (theirs, ours) = match (is_musl, library.needs_musl(), library.needs_glibc()) {
        (true, false, true) => ("glibc", "musl, as in Alpine"),
        (false, true, _) => ("musl", "glibc"),
        _ => return None,
    };
    Some(Fault::new(
        "wrong-c-library",
        format!(
            "`{}` was linked with {theirs}, and the program runs with {ours}.",
            named.path.display()
        ),
        format!(
            "Set {} to a library that was built for that C library.",
            named.variable
        ),
    ))
}

/// Whether the program runs with musl; `None` if it is not known.
fn is_musl(facts: &Facts) -> Option<bool> {
    let mappings = facts
        .process
        .as_ref()
        .and_then(|process| process.mappings.as_ref());
    match mappings {
        Some(mappings) => {
            let has = |part: &str| {
                mappings
                    .iter()
                    .any(|path| path.to_string_lossy().contains(part))
            };
            match (has("ld-musl-"), has("libc.so.6")) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                _ => None,
            }
        }
        None => match &facts.root {
            Some(root) => {
                let has = |folder: &str, start: &str| {
                    let entries = fs::read_dir(within(root, Path::new(folder)));
                    entries
                        .into_iter()
                        .flatten()
                        .flatten()
                        .any(|entry| entry.file_name().to_string_lossy().starts_with(start))
                };
                match (has("lib", "ld-musl-"), has("lib64", "ld-linux-")) {
                    (true, false) => Some(true),
                    (false, true) => Some(false),
                    _ => None,
                }
            }
            None => Some(cfg!(target_env = "musl")),
        },
    }
}

pub(super) fn newer_c_library(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let (major, minor) = binary::read(&path)?.glibc?;
    let here = match &facts.root {
        Some(root) => glibc_in(root)?,
        None => glibc()?,
    };
    if (major, minor) <= here {
        return None;
    }
    Some(Fault::new(
        "newer-c-library",
        format!(
            "`{}` needs glibc {major}.{minor}, and this system has {}.{}.",
            named.path.display(),
            here.0,
            here.1
        ),
        "Build the library on a system as old as the oldest on which it runs, or link it for an older glibc.",
    ))
}

/// The version of this system's glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

/// The version of the glibc in a container, which says it in words.
fn glibc_in(root: &Path) -> Option<(u32, u32)> {
    let bytes = fs::read(library_in(root, "libc.so.6")?).ok()?;
    let words = b"release version ";
    let at = bytes.windows(words.len()).position(|part| part == words)?;
    let text = bytes.get(at + words.len()..)?;
    let text = String::from_utf8_lossy(&text[..text.len().min(16)]);
    let mut numbers = text.split(|text: char| !text.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

pub(super) fn noexec(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let told = loaded(facts, &path).err()?.1;
    if !told.contains("failed to map segment") {
        return None;
    }
    Some(Fault::new(
        "noexec",
        format!(
            "`{}` is on a file system that is mounted with `noexec`.",
            named.path.display()
        ),
        "Copy the library to another file system, or mount this one without `noexec`.",
    ))
}
