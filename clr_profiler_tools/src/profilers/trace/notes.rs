//! The requests that could not be met, or not completely.

use std::sync::Mutex;

use crate::report::{failures, lock};

/// The limit for notes.
const MOST: usize = 10_000;

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// A method or an assembly that is not traced.
    Refused,
    /// A method whose spans end when it returns, although its work continues.
    UpToReturn,
    /// An argument that cannot be recorded.
    Argument,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) about: About,
    pub(crate) name: String,
    pub(crate) reason: String,
}

static NOTES: Mutex<Vec<Note>> = Mutex::new(Vec::new());

/// Another run of the tool begins.
pub(crate) fn forget() {
    lock(&NOTES).clear();
}

pub(crate) fn add(about: About, name: &str, reason: impl ToString) {
    if about == About::Refused {
        failures::add("refused", format_args!("{name}: {}", reason.to_string()));
    }
    let note = Note {
        about,
        name: name.to_owned(),
        reason: reason.to_string(),
    };
    let mut notes = lock(&NOTES);
    // In a running program methods are rewritten more than once.
    if notes.len() < MOST && !notes.contains(&note) {
        notes.push(note);
    }
}

pub(crate) fn all(about: About) -> Vec<Note> {
    let notes = lock(&NOTES);
    notes
        .iter()
        .filter(|note| note.about == about)
        .cloned()
        .collect()
}
