//! [`RewriteError`]: why a method keeps its IL.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use clr_profiler_il::boxing::BoxingError;
use clr_profiler_il::edit::{EditError, NotInstrumentable};
use clr_profiler_il::metadata::ImportError;

/// Why a method was not rewritten; it keeps the IL that it had.
///
/// An [`Error`] of [`Method::rewrite`](crate::Method::rewrite) contains one, which [`RewriteError::of`]
/// returns.
#[derive(Clone)]
pub struct RewriteError(Arc<Inner>);

struct Inner {
    method: String,
    problem: String,
    reason: Option<NotInstrumentable>,
    listing: Option<String>,
    hresult: crate::Hresult,
}

impl RewriteError {
    #[cold]
    pub(super) fn new(method: String, problem: impl fmt::Display) -> Self {
        Self(Arc::new(Inner {
            method,
            problem: problem.to_string(),
            reason: None,
            listing: None,
            hresult: crate::Hresult::E_FAIL,
        }))
    }

    /// A problem from an error, with its reason and listing.
    #[cold]
    pub(super) fn from_error(method: String, error: &Error) -> Self {
        Self(Arc::new(Inner {
            method,
            problem: error.to_string(),
            reason: reason_of(error),
            listing: of_kind::<Refused>(error).map(|refused| refused.listing.clone()),
            hresult: error.hresult(),
        }))
    }

    /// The `RewriteError` in an error, if it has one.
    #[must_use]
    pub fn of(error: &Error) -> Option<&Self> {
        of_kind(error)
    }

    /// The full name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// Why the method cannot be instrumented, if that is the problem.
    #[must_use]
    pub fn reason(&self) -> Option<NotInstrumentable> {
        self.0.reason
    }

    /// The new body in text, if it was refused after the edit.
    #[must_use]
    pub fn listing(&self) -> Option<&str> {
        self.0.listing.as_deref()
    }

    /// The code of the error: that of the call of the runtime, if one failed.
    #[must_use]
    pub fn hresult(&self) -> crate::Hresult {
        self.0.hresult
    }
}

/// The error of a certain type that an error wraps.
fn of_kind<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    match error.kind() {
        ErrorKind::Other(error) => error.downcast_ref(),
        _ => None,
    }
}

fn reason_of(error: &Error) -> Option<NotInstrumentable> {
    if let Some(reason) = of_kind::<NotInstrumentable>(error) {
        return Some(*reason);
    }
    match of_kind::<EditError>(error) {
        Some(EditError::NotInstrumentable(reason)) => Some(*reason),
        _ => None,
    }
}

impl fmt::Display for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not rewritten: {}", self.0.method, self.0.problem)
    }
}

impl fmt::Debug for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RewriteError")
            .field(&self.to_string())
            .finish()
    }
}

impl std::error::Error for RewriteError {}

/// A new body that breaks a rule, with its text.
pub(super) struct Refused {
    pub(super) problem: String,
    pub(super) listing: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Refused {}

/// Lets `?` convert the errors of the IL crate and [`RewriteError`] to [`Error`], also in the closure that edits.
macro_rules! refusals {
    ($($refusal:ty),*) => {$(
        impl From<$refusal> for Error {
            fn from(refusal: $refusal) -> Self {
                Self::other(refusal)
            }
        }
    )*};
}

refusals!(
    EditError,
    NotInstrumentable,
    BoxingError,
    ImportError,
    RewriteError
);
