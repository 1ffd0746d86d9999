//! The sessions that are ending, and those that providers are being added to.
//!
//! The runtime looks a session up under its lock and adds to it without the lock: if another thread ends
//! the session meanwhile, the memory in use is freed. So nothing is added to a session that is ending, and
//! ending a session waits for additions, which are short and call nobody back. An addition does not wait
//! for the end of a session, because ending runs code of the program, which may wait for the adding thread.
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::types::EventPipeSessionId;
use crate::error::{Error, Result};

/// Sessions; each occurs once for each thread that works on it.
struct Sessions {
    being_ended: Vec<EventPipeSessionId>,
    added_to: Vec<EventPipeSessionId>,
}

static SESSIONS: Mutex<Sessions> = Mutex::new(Sessions {
    being_ended: Vec::new(),
    added_to: Vec::new(),
});
/// Notified after an addition to a session.
static ADDED: Condvar = Condvar::new();

fn sessions() -> MutexGuard<'static, Sessions> {
    // Never poisoned, because nothing panics while the lock is held.
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave_out(sessions: &mut Vec<EventPipeSessionId>, session: EventPipeSessionId) {
    if let Some(place) = sessions.iter().position(|other| *other == session) {
        sessions.swap_remove(place);
    }
}

/// An addition to a session, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct AddedTo(EventPipeSessionId);

/// Begins an addition; refused for a session that is ending.
pub(super) fn add_to(call: &'static str, session: EventPipeSessionId) -> Result<AddedTo> {
    let mut sessions = sessions();
    if sessions.being_ended.contains(&session) {
        return Err(Error::rule(call, "the session is being ended"));
    }
    sessions.added_to.push(session);
    Ok(AddedTo(session))
}

impl Drop for AddedTo {
    fn drop(&mut self) {
        leave_out(&mut sessions().added_to, self.0);
        ADDED.notify_all();
    }
}

/// The ending of a session, which is finished when this is dropped.
#[derive(Debug)]
pub(super) struct BeingEnded(EventPipeSessionId);

/// Waits until no thread adds to the session.
pub(super) fn end(session: EventPipeSessionId) -> BeingEnded {
    let mut sessions = sessions();
    sessions.being_ended.push(session);
    while sessions.added_to.contains(&session) {
        sessions = ADDED.wait(sessions).unwrap_or_else(PoisonError::into_inner);
    }
    BeingEnded(session)
}

impl Drop for BeingEnded {
    fn drop(&mut self) {
        leave_out(&mut sessions().being_ended, self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    const CALL: &str = "X::Y";

    #[test]
    fn an_end_waits_for_what_is_added_and_lets_nothing_more_be_added() {
        let (ours, other) = (EventPipeSessionId(0x71), EventPipeSessionId(0x72));
        let adding = add_to(CALL, ours).unwrap();
        let (sender, ended) = mpsc::channel();
        let ender = thread::spawn(move || {
            let ending = end(ours);
            sender.send(()).unwrap();
            thread::sleep(Duration::from_millis(50));
            drop(ending);
        });
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
        let refusal = add_to(CALL, ours).unwrap_err().to_string();
        assert_eq!(refusal, "X::Y was not called: the session is being ended");
        // Other sessions are not affected.
        drop(add_to(CALL, other).unwrap());
        drop(end(other));
        drop(adding);
        ended.recv().unwrap();
        assert!(add_to(CALL, ours).is_err());
        // Two threads that end one session do not wait for each other: the runtime synchronises them.
        drop(end(ours));
        assert!(add_to(CALL, ours).is_err());
        ender.join().unwrap();
        drop(add_to(CALL, ours).unwrap());
    }
}
