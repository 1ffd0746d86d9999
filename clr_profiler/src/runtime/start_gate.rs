//! [`StartGate`]: threads of the library wait here for the profiler's start.

use std::sync::{Condvar, Mutex};

use super::{lock, wait_while};

/// Opens when `initialize` has returned and the runtime has the events and hooks of the profiler; for an
/// attached profiler, when the runtime reports that the attach is complete.
///
/// A thread that calls the runtime earlier would be refused calls that these events allow, or use a profiler
/// that does not exist yet. The gate is shut for good when the runtime shuts down or releases the profiler.
#[derive(Default)]
pub(crate) struct StartGate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum GateState {
    #[default]
    Closed,
    Open,
    Shut,
}

impl StartGate {
    /// Opens the gate: the profiler has started.
    pub(super) fn open(&self) {
        let mut state = lock(&self.state);
        if *state == GateState::Closed {
            *state = GateState::Open;
        }
        self.changed.notify_all();
    }

    /// Shuts the gate: the profiler has ended, or will not start.
    pub(super) fn shut(&self) {
        *lock(&self.state) = GateState::Shut;
        self.changed.notify_all();
    }

    /// Waits for the start; `false` if there will be none, or if `is_stopped` becomes true before.
    pub(crate) fn pass(&self, is_stopped: impl Fn() -> bool) -> bool {
        let wait = |state: &mut GateState| *state == GateState::Closed && !is_stopped();
        let state = wait_while(&self.changed, lock(&self.state), wait);
        *state == GateState::Open && !is_stopped()
    }

    /// Wakes the waiting threads, which check again whether they are stopped.
    pub(crate) fn wake(&self) {
        drop(lock(&self.state));
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn threads_pass_when_it_opens_and_not_when_it_is_shut() {
        for (end, passes) in [
            (StartGate::open as fn(&StartGate), true),
            (StartGate::shut, false),
        ] {
            let gate = Arc::new(StartGate::default());
            let waiter = thread::spawn({
                let gate = Arc::clone(&gate);
                move || gate.pass(|| false)
            });
            end(&gate);
            assert_eq!(waiter.join().unwrap(), passes);
            assert_eq!(gate.pass(|| false), passes);
        }
    }

    #[test]
    fn a_gate_that_was_shut_does_not_open() {
        let gate = StartGate::default();
        gate.open();
        gate.shut();
        gate.open();
        assert!(!gate.pass(|| false));
    }

    #[test]
    fn a_thread_that_is_stopped_does_not_wait() {
        let (gate, is_stopped) = (
            Arc::new(StartGate::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let waiter = thread::spawn({
            let (gate, is_stopped) = (Arc::clone(&gate), Arc::clone(&is_stopped));
            move || gate.pass(|| is_stopped.load(Ordering::SeqCst))
        });
        is_stopped.store(true, Ordering::SeqCst);
        gate.wake();
        assert!(!waiter.join().unwrap());
    }
}
