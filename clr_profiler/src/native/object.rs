//! COM objects of the library's own, which native calls take: a value behind counted references.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::runtime::catch;
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown_Vtbl};

/// A value that is called through COM interfaces. An object has one interface; those of the others are
/// objects of their own, with a clone of the value.
///
/// # Safety
///
/// Each vtable begins with [`unknown`] of this type, and its functions are for an [`Object`] of it.
pub(crate) unsafe trait Com: Clone + Send + Sync + 'static {
    /// The vtable of an interface.
    fn vtable(iid: &GUID) -> Option<*const IUnknown_Vtbl>;
}

/// A reference to an object.
pub(crate) struct Object<T: Com>(NonNull<Inner<T>>);

#[repr(C)]
struct Inner<T> {
    vtable: *const IUnknown_Vtbl,
    references: AtomicU32,
    value: T,
}

impl<T: Com> Object<T> {
    /// The object with this interface, if it has it.
    pub(crate) fn new(value: T, iid: &GUID) -> Option<Self> {
        Some(Self(NonNull::from(Box::leak(Box::new(Inner {
            vtable: T::vtable(iid)?,
            references: AtomicU32::new(1),
            value,
        })))))
    }

    /// As native code has it, borrowed.
    pub(crate) fn as_raw(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }
}

impl<T: Com> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: this is the reference that `new` made.
        unsafe { release::<T>(self.as_raw()) };
    }
}

/// The functions that every vtable begins with.
pub(crate) const fn unknown<T: Com>() -> IUnknown_Vtbl {
    IUnknown_Vtbl {
        QueryInterface: query::<T>,
        AddRef: add_ref::<T>,
        Release: release::<T>,
    }
}

/// # Safety
///
/// `this` is an object of `T` to which a reference is held for `'a`.
unsafe fn inner<'a, T: Com>(this: *mut c_void) -> &'a Inner<T> {
    // SAFETY: guaranteed by the caller.
    unsafe { &*this.cast::<Inner<T>>() }
}

/// The value of an object.
///
/// # Safety
///
/// `this` is an object of `T` to which a reference is held for `'a`.
pub(crate) unsafe fn value<'a, T: Com>(this: *mut c_void) -> &'a T {
    // SAFETY: guaranteed by the caller.
    &unsafe { inner::<T>(this) }.value
}

/// The place for an interface, if there is one, with null in it: whatever the answer will be, the
/// caller finds something there that it may release.
///
/// # Safety
///
/// `out` is null or points to space for a pointer, which nobody else uses during `'a`.
pub(crate) unsafe fn cleared<'a>(out: *mut *mut c_void) -> Option<&'a mut *mut c_void> {
    // SAFETY: guaranteed by the caller.
    let out = unsafe { out.as_mut() }?;
    *out = std::ptr::null_mut();
    Some(out)
}

unsafe extern "system" fn query<T: Com>(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: COM: `this` is ours, the others are null or valid.
    let (object, iid, out) = unsafe { (inner::<T>(this), iid.as_ref(), cleared(out)) };
    let (Some(iid), Some(out)) = (iid, out) else {
        return sys::E_POINTER;
    };
    if T::vtable(iid) == Some(object.vtable) {
        // SAFETY: the caller holds a reference.
        unsafe { add_ref::<T>(this) };
        *out = this;
    } else if let Some(other) = Object::new(object.value.clone(), iid) {
        *out = other.as_raw();
        std::mem::forget(other);
    } else {
        return sys::E_NOINTERFACE;
    }
    sys::S_OK
}

unsafe extern "system" fn add_ref<T: Com>(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    let object = unsafe { inner::<T>(this) };
    object.references.fetch_add(1, Ordering::Relaxed) + 1
}

unsafe extern "system" fn release<T: Com>(this: *mut c_void) -> u32 {
    // SAFETY: the caller gives up a reference, which it still holds.
    let object = unsafe { inner::<T>(this) };
    let left = object.references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last reference; `new` made the object of a `Box`.
        let object = unsafe { Box::from_raw(this.cast::<Inner<T>>()) };
        // Dropping the value can be user code.
        let _ = catch(move || drop(object));
    }
    left
}
