//! The libraries that a library needs, and those that these need.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::{Binary, read};

/// Where a loader finds a library that another one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The system has it, with everything that it needs.
    #[cfg_attr(
        not(windows),
        expect(dead_code, reason = "elsewhere it is a file like any other")
    )]
    System,
    At(PathBuf),
    Nowhere,
}

/// A library that is not there, and the file that needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) name: String,
    pub(crate) needed_by: PathBuf,
}

/// The first library that a loader would not find: one that the file needs, or one of those that are needed by these.
pub(crate) fn first_missing(
    file: &Path,
    mut find: impl FnMut(&Path, &Binary, &str) -> Place,
) -> Option<Missing> {
    walk(
        file,
        &mut |path, binary, name| match find(path, binary, name) {
            Place::At(found) => Step::Into(found),
            Place::System => Step::Over,
            Place::Nowhere => Step::Here,
        },
    )
}

/// The file that needs the library of this name, which the loader of Linux says without the file: this one, or one of those that it needs.
#[cfg(not(windows))]
pub(crate) fn who_needs(
    file: &Path,
    wanted: &str,
    mut find: impl FnMut(&Path, &Binary, &str) -> Place,
) -> Option<PathBuf> {
    let found = walk(file, &mut |path, binary, name| {
        if name.eq_ignore_ascii_case(wanted) {
            return Step::Here;
        }
        match find(path, binary, name) {
            Place::At(found) => Step::Into(found),
            Place::System | Place::Nowhere => Step::Over,
        }
    });
    found.map(|missing| missing.needed_by)
}

enum Step {
    Into(PathBuf),
    Over,
    Here,
}

/// The nearest needs first, each file once: libraries may need each other.
fn walk(file: &Path, step: &mut dyn FnMut(&Path, &Binary, &str) -> Step) -> Option<Missing> {
    let mut seen = BTreeSet::from([file.to_owned()]);
    let mut files = VecDeque::from([file.to_owned()]);
    while let Some(path) = files.pop_front() {
        let Some(binary) = read(&path) else {
            continue;
        };
        for name in &binary.needed {
            match step(&path, &binary, name) {
                Step::Into(found) => {
                    if seen.insert(found.clone()) {
                        files.push_back(found);
                    }
                }
                Step::Over => {}
                Step::Here => {
                    return Some(Missing {
                        name: name.clone(),
                        needed_by: path,
                    });
                }
            }
        }
    }
    None
}
