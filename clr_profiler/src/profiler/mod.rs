//! The parts of a profiler: the trait [`Profiler`], its decisions in [`Setup`], and the reports of its
//! failures.

#[macro_use]
mod traits;
mod components;
mod diagnostics;
mod failure;
mod failures;
mod member;
mod setup;
mod unload_observer;

pub(crate) use components::{Attached, Components, has_components, name_of, needed_without};
pub(crate) use diagnostics::{confirm, counts, write};
pub use failure::{Failure, FailureCause, FailurePlace};
#[cfg(test)]
pub(crate) use failures::tests::with_hook;
pub(crate) use failures::{
    native_call_panicked, patch_failed, report, started, stopped, thread_panicked,
};
pub(crate) use member::{Member, NoCallbacks};
pub use setup::Setup;
pub(crate) use setup::{Claims, FailureHook};
pub use traits::{Component, Profiler};
pub(crate) use unload_observer::UnloadObserver;
