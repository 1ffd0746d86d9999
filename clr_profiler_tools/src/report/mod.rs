//! Results that are complete, however the program ends, and options of tools.
//!
//! A profiler runs in someone else's process, which may return from `Main`, call
//! `Environment.Exit`, die of an uncaught exception, or get Ctrl-C or `kill`. [`Report`]
//! writes the results in all of these cases, and periodically for
//! those that cannot be foreseen (`kill -KILL`, the runtime's own abort, a power failure). [`Output`] is
//! the file: whole lines are appended, or the file is replaced whole; [`EventFile`] is one that grows.
//!
//! Files are readable only for their user ([`private`]).
//!
//! No file is open between two writes, because the program may have few descriptors, and no
//! failing write reaches the program: [`failures`] counts them with all other failures,
//! and reports them in one line when the program ends. [`methods_from_environment`] reads the option `--methods`, and
//! [`rewriting`] has parts of profilers that rewrite.

#[cfg(windows)]
mod console;
mod event_file;
pub mod failures;
pub mod helper;
pub(crate) mod masks;
mod methods;
mod moments;
pub(crate) mod output;
mod pace;
pub mod private;
mod requests;
pub mod rewriting;
mod session;
mod settings;
#[cfg(target_os = "linux")]
mod signals;

pub use clr_profiler::info::is_framework;
pub use event_file::EventFile;
#[cfg(feature = "profilers")]
pub(crate) use methods::read_methods;
pub use methods::{methods, methods_from_environment, methods_or_all};
pub use moments::{Moment, Report, When};
pub use output::{Output, path_from_environment};
pub use pace::Pace;
pub use requests::Requests;
pub use session::{Session, Tool};
pub use settings::Settings;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose holder may have panicked: the program continues, and so do the results.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A limit of an example, which its tests lower by this variable.
#[must_use]
pub fn limit(variable: &str, otherwise: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.and_then(|number| number.parse().ok())
        .unwrap_or(otherwise)
}
