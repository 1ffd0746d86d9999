//! What ids are good for: until when the thing that an id stands for is there, and who is using it.
//!
//! The runtime takes an id for the address of its data, and frees that when a collectible module is
//! unloaded or a thread ends. So a call that takes an id is known while it is made ([`InFlight`]), and
//! looks before it hands the id over whether its thing is gone. Who sees a thing go first says so, in
//! [`seen`] or [`threads`], and then waits for the calls that may not have seen it ([`wait_for_calls`]).
//! All that is to be read in a call is read without a lock ([`map`]).

mod in_flight;
mod map;
pub(crate) mod seen;
pub(crate) mod threads;

pub(crate) use in_flight::{
    InFlight, asks_about_thread, wait_for_calls, wait_for_calls_with_thread,
};

/// A profiler begins: what was known for those before it, if none of them runs any more, is forgotten
/// with all ids that they have left behind. One that is attached finds things that it saw not come.
pub(crate) fn begin(by_attach: bool) {
    if seen::begin(by_attach) {
        threads::begin();
    }
}

/// A profiler has ended.
pub(crate) fn end() {
    seen::end();
}

/// What can be said of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Its thing is there, and stays for the time of this call.
    There,
    /// Its thing is being loaded, and cannot be asked about yet.
    Loading,
    /// Its thing is gone, or about to go.
    Gone,
}
