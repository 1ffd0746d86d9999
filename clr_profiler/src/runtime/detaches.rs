//! The detaches of all profilers of this library, one after the other.
//!
//! A runtime with several profilers has one thread that detaches them. Of the requests that wait when it wakes up it
//! takes half, and forgets the others until there is another request: their profilers would never be detached. So no
//! request is made while one of this library is not done.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::thread_state::may_wait;
use crate::error::{Error, Hresult, Result};
use crate::locks::{lock, wait_until, wait_while};

/// How long a request waits for detaches that were granted. They take up to 5 s if no callback runs. A request
/// after this time cannot be forgotten with another one of this library, and the runtime itself lets it wait until
/// the current detach is done. A detach that was forgotten together with that of another library continues with it.
const LIMIT: Duration = Duration::from_secs(10);

static DETACHES: Detaches = Detaches {
    state: Mutex::new(State {
        is_requesting: false,
        granted: 0,
    }),
    changed: Condvar::new(),
};

struct Detaches {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Whether the runtime has not yet returned from a request.
    is_requesting: bool,
    /// Detaches that were granted, and whose profilers the runtime has not yet released.
    granted: u32,
}

/// Waits for the other detaches, and makes the request.
pub(super) fn request(call: &'static str, request: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut state = lock(&DETACHES.state);
    // If this thread is in cooperative mode, the runtime may need it for that detach.
    if (state.is_requesting || state.granted != 0) && !may_wait() {
        return Err(Error::rule_with_code(
            call,
            "another profiler of this library is being detached, and this callback may not wait for it: \
             request the detach on a thread of the profiler's own",
            Hresult::CORPROF_E_PROFILER_DETACHING,
        ));
    }
    let deadline = Instant::now() + LIMIT;
    loop {
        let is_requesting = |state: &mut State| state.is_requesting;
        state = wait_while(&DETACHES.changed, state, is_requesting);
        if state.granted == 0 || Instant::now() >= deadline {
            break;
        }
        state = wait_until(&DETACHES.changed, state, deadline);
    }
    state.is_requesting = true;
    drop(state);
    let answer = request();
    let mut state = lock(&DETACHES.state);
    state.is_requesting = false;
    state.granted += u32::from(answer.is_ok());
    drop(state);
    DETACHES.changed.notify_all();
    answer
}

/// The runtime releases a profiler whose detach was granted.
pub(super) fn ended() {
    lock(&DETACHES.state).granted -= 1;
    DETACHES.changed.notify_all();
}
