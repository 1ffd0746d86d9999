//! [`ComObject`]: an object of which no interface is known.

use std::ffi::c_void;

use crate::native::{Answer, answers};
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

opaque! { ComObject }

/// A reference to a COM object through `IUnknown`, for calls whose interfaces this crate does not declare.
///
/// A clone is another reference; dropping it releases the reference.
#[doc(alias = "IUnknown")]
#[derive(Clone)]
pub struct ComObject(IUnknown);

impl ComObject {
    /// Takes over a reference to an object; `None` for a null pointer.
    ///
    /// # Safety
    ///
    /// `raw` is null or points to a live COM object, and the caller owns a reference to it and gives it away.
    #[must_use]
    pub unsafe fn from_raw(raw: *mut c_void) -> Option<Self> {
        // SAFETY: the caller gives a reference of its own to a live object, whose vtable begins with the
        // methods of `IUnknown`.
        (!raw.is_null()).then(|| Self(unsafe { IUnknown::from_raw(raw) }))
    }

    /// The `IUnknown`, which is borrowed: the pointer is valid as long as this reference.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.as_raw()
    }

    pub(crate) fn native(&self) -> &IUnknown {
        &self.0
    }
}

answers! {
    *mut c_void => ComObject = |raw, asked| Ok(Self(Answer::answer(raw, asked)?));
}
