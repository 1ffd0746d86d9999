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

/// What went wrong in a hook or in the filter of the hooks. Prints as one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookFailure {
    /// The filter failed for this function, which has no hooks.
    Filter(FunctionId, Error),
    /// The filter panicked for this function, which has no hooks: message and place.
    FilterPanicked(FunctionId, String),
    /// A hook failed in a call of this function.
    Hook(FunctionId, Error),
    /// A hook panicked, and none is called from now on: message and place.
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
                write!(f, "a hook panicked, none is called any more: {message}")
            }
        }
    }
}

/// What the hooks' trampolines work with: a leaked value whose type they know, or null where no
/// hook is to be called (any more).
static ACTIVE: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The runtime whose hooks they are.
static INFO: OnceLock<ProfilerInfo> = OnceLock::new();

/// Makes a value the one that trampolines get, for good.
///
/// # Errors
///
/// Where there is one already, or others have set hooks or a mapper.
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
    // SAFETY: it was leaked just now, and is only read from now on.
    Ok(unsafe { &*state })
}

/// The value that was activated, unless hooks are retired.
///
/// # Safety
///
/// Trampolines for `S` are the only ones that call this, and the runtime got them after a value of
/// that type was activated.
#[inline]
pub(super) unsafe fn active<S: Sync + 'static>() -> Option<&'static S> {
    // SAFETY: as the caller promises, null or a leaked `S`.
    unsafe { ACTIVE.load(Ordering::Acquire).cast::<S>().as_ref() }
}

/// From now on no hook of this runtime's is called: it shuts down.
pub(super) fn shut_down(info: &ProfilerInfo) {
    // Another profiler of the same library may have none.
    if INFO
        .get()
        .is_some_and(|its| its.identity() == info.identity())
    {
        retire();
    }
}

/// From now on no hook is called.
pub(super) fn retire() {
    ACTIVE.store(null_mut(), Ordering::Release);
}

/// Whether there are no hooks to be called.
pub(super) fn is_retired() -> bool {
    ACTIVE.load(Ordering::Acquire).is_null()
}

/// Whether a panic on this thread, outside of all callbacks, is most likely one of a hook: the
/// thread runs managed code. Hooks leave no mark of their own: that would cost more than they do.
#[cold]
fn is_hook() -> bool {
    !is_retired()
        && INFO
            .get()
            .is_some_and(|info| info.current_thread_id().is_ok())
}

/// Ends the hooks because one of them panicked, and gives the panic's message.
#[cold]
pub(super) fn retire_after(payload: Box<dyn Any + Send>) -> HookFailure {
    retire();
    HookFailure::HookPanicked(message_of_panic(payload))
}
