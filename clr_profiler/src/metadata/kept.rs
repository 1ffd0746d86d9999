//! [`Kept`]: an interface to the metadata of a module, for as long as the module is there.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::lifetimes::{InFlight, State};
use crate::native::{Argument, Asked, cast};
use crate::runtime::{Suspended, suspended};
use clr_profiler_sys as sys;
use sys::Interface;

/// An interface to metadata that can be that of a loaded module: the runtime frees it with the module,
/// whoever holds references to it.
pub(crate) struct Kept<I: Interface> {
    interface: ManuallyDrop<I>,
    /// Whose it is; none where it was opened from a file or memory, which it then keeps.
    pub(super) module: Option<ModuleId>,
}

/// An interface during a call.
pub(crate) struct InUse<T> {
    interface: T,
    /// Whoever sees the module go waits for the call.
    _in_flight: InFlight,
}

impl<T> Deref for InUse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.interface
    }
}

impl<I: Interface> Kept<I> {
    pub(super) fn new(interface: I, module: Option<ModuleId>) -> Self {
        Self {
            interface: ManuallyDrop::new(interface),
            module,
        }
    }

    /// Keeps the module there, for this call.
    #[inline]
    pub(super) fn hold(&self, call: &'static str) -> Result<InFlight> {
        let in_flight = InFlight::begin();
        if let Some(module) = self.module {
            if suspended() == Suspended::ForGc {
                return Err(Error::rule(
                    call,
                    "the runtime is suspended for a garbage collection; remember what is needed and \
                     ask the metadata in a later callback",
                ));
            }
            module.to_native(&Asked::of(call))?;
        }
        Ok(in_flight)
    }

    /// For this call.
    #[inline]
    pub(crate) fn in_use(&self, call: &'static str) -> Result<InUse<&I>> {
        let _in_flight = self.hold(call)?;
        Ok(InUse {
            interface: &self.interface,
            _in_flight,
        })
    }

    /// Another interface of the same object, for this call.
    pub(crate) fn beside<J: Interface>(&self, call: &'static str) -> Result<InUse<J>> {
        let own = self.in_use(call)?;
        Ok(InUse {
            interface: cast(*own, call)?,
            _in_flight: own._in_flight,
        })
    }

    /// Another interface of the same object.
    pub(super) fn other<J: Interface>(&self, call: &'static str) -> Result<Kept<J>> {
        Ok(Kept::new(cast(*self.in_use(call)?, call)?, self.module))
    }
}

impl<I: Interface> Deref for Kept<I> {
    type Target = I;

    fn deref(&self) -> &I {
        &self.interface
    }
}

impl<I: Interface> Drop for Kept<I> {
    fn drop(&mut self) {
        let _in_flight = InFlight::begin();
        let is_there = |module: ModuleId| module.state() != State::Gone;
        // The reference to what the runtime has freed is nobody's.
        if self.module.is_none_or(is_there) {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.interface) };
        }
    }
}
