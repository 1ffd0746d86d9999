//! COM objects of the library, which native calls take: a value with counted references.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::runtime::catch;
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown_Vtbl};

/// A value that is called through COM interfaces. An object has one interface; other interfaces are
/// separate objects, with a clone of the value.
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
    /// Creates an object with this interface; `None` if the value does not have it.
    pub(crate) fn new(value: T, iid: &GUID) -> Option<Self> {
        Some(Self(NonNull::from(Box::leak(Box::new(Inner {
            vtable: T::vtable(iid)?,
            references: AtomicU32::new(1),
            value,
        })))))
    }

    /// The borrowed native pointer.
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

/// Sets an output pointer for an interface to null, so that the caller never finds a pointer in it that it
/// must not release. `None` for a null output pointer.
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
    // SAFETY: by the rules of COM, `this` is our object, and the others are null or valid.
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
    // SAFETY: the caller releases a reference that it still holds.
    let object = unsafe { inner::<T>(this) };
    let left = object.references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last reference; `new` created the object from a `Box`.
        let object = unsafe { Box::from_raw(this.cast::<Inner<T>>()) };
        // Dropping the value may run user code.
        let _ = catch(move || drop(object));
    }
    left
}
