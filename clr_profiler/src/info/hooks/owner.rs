//! The owner of the hooks and the mapper of their ids. A process has one set of both.
//!
//! Hooks use the number from the mapper, usually as a pointer. So both must have the same owner, whichever
//! native calls set them.

use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

#[derive(Clone, Copy)]
enum Owner {
    /// The component that [`Setup`](crate::Setup) installs.
    Setup,
    /// The profiler's author, by calls of [`ProfilerInfo`](crate::ProfilerInfo).
    Author,
}

static OWNER: Mutex<Option<Owner>> = Mutex::new(None);

/// Makes `Setup` the owner of hooks and mapper, permanently.
///
/// # Errors
///
/// Hooks and mapper have an owner already.
pub(crate) fn claim_hooks(call: &'static str) -> Result<()> {
    let mut owner = OWNER.lock().unwrap_or_else(PoisonError::into_inner);
    let rule = match owner.replace(Owner::Setup) {
        None => return Ok(()),
        Some(Owner::Setup) => {
            "this library has already set hooks, and a process has one set of them"
        }
        Some(Owner::Author) => {
            *owner = Some(Owner::Author);
            "hooks or a mapper were set on `ProfilerInfo` before: hooks and the mapper of their ids \
             have one owner, so set both there, or both by `Setup`"
        }
    };
    Err(Error::rule(call, rule))
}

/// Makes a call that sets hooks or the mapper for the profiler's author.
pub(super) fn by_author(call: &'static str, set: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut owner = OWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Owner::Setup) = *owner {
        return Err(Error::rule(
            call,
            "`Setup` has set the hooks and the mapper of their ids; a process has one set of both",
        ));
    }
    set()?;
    *owner = Some(Owner::Author);
    Ok(())
}
