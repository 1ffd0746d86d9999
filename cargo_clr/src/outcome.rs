//! How the command ends.

use std::fmt;
use std::process::ExitCode;

/// Why the command ends without success: whole sentences.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The command failed.
    pub(crate) const FAILED: u8 = 1;
    /// The command line is wrong.
    pub(crate) const USAGE: u8 = 2;

    pub(crate) fn new(message: impl Into<String>) -> Self {
        let (message, code) = (message.into(), Self::FAILED);
        Self { message, code }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        let (message, code) = (message.into(), Self::USAGE);
        Self { message, code }
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<clr_profiler_launcher::Error> for Failure {
    fn from(error: clr_profiler_launcher::Error) -> Self {
        use clr_profiler_launcher::Error;
        match error {
            // The path was given on the command line.
            Error::NoSuchProgram { .. }
            | Error::ProgramIsFolder { .. }
            | Error::NotDotnet { .. } => Self::usage(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

/// Maps an error of a file; `doing` completes "cannot".
pub(crate) fn io(doing: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::new(format!("Cannot {doing} `{}`: {error}.", path.display()))
}
