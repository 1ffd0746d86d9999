//! The handle to the runtime, and what is known of a thread and of the library itself.
//!
//! The floor of the crate: it knows errors, ids and events, and nothing of those that use it.

mod convert;
mod extensions;
pub(crate) mod handle;
mod in_flight;
mod own_library;
mod panics;
mod start_gate;
mod suspensions;
mod thread_state;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) use convert::{guid_of, slice, utf16_string, uuid, uuid_of};
pub use handle::ProfilerInfo;
pub(crate) use handle::{Reach, Sealed};
pub(crate) use own_library::{keep_loaded, own_library};
pub(crate) use panics::{catch, message_of_panic, silence, silence_where};
pub(crate) use thread_state::{
    Mark, Owner, Suspended, ThreadState, in_hook, in_walk, may_wait, objects_stay, outside_of_hook,
    owned_by, owner, set_suspended, suspended,
};

/// Locks what is whole at any time: the panic of another holder has left nothing half-done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for as long as the condition holds, for something that [`lock`] has locked.
pub(crate) fn wait_while<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    condition: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_while(guard, condition);
    waited.unwrap_or_else(PoisonError::into_inner)
}
