//! The parts of a profiler: the trait [`Profiler`], its decisions in [`Setup`], and the reports of its
//! failures.

mod components;
mod diagnostics;
mod ends;
mod failure;
mod failures;
mod setup;
mod traits;

pub(crate) use components::{Attached, Components, has_components, name_of, needed_without};
pub(crate) use diagnostics::{counts, write};
pub(crate) use ends::Ends;
pub use failure::{Failure, FailureCause, FailurePlace};
#[cfg(test)]
pub(crate) use failures::tests::with_hook;
pub(crate) use failures::{native_call_panicked, report, started, stopped, thread_panicked};
pub(crate) use setup::FailureHook;
pub use setup::Setup;
pub use traits::{Component, Profiler};
