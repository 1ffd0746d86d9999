//! Where panics of functions end that IL has called.

use std::sync::{Arc, Mutex, PoisonError};

use super::value::NativeReturn;
use crate::boundary::catch;

type Hook = Arc<dyn Fn(&str) + Send + Sync>;

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

/// Says what to do when a function that rewritten code calls panics: the hook is told the message,
/// with the place where it is known.
///
/// The last hook counts, for all profilers of the library. It runs on the thread of the program, and
/// a panic of its own is dropped. Where a call [without
/// transition](super::NativeCall::without_transition) may panic, the rules of that are the hook's
/// rules, too.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static PANICS: AtomicU32 = AtomicU32::new(0);
///
/// clr_profiler::on_native_panic(|_message| {
///     PANICS.fetch_add(1, Ordering::Relaxed);
/// });
/// ```
pub fn on_native_panic(hook: impl Fn(&str) + Send + Sync + 'static) {
    let hook: Hook = Arc::new(hook);
    // The old one is dropped without the lock: dropping is user code.
    let old = HOOK
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(hook);
    drop(old);
}

/// Runs a function; a panic becomes zero.
#[inline]
pub(super) fn guarded<R: NativeReturn>(function: impl FnOnce() -> R) -> R {
    match catch(function) {
        Ok(result) => result,
        Err(message) => {
            tell(&message);
            R::ZERO
        }
    }
}

#[cold]
fn tell(message: &str) {
    let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(hook) = hook {
        // It may be the last reference, and dropping is user code.
        let _ = catch(move || {
            hook(message);
            drop(hook);
        });
    }
}
