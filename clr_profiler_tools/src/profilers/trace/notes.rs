//! The requests that could not be met, or not completely.

use std::sync::Mutex;

use clr_profiler::Result;

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
    /// A method that was called too often, and has no spans since then.
    Counted,
    /// A counted method that was called too often even for that.
    GivenUp,
    /// An argument or a result that cannot be recorded.
    Argument,
    /// A value of a rule that is not read.
    Value,
    /// A rule that has matched no method.
    Unmatched,
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
    *lock(&SMALL) = (0, Vec::new());
    *lock(&DEFERRED) = (0, Vec::new());
}

/// The number of small methods, and the names of the first of them.
static SMALL: Mutex<(u64, Vec<String>)> = Mutex::new((0, Vec::new()));
/// The same of the methods that have waited for spans.
static DEFERRED: Mutex<(u64, Vec<String>)> = Mutex::new((0, Vec::new()));
/// The limit for the names of small methods.
const NAMED: usize = 1_000;
/// The limit for those of methods that have waited, which are looked up when the program ends.
pub(crate) const NAMED_DEFERRED: usize = 200;

/// Adds a method that is too small for spans.
pub(crate) fn add_small(name: impl FnOnce() -> Result<String>) {
    let mut small = lock(&SMALL);
    small.0 += 1;
    if small.1.len() < NAMED
        && let Ok(name) = name()
    {
        small.1.push(name);
    }
}

/// The numbers of methods that are too small for spans, that have waited for them, and that are only counted.
pub(crate) fn without_spans() -> [u64; 3] {
    let notes = lock(&NOTES);
    let counted = notes.iter().filter(|note| note.about == About::Counted);
    let counted = counted.count() as u64;
    drop(notes);
    [lock(&SMALL).0, lock(&DEFERRED).0, counted]
}

/// The number of methods that are too small for spans, and the names of the first of them.
pub(crate) fn small() -> (u64, Vec<String>) {
    lock(&SMALL).clone()
}

/// Sets the number of methods that have waited for spans, and the names of the first of them.
pub(crate) fn set_deferred(count: u64, names: Vec<String>) {
    *lock(&DEFERRED) = (count, names);
}

/// The number of methods that have waited for spans, and the names of the first of them.
pub(crate) fn deferred() -> (u64, Vec<String>) {
    lock(&DEFERRED).clone()
}

/// Adds a note, and returns whether it is a new one.
pub(crate) fn add(about: About, name: &str, reason: impl ToString) -> bool {
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
    let is_new = notes.len() < MOST && !notes.contains(&note);
    if is_new {
        notes.push(note);
    }
    is_new
}

pub(crate) fn all(about: About) -> Vec<Note> {
    let notes = lock(&NOTES);
    notes
        .iter()
        .filter(|note| note.about == about)
        .cloned()
        .collect()
}
