//! Spans: the calls of a program with their times, parents and outcomes, and files of them.
//!
//! [`Spans`] records them on the threads of the program, and a thread of the tool takes those that have ended.
//! [`TraceFile`] is a file of them for Perfetto and Chrome.

#![cfg_attr(
    not(feature = "profilers"),
    allow(
        dead_code,
        unused_imports,
        reason = "compiled code records spans for the tracer alone"
    )
)]

// Reads the counter of the processor.
#[allow(unsafe_code)]
mod clock;
mod frames;
mod load;
mod said;
mod store;
// Compiled code calls its functions, which read the memory of a thread by its address.
#[allow(unsafe_code)]
pub(crate) mod threads;
mod totals;
mod trace_file;

pub(crate) use clock::{process_time, thread_time, ticks};
pub(crate) use said::IS_LISTED;
pub use store::{Outcome, Span, Spans};
pub(crate) use threads::Recording;
#[cfg(feature = "profilers")]
pub(crate) use threads::innermost_span;
pub use totals::MethodTotals;
pub use trace_file::TraceFile;
