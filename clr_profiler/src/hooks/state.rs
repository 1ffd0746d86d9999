//! The one set of hooks that a process can have.

use std::any::Any;
use std::fmt;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Error, Result};
use crate::ids::FunctionId;
use crate::info::{CorProfilerInfo, claim_hooks};
use crate::runtime::{ProfilerInfo, message_of_panic, silence_where};

/// A failure of a hook or of the filter of the hooks. Displayed as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookFailure {
    /// The filter failed for this function, which has no hooks.
    Filter(FunctionId, Error),
    /// The filter panicked for this function, which has no hooks: message and location.
    FilterPanicked(FunctionId, String),
    /// A hook failed in a call of this function.
    Hook(FunctionId, Error),
    /// A hook panicked, and all hooks are disabled: message and location.
    HookPanicked(String),
}

impl fmt::Display for HookFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter(function, error) => {
                write!(
                    f,
                    "the filter of the hooks failed for {function:?}: {error}"
                )
            }
            Self::FilterPanicked(function, message) => {
                write!(
                    f,
                    "the filter of the hooks panicked for {function:?}: {message}"
                )
            }
            Self::Hook(function, error) => {
                write!(f, "a hook failed in a call of {function:?}: {error}")
            }
            Self::HookPanicked(message) => {
                write!(
                    f,
                    "a hook panicked, and no hook is called anymore: {message}"
                )
            }
        }
    }
}

/// The state of the hooks' trampolines: a leaked value whose type they know, or null while no hook
/// is to be called.
static ACTIVE: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The runtime that calls the hooks.
static INFO: OnceLock<ProfilerInfo> = OnceLock::new();

/// Leaks a value and makes it the state of the trampolines.
///
/// # Errors
///
/// If hooks or a mapper were set before in this process.
pub(super) fn activate<S: Send + Sync + 'static>(
    call: &'static str,
    info: &ProfilerInfo,
    state: S,
) -> Result<&'static S> {
    claim_hooks(call)?;
    let _ = INFO.set(info.clone());
    silence_where(is_hook);
    let state = Box::into_raw(Box::new(state));
    ACTIVE.store(state.cast(), Ordering::Release);
    // SAFETY: the value was leaked above, and is only read from now on.
    Ok(unsafe { &*state })
}

/// The activated value, unless the hooks are disabled.
///
/// # Safety
///
/// Only trampolines for `S` call this, and they were set after a value of that type was activated.
#[inline]
pub(super) unsafe fn active<S: Sync + 'static>() -> Option<&'static S> {
    // SAFETY: null or a leaked `S`, as the caller promises.
    unsafe { ACTIVE.load(Ordering::Acquire).cast::<S>().as_ref() }
}

/// Disables the hooks of this runtime, which shuts down.
pub(super) fn shut_down(info: &ProfilerInfo) {
    // Another profiler of the same library may have none.
    if INFO
        .get()
        .is_some_and(|its| its.identity() == info.identity())
    {
        disable();
    }
}

/// Disables all hooks.
pub(super) fn disable() {
    ACTIVE.store(null_mut(), Ordering::Release);
}

/// Whether no hooks are active.
pub(super) fn are_disabled() -> bool {
    ACTIVE.load(Ordering::Acquire).is_null()
}

/// Whether a panic on this thread, outside of all callbacks, is most likely that of a hook: the
/// thread runs managed code. Hooks do not mark their thread: that would cost more than the hooks.
#[cold]
fn is_hook() -> bool {
    !are_disabled()
        && INFO
            .get()
            .is_some_and(|info| info.current_thread_id().is_ok())
}

/// Disables the hooks because one of them panicked, and returns the failure.
#[cold]
pub(super) fn disable_after(payload: Box<dyn Any + Send>) -> HookFailure {
    disable();
    HookFailure::HookPanicked(message_of_panic(payload))
}
