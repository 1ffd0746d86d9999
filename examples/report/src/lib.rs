//! What the example profilers share: results that are whole, however the program ends.
//!
//! A profiler lives in someone else's process, which may return from `Main`, call
//! `Environment.Exit`, die of an exception that nobody catches, get Ctrl-C or `kill`. [`Report`]
//! brings the results out in all of these cases that can be seen coming, and every now and then for
//! the others (`kill -KILL`, the runtime's own abort, the machine's end). [`Output`] is where they go: lines that are
//! appended whole, or a file that is replaced whole.

mod output;
mod report;
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod signals;

pub use output::Output;
pub use report::{Moment, Report};
