//! [`Failure`]: what a profiler's author learns when their code went wrong.

use std::fmt;

use crate::callbacks::Callback;
use crate::error::Error;

/// A callback of the profiler that failed or panicked, or a [`NativeCall`](crate::NativeCall) that
/// panicked.
///
/// The runtime and the program never notice: this is for the hook of
/// [`Setup::on_failure`](crate::Setup::on_failure). Prints as one line.
#[derive(Debug)]
pub struct Failure {
    pub(crate) place: FailurePlace,
    pub(crate) cause: FailureCause,
    pub(crate) retired: bool,
}

/// Code of the profiler that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePlace {
    /// A callback.
    Callback(Callback),
    /// A function that rewritten code calls: a [`NativeCall`](crate::NativeCall).
    NativeCall,
}

/// Why it failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FailureCause {
    /// It returned this error.
    Error(Error),
    /// It panicked: the message, and the place in the source where that is known.
    Panic(String),
}

impl Failure {
    /// The code that failed.
    pub fn place(&self) -> FailurePlace {
        self.place
    }

    /// What happened in it.
    pub fn cause(&self) -> &FailureCause {
        &self.cause
    }

    /// Whether this was the panic after which no more callbacks reach the profiler.
    ///
    /// See [`Setup::panic_limit`](crate::Setup::panic_limit).
    pub fn retired(&self) -> bool {
        self.retired
    }
}

impl fmt::Display for FailurePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Callback(callback) => f.write_str(callback.name()),
            Self::NativeCall => f.write_str("a native call"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.place)?;
        match &self.cause {
            FailureCause::Error(error) => write!(f, "failed: {error}")?,
            FailureCause::Panic(message) => write!(f, "panicked: {message}")?,
        }
        if self.retired {
            f.write_str(" (too many panics: the profiler gets no more callbacks)")?;
        }
        Ok(())
    }
}
