//! Spans: the calls of a program with their times, parents and outcomes, and files of them.
//!
//! [`Spans`] records them on the threads of the program, and a thread of the tool takes those that have ended.
//! [`TraceFile`] is a file of them for Perfetto and Chrome.

mod store;
mod trace_file;

pub use store::{MethodTotals, Outcome, Span, Spans};
pub use trace_file::TraceFile;
