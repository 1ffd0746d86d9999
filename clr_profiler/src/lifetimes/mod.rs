//! The validity of ids: whether the target of an id still exists, and which calls use it.
//!
//! The runtime uses an id as the address of its data, and frees that when a collectible module is unloaded
//! or a thread ends. So a call that takes an id is recorded while it is made ([`InFlight`]), and checks
//! whether the target is gone before it passes the id. When a target goes, this is first recorded, in
//! [`seen`] or [`threads`], and then the calls that may not have seen the record are waited for
//! ([`wait_for_calls`]). Calls read all of this without a lock ([`map`]).

use std::time::Duration;

pub(crate) mod audience;
mod in_flight;
mod map;
pub(crate) mod seen;
pub(crate) mod threads;

pub(crate) use in_flight::{
    InFlight, asks_about_thread, wait_for_calls, wait_for_calls_with_thread,
};

/// Begins a profiler. If no other one runs, all records of earlier ones are cleared, and the ids that they
/// have kept are invalid. An attached profiler finds things whose load it has not seen.
pub(crate) fn begin(by_attach: bool) {
    if seen::begin(by_attach) {
        threads::begin();
    }
}

/// Ends a profiler.
pub(crate) fn end() {
    seen::end();
}

/// Waits for the calls that may not have seen the records before it, and frees the memory that only they could still read.
pub(crate) fn wait_and_free(patience: Duration) {
    let retired = (seen::take_retired(), threads::take_retired());
    if let Err((of_seen, of_threads)) = in_flight::drop_after_calls(Some(patience), retired) {
        seen::keep_retired(of_seen);
        threads::keep_retired(of_threads);
    }
}

/// The bytes of all records.
pub(crate) fn held_bytes() -> usize {
    seen::held_bytes() + threads::held_bytes()
}

/// The state of an id's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// It exists, and stays during the current call.
    Live,
    /// It is being loaded, and calls cannot use it yet.
    Loading,
    /// It is gone, or about to go.
    Gone,
}
