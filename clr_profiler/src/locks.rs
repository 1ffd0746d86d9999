//! Locks of what is whole at any time: the panic of another holder has left nothing half-done.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks it.
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
