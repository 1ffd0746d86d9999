//! Reports failures of the profiler's code to its hook, or without one to the diagnostics.

use std::sync::{Arc, Mutex};

use super::diagnostics;
use super::failure::{Failure, FailureCause, FailurePlace};
use super::setup::FailureHook;
use crate::runtime::{catch, lock};

/// The hooks of the running profilers. Neither rewritten code nor a thread identifies the profiler that it
/// works for.
static RUNNING: Mutex<Vec<FailureHook>> = Mutex::new(Vec::new());

/// Reports a failure.
#[cold]
pub(crate) fn report(hook: Option<&FailureHook>, failure: Failure) {
    // The hook is user code, and so are the error's `Display` and `drop`.
    let _ = catch(move || {
        match hook {
            Some(hook) => hook(&failure),
            None => diagnostics::failure(&failure),
        }
        drop(failure);
    });
}

/// Reports a panic in a function that rewritten code has called.
#[cold]
pub(crate) fn native_call_panicked(message: String) {
    report_to_all(FailurePlace::NativeCall, FailureCause::Panic(message));
}

/// Reports the failure of a closure of a patch.
#[cold]
pub(crate) fn patch_failed(cause: FailureCause) {
    report_to_all(FailurePlace::Patch, cause);
}

/// Reports a panic on a thread of a component of the library.
#[cold]
pub(crate) fn thread_panicked(message: String) {
    report_to_all(FailurePlace::Thread, FailureCause::Panic(message));
}

/// Reports a failure to all hooks, because its profiler is not known.
fn report_to_all(place: FailurePlace, cause: FailureCause) {
    let failure = Failure {
        place,
        cause,
        disabled: false,
        component: None,
        profiler: None,
    };
    // A hook runs without the lock: it is user code.
    let hooks = lock(&RUNNING).clone();
    if hooks.is_empty() {
        diagnostics::failure(&failure);
    }
    for hook in &hooks {
        let _ = catch(|| hook(&failure));
    }
    // These may be the last references.
    let _ = catch(move || drop((hooks, failure)));
}

/// Adds the hook of a profiler that starts.
pub(crate) fn started(hook: &FailureHook) {
    lock(&RUNNING).push(Arc::clone(hook));
}

/// Removes the hook of a profiler that no longer runs.
pub(crate) fn stopped(hook: &FailureHook) {
    lock(&RUNNING).retain(|running| !Arc::ptr_eq(running, hook));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Runs code while a hook is registered.
    pub(crate) fn with_hook(hook: impl Fn(&Failure) + Send + Sync + 'static, code: impl FnOnce()) {
        let hook: FailureHook = Arc::new(hook);
        started(&hook);
        code();
        stopped(&hook);
    }
}
