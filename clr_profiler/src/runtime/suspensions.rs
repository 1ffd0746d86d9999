//! [`Suspensions`]: the suspensions of the runtime, and the detach that waits for them.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::thread_state::may_wait;
use super::{lock, wait_while};
use crate::error::{Error, Hresult, Result};

/// How many suspensions there are, and whether the profiler has requested to be detached.
///
/// Once a detach is granted, the runtime refuses to resume: a runtime that is suspended then would
/// stay suspended. So a detach waits until there is no suspension, and no suspension begins from its
/// request on.
#[derive(Default)]
pub(super) struct Suspensions {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Those that are held, and those that are about to begin.
    count: u32,
    detach: Detach,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Detach {
    #[default]
    NotRequested,
    /// The runtime has not answered yet.
    Requested,
    Granted,
}

impl Suspensions {
    /// Counts a suspension that is about to begin.
    pub(super) fn begin(&self, call: &'static str) -> Result<()> {
        let mut state = lock(&self.state);
        if state.detach != Detach::NotRequested {
            return Err(detaching(call));
        }
        state.count += 1;
        Ok(())
    }

    /// The suspension has ended, or could not begin.
    pub(super) fn end(&self) {
        lock(&self.state).count -= 1;
        self.changed.notify_all();
    }

    /// Waits until there is none. None begins afterwards if the caller has closed the handle before.
    pub(super) fn wait_until_none(&self) {
        drop(self.none());
    }

    /// Whether a detach was granted.
    pub(super) fn is_detached(&self) -> bool {
        lock(&self.state).detach == Detach::Granted
    }

    /// Makes the request for a detach when there is no suspension, unless it was granted before or
    /// is under way.
    pub(super) fn detach(
        &self,
        call: &'static str,
        request: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        if state.detach != Detach::NotRequested {
            return Err(detaching(call));
        }
        // A suspension that begins waits for this thread, if that is in cooperative mode.
        if state.count != 0 && !may_wait() {
            return Err(Error::rule_with_code(
                call,
                "another thread suspends the runtime, and this callback may not wait for it: \
                 request the detach on a thread of the profiler's own",
                Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS,
            ));
        }
        state.detach = Detach::Requested;
        drop(state);
        drop(self.none());
        let answer = request();
        lock(&self.state).detach = match answer {
            Ok(()) => Detach::Granted,
            Err(_) => Detach::NotRequested,
        };
        answer
    }

    /// The state when there is no suspension.
    fn none(&self) -> MutexGuard<'_, State> {
        wait_while(&self.changed, lock(&self.state), |state| state.count != 0)
    }
}

fn detaching(call: &'static str) -> Error {
    Error::call(call, Hresult::CORPROF_E_PROFILER_DETACHING)
}
