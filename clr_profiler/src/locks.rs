//! Locks of values that are consistent at any time, so that poisoning is ignored: a panic leaves nothing
//! half-done.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Locks a mutex, also a poisoned one.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while the condition holds, with a guard from [`lock`].
pub(crate) fn wait_while<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    condition: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_while(guard, condition);
    waited.unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a change until this time, with a guard from [`lock`].
pub(crate) fn wait_until<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Instant,
) -> MutexGuard<'a, T> {
    let left = deadline.saturating_duration_since(Instant::now());
    match changed.wait_timeout(guard, left) {
        Ok((guard, _)) => guard,
        Err(poisoned) => poisoned.into_inner().0,
    }
}
