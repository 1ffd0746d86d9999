//! [`Failure`]: the report of an error or panic in a profiler's code.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::events::Callback;

/// A failure of a callback of the profiler or of a component, or a panic in a
/// [`NativeCall`](crate::rewrite::NativeCall) or in a function on a thread of the library.
///
/// The runtime and the program are not affected; the hook of [`Setup::on_failure`](crate::Setup::on_failure)
/// gets this report. Its `Display` is one line.
#[derive(Debug)]
pub struct Failure {
    pub(crate) place: FailurePlace,
    pub(crate) cause: FailureCause,
    pub(crate) disabled: bool,
    /// `None` for the profiler itself.
    pub(crate) component: Option<Arc<str>>,
    /// `None` unless several run as one.
    pub(crate) profiler: Option<Arc<str>>,
}

/// The code that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePlace {
    /// A callback.
    Callback(Callback),
    /// A function that rewritten code calls: a [`NativeCall`](crate::rewrite::NativeCall).
    NativeCall,
    /// A closure of a [`Patch`](crate::patches::Patch).
    Patch,
    /// A function that the library calls on one of its own threads, such as the one to which a
    /// [`Sampler`](crate::sampling::Sampler) delivers samples.
    Thread,
}

/// Why the code failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FailureCause {
    /// It returned this error.
    Error(Error),
    /// It panicked with this message, which includes the source location if it is known.
    Panic(String),
}

impl Failure {
    /// A failure of the profiler itself, which stays enabled.
    pub(crate) fn in_callback(callback: Callback, cause: FailureCause) -> Self {
        Self {
            place: FailurePlace::Callback(callback),
            cause,
            disabled: false,
            component: None,
            profiler: None,
        }
    }

    /// The code that failed.
    #[must_use]
    pub fn place(&self) -> FailurePlace {
        self.place
    }

    /// The error or the panic.
    #[must_use]
    pub fn cause(&self) -> &FailureCause {
        &self.cause
    }

    /// The component that failed; `None` for the profiler.
    #[must_use]
    pub fn component(&self) -> Option<&str> {
        self.component.as_deref()
    }

    /// The type of the profiler that failed or whose component failed, if several run as one by
    /// `register!(compose(..))`; otherwise `None`.
    #[must_use]
    pub fn profiler(&self) -> Option<&str> {
        self.profiler.as_deref()
    }

    /// Whether this was the panic that disabled the profiler or the component.
    ///
    /// See [`Setup::panic_limit`](crate::Setup::panic_limit) and
    /// [`Component::panic_limit`](crate::Component::panic_limit).
    #[must_use]
    pub fn disabled(&self) -> bool {
        self.disabled
    }
}

impl fmt::Display for FailurePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Callback(callback) => f.write_str(callback.name()),
            Self::NativeCall => f.write_str("a native call"),
            Self::Patch => f.write_str("a patch"),
            Self::Thread => f.write_str("a thread of the library"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.place)?;
        if let Some(component) = &self.component {
            write!(f, "of the component `{component}` ")?;
        }
        if let Some(profiler) = &self.profiler {
            write!(f, "of the profiler `{profiler}` ")?;
        }
        match &self.cause {
            FailureCause::Error(error) => write!(f, "failed: {error}")?,
            FailureCause::Panic(message) => write!(f, "panicked: {message}")?,
        }
        if self.disabled {
            let who = match &self.component {
                Some(_) => "component",
                None => "profiler",
            };
            write!(f, " (too many panics: the {who} gets no more callbacks)")?;
        }
        Ok(())
    }
}
