//! What the example profilers share: results that are whole, however the program ends, and which
//! methods are rewritten.
//!
//! A profiler lives in someone else's process, which may return from `Main`, call
//! `Environment.Exit`, die of an exception that nobody catches, get Ctrl-C or `kill`. [`Report`]
//! brings the results out in all of these cases that can be seen coming, and every now and then for
//! the others (`kill -KILL`, the runtime's own abort, the machine's end). [`Output`] is where they go: lines that are
//! appended whole, or a file that is replaced whole. [`Selection`] is the methods that are rewritten.

mod output;
mod program;
mod report;
mod selection;
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod signals;

pub use output::Output;
pub use program::{begins_like_framework, is_framework};
pub use report::{Moment, Report};
pub use selection::Selection;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder may have panicked: the program goes on, and so do the results.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A limit of an example, which its tests make smaller by this variable.
#[must_use]
pub fn limit(variable: &str, otherwise: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.and_then(|number| number.parse().ok())
        .unwrap_or(otherwise)
}
