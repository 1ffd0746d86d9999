//! [`ComObject`], an object whose interfaces are not known.

use std::ffi::c_void;

use crate::native::{FromNative, results};
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

opaque! { ComObject }

/// A reference to a COM object through `IUnknown`, for calls whose interfaces this crate does not declare.
///
/// Cloning adds a reference; dropping releases it.
#[doc(alias = "IUnknown")]
#[derive(Clone)]
pub struct ComObject(IUnknown);

impl ComObject {
    /// Takes ownership of a reference to an object; `None` for a null pointer.
    ///
    /// # Safety
    ///
    /// `raw` is null or points to a live COM object, and the caller transfers a reference that it owns.
    #[must_use]
    pub unsafe fn from_raw(raw: *mut c_void) -> Option<Self> {
        // SAFETY: the caller transfers its own reference to a live object, whose vtable begins with the
        // methods of `IUnknown`.
        (!raw.is_null()).then(|| Self(unsafe { IUnknown::from_raw(raw) }))
    }

    /// The borrowed `IUnknown` pointer, which is valid as long as this reference.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.as_raw()
    }

    pub(crate) fn native(&self) -> &IUnknown {
        &self.0
    }
}

results! {
    *mut c_void => ComObject = |raw, context| Ok(Self(FromNative::from_native(raw, context)?));
}
