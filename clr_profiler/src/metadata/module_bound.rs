//! [`ModuleBound`]: an interface to the metadata of a module, valid as long as the module is loaded.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::lifetimes::{InFlight, TargetState};
use crate::native::{Argument, CallContext, cast};
use crate::runtime::{Suspended, suspended};
use clr_profiler_sys as sys;
use sys::Interface;

/// An interface to metadata, possibly that of a loaded module, which the runtime frees with the module
/// whatever references there are.
pub(crate) struct ModuleBound<I: Interface> {
    interface: ManuallyDrop<I>,
    /// The module; `None` if the metadata was opened from a file or memory, and is freed with its last
    /// reference.
    pub(super) module: Option<ModuleId>,
}

/// An interface during a call.
pub(crate) struct InUse<T> {
    interface: T,
    /// An unload of the module waits for the call.
    _in_flight: InFlight,
}

impl<T> Deref for InUse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.interface
    }
}

impl<I: Interface> ModuleBound<I> {
    pub(super) fn new(interface: I, module: Option<ModuleId>) -> Self {
        Self {
            interface: ManuallyDrop::new(interface),
            module,
        }
    }

    /// Prevents the unload of the module during this call.
    #[inline]
    pub(super) fn pin(&self, call: &'static str) -> Result<InFlight> {
        let in_flight = InFlight::begin();
        if let Some(module) = self.module {
            if suspended() == Suspended::ForGc {
                return Err(Error::rule(
                    call,
                    "the runtime is suspended for a garbage collection; call the metadata in a later \
                     callback",
                ));
            }
            module.to_native(&CallContext::of(call))?;
        }
        Ok(in_flight)
    }

    /// The interface for this call.
    #[inline]
    pub(crate) fn in_use(&self, call: &'static str) -> Result<InUse<&I>> {
        let _in_flight = self.pin(call)?;
        Ok(InUse {
            interface: &self.interface,
            _in_flight,
        })
    }

    /// Another interface of the same object, for this call.
    pub(crate) fn query_interface<J: Interface>(&self, call: &'static str) -> Result<InUse<J>> {
        let own = self.in_use(call)?;
        Ok(InUse {
            interface: cast(*own, call)?,
            _in_flight: own._in_flight,
        })
    }

    /// Another interface of the same object.
    pub(super) fn other<J: Interface>(&self, call: &'static str) -> Result<ModuleBound<J>> {
        Ok(ModuleBound::new(
            cast(*self.in_use(call)?, call)?,
            self.module,
        ))
    }
}

impl<I: Interface> Deref for ModuleBound<I> {
    type Target = I;

    fn deref(&self) -> &I {
        &self.interface
    }
}

impl<I: Interface> Drop for ModuleBound<I> {
    fn drop(&mut self) {
        let _in_flight = InFlight::begin();
        let is_there = |module: ModuleId| module.state() != TargetState::Gone;
        // The runtime frees the object with the module, and there is no reference to release anymore.
        if self.module.is_none_or(is_there) {
            // SAFETY: the field is not used again.
            unsafe { ManuallyDrop::drop(&mut self.interface) };
        }
    }
}
