//! One error for all: whole sentences for the person who reads the test's output.

use std::fmt;
use std::path::Path;

/// Why a test cannot run.
#[derive(Debug)]
pub struct Error {
    message: String,
}

impl Error {
    /// An error with this message, a whole sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Maps an error of a file or folder; `doing` completes "cannot".
    pub(crate) fn io(doing: &str, path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::new(format!("Cannot {doing} `{}`: {error}.", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<clr_profiler_launcher::Error> for Error {
    fn from(error: clr_profiler_launcher::Error) -> Self {
        Self::new(error.to_string())
    }
}
