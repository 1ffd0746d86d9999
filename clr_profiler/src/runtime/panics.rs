//! Panics of user code: their messages are kept for the profiler's author instead of printed.
//!
//! A profiler is a library with its own copy of `std`, so the panic hook that is set here is not that of the
//! program, and within the library it affects only panics inside a callback.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Once, PoisonError, RwLock};

thread_local! {
    /// The number of guards on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The message and location of the last panic inside a guard on this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Whether a panic outside of all guards is nevertheless one of the library's own code: if one of them says so.
static IS_OWN: RwLock<Vec<fn() -> bool>> = RwLock::new(Vec::new());

/// Silences panics also on threads for which `is_own` returns true: it recognises code that does not mark the
/// thread.
pub(crate) fn silence_where(is_own: fn() -> bool) {
    let mut all = IS_OWN.write().unwrap_or_else(PoisonError::into_inner);
    all.push(is_own);
}

/// Whether a panic outside of all guards is one of the library's own code.
fn is_own() -> bool {
    let all = IS_OWN.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().any(|is_own| is_own())
}

/// Silences panics inside a callback; others reach the previous hook.
pub(crate) fn silence() {
    static SET: Once = Once::new();
    if std::thread::panicking() {
        return;
    }
    SET.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if DEPTH.get() == 0 && !is_own() {
                previous(panic);
            } else {
                record(panic);
            }
        }));
    });
}

fn record(panic: &PanicHookInfo<'_>) {
    let message = message_of(panic.payload());
    let described = match panic.location() {
        Some(place) => format!("{message} (at {place})"),
        None => message.to_owned(),
    };
    // While a thread ends, its thread-locals may be destroyed; then only the message remains, without the
    // location.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = Some(described);
        }
    });
}

fn message_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}

/// Runs user code, and turns a panic into its message.
pub(crate) fn catch<R>(user_code: impl FnOnce() -> R) -> Result<R, String> {
    DEPTH.with(|depth| caught(depth, user_code))
}

/// Accessing the thread-local takes longer than all the rest, so it is done once.
fn caught<R>(depth: &Cell<u32>, user_code: impl FnOnce() -> R) -> Result<R, String> {
    depth.set(depth.get() + 1);
    // Broken state of user code affects only itself: everything that it shares with the library is borrowed,
    // in types that a panic cannot leave in an invalid state.
    let outcome = catch_unwind(AssertUnwindSafe(user_code));
    let outcome = outcome.map_err(message_of_caught);
    depth.set(depth.get() - 1);
    outcome
}

/// The message of a panic that was caught.
fn message_of_caught(payload: Box<dyn Any + Send>) -> String {
    let remembered = LAST.try_with(|last| last.try_borrow_mut().ok().and_then(|mut m| m.take()));
    let message = remembered
        .ok()
        .flatten()
        .unwrap_or_else(|| message_of(&*payload).to_owned());
    // A payload may panic again when it is dropped; then the second one is leaked.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    message
}

/// The message of a panic that was caught without [`catch`].
#[cold]
pub(crate) fn message_of_panic(payload: Box<dyn Any + Send>) -> String {
    DEPTH.set(DEPTH.get() + 1);
    let message = message_of_caught(payload);
    DEPTH.set(DEPTH.get() - 1);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("again");
        }
    }

    #[test]
    fn the_message_says_where() {
        silence();
        let message = catch(|| panic!("boom {}", 7)).unwrap_err();
        assert!(message.starts_with("boom 7 (at "), "{message}");
        assert!(message.contains("panics.rs"), "{message}");
    }

    #[test]
    fn a_payload_that_panics_again_does_not_get_out() {
        silence();
        let message = catch(|| std::panic::panic_any(PanicsWhenDropped)).unwrap_err();
        assert!(
            message.starts_with("a panic without a message"),
            "{message}"
        );
        assert_eq!(catch(|| 5), Ok(5));
        assert_eq!(DEPTH.get(), 0);
    }
}
