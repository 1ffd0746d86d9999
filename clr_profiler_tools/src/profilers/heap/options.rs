//! The options that the command passes.

use std::time::Duration;

use crate::report::{Output, Settings};
use clr_profiler::{Error, Result};

/// When to record the heap, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    /// The type of the object whose path from a root is shown.
    pub(crate) path: Option<String>,
    /// The length of the texts of strings, if they are wanted.
    pub(crate) strings: Option<u32>,
    pub(crate) after: Option<Duration>,
    pub(crate) every: Option<Duration>,
    pub(crate) on_signal: bool,
}

/// The format of the file, by its name's ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Chrome,
    Table,
}

impl Options {
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let output = Output::whole(settings.path("HEAP_SNAPSHOT_OUTPUT", "heap.heapsnapshot"))?;
        let form = match output.path().extension() {
            Some(end) if end == "heapsnapshot" => Form::Chrome,
            _ => Form::Table,
        };
        let path = settings.text("HEAP_SNAPSHOT_PATH")?;
        if path.is_some() && form == Form::Chrome {
            return Err(Error::other(
                "the path to an object is shown in a table: `--path` needs `--output` with another \
                 ending than .heapsnapshot",
            ));
        }
        Ok(Self {
            output,
            form,
            path,
            strings: length(settings, "HEAP_SNAPSHOT_STRINGS")?,
            after: seconds(settings, "HEAP_SNAPSHOT_AFTER")?,
            every: seconds(settings, "HEAP_SNAPSHOT_EVERY")?,
            on_signal: settings.is_set("HEAP_SNAPSHOT_SIGNAL"),
        })
    }
}

impl Options {
    /// Whether the fields and elements of references are shown.
    pub(crate) fn needs_places(&self) -> bool {
        self.form == Form::Chrome || self.path.is_some()
    }
}

/// The largest length of a text.
const LONGEST: u32 = 65_536;

fn length(settings: &Settings, name: &str) -> Result<Option<u32>> {
    let Some(text) = settings.text(name)? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(length @ 1..=LONGEST) => Ok(Some(length)),
        _ => Err(Error::other(format!(
            "`{text}` is not a length of texts from 1 to {LONGEST}"
        ))),
    }
}

fn seconds(settings: &Settings, name: &str) -> Result<Option<Duration>> {
    let Some(text) = settings.text(name)? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(seconds @ 0.01..=1e6) => Ok(Some(Duration::from_secs_f64(seconds))),
        _ => Err(Error::other(format!(
            "`{text}` is not a number of seconds from 0.01 to 1000000"
        ))),
    }
}
