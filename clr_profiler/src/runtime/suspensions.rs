//! [`Suspensions`]: one suspension of the runtime at a time, and a detach that waits for its end.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::thread_state::may_wait;
use super::{detaches, lock, wait_while};
use crate::error::{Error, Hresult, Result};

/// Whether the profiler suspends the runtime, and whether it has requested a detach.
///
/// There is one suspension at a time: the runtime has a single flag for those of the profiler, which it clears when it
/// has resumed. A second thread whose suspension begins just then is refused to resume, and the runtime would stay suspended.
///
/// After a detach is granted, the runtime refuses to resume: a runtime that is suspended then would stay
/// suspended. So a detach waits until there is no suspension, and none begins after the request.
#[derive(Default)]
pub(super) struct Suspensions {
    state: Mutex<SuspensionState>,
    changed: Condvar,
}

#[derive(Default)]
struct SuspensionState {
    /// Whether there is a suspension, or one that is about to begin.
    is_suspended: bool,
    detach: DetachState,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum DetachState {
    #[default]
    NotRequested,
    /// The runtime has not yet returned from the request.
    Requested,
    Granted,
}

impl Suspensions {
    /// A suspension is about to begin. An error if there is another one.
    pub(super) fn begin(&self, call: &'static str) -> Result<()> {
        let mut state = lock(&self.state);
        if state.detach != DetachState::NotRequested {
            return Err(detaching(call));
        }
        if state.is_suspended {
            return Err(Error::call(call, Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS));
        }
        state.is_suspended = true;
        Ok(())
    }

    /// The suspension has ended, or could not begin.
    pub(super) fn end(&self) {
        lock(&self.state).is_suspended = false;
        self.changed.notify_all();
    }

    /// Waits until there is no suspension. None begins afterwards if the caller has closed the handle before.
    pub(super) fn wait_until_none(&self) {
        drop(self.none());
    }

    /// Whether a detach was granted.
    pub(super) fn is_detached(&self) -> bool {
        lock(&self.state).detach == DetachState::Granted
    }

    /// Waits for the end of a suspension, and requests a detach. An error if a detach is being requested, or
    /// was granted before.
    pub(super) fn detach(
        &self,
        call: &'static str,
        request: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        if state.detach != DetachState::NotRequested {
            return Err(detaching(call));
        }
        // If this thread is in cooperative mode, a suspension that begins waits for it.
        if state.is_suspended && !may_wait() {
            return Err(Error::rule_with_code(
                call,
                "another thread suspends the runtime, and this callback may not wait for it: \
                 request the detach on a thread of the profiler's own",
                Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS,
            ));
        }
        state.detach = DetachState::Requested;
        drop(state);
        drop(self.none());
        let answer = detaches::request(call, request);
        lock(&self.state).detach = match answer {
            Ok(()) => DetachState::Granted,
            Err(_) => DetachState::NotRequested,
        };
        self.changed.notify_all();
        answer
    }

    /// Waits until the native request to detach, if there is one, has returned. Whether the detach was granted.
    pub(super) fn wait_for_request(&self) -> bool {
        let state = lock(&self.state);
        let is_requested = |state: &mut SuspensionState| state.detach == DetachState::Requested;
        wait_while(&self.changed, state, is_requested).detach == DetachState::Granted
    }

    /// Waits for the end of a suspension, and returns the locked state.
    fn none(&self) -> MutexGuard<'_, SuspensionState> {
        wait_while(&self.changed, lock(&self.state), |state| state.is_suspended)
    }
}

fn detaching(call: &'static str) -> Error {
    Error::call(call, Hresult::CORPROF_E_PROFILER_DETACHING)
}
