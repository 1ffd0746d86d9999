//! [`OutStream`]: an `IStream` that keeps what is written to it.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Mutex, PoisonError};

use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

const IID_ISEQUENTIAL_STREAM: GUID = GUID::from_u128(0x0C733A30_2A1C_11CE_ADE5_00AA0044773D);
const IID_ISTREAM: GUID = GUID::from_u128(0x0000000C_0000_0000_C000_000000000046);

/// The stream that metadata is saved to: it only takes what is written, from front to back.
pub(in crate::metadata) struct OutStream(NonNull<Object>);

#[repr(C)]
struct Object {
    vtable: &'static Vtable,
    references: AtomicU32,
    written: Mutex<Vec<u8>>,
}

/// `IStream`, objidl.h.
#[repr(C)]
struct Vtable {
    base__: IUnknown_Vtbl,
    read: unsafe extern "system" fn(*mut c_void, *mut c_void, u32, *mut u32) -> HRESULT,
    write: unsafe extern "system" fn(*mut c_void, *const c_void, u32, *mut u32) -> HRESULT,
    seek: unsafe extern "system" fn(*mut c_void, i64, u32, *mut u64) -> HRESULT,
    set_size: unsafe extern "system" fn(*mut c_void, u64) -> HRESULT,
    copy_to:
        unsafe extern "system" fn(*mut c_void, *mut c_void, u64, *mut u64, *mut u64) -> HRESULT,
    commit: unsafe extern "system" fn(*mut c_void, u32) -> HRESULT,
    revert: unsafe extern "system" fn(*mut c_void) -> HRESULT,
    lock_region: unsafe extern "system" fn(*mut c_void, u64, u64, u32) -> HRESULT,
    unlock_region: unsafe extern "system" fn(*mut c_void, u64, u64, u32) -> HRESULT,
    stat: unsafe extern "system" fn(*mut c_void, *mut c_void, u32) -> HRESULT,
    clone: unsafe extern "system" fn(*mut c_void, *mut *mut c_void) -> HRESULT,
}

static VTABLE: Vtable = Vtable {
    base__: IUnknown_Vtbl {
        QueryInterface: query,
        AddRef: add_ref,
        Release: release,
    },
    read: not_read,
    write,
    seek: not_sought,
    set_size,
    copy_to: not_copied,
    commit,
    revert: not_reverted,
    lock_region: not_locked,
    unlock_region: not_locked,
    stat: not_told,
    clone: not_cloned,
};

impl OutStream {
    pub(in crate::metadata) fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::new(Object {
            vtable: &VTABLE,
            references: AtomicU32::new(1),
            written: Mutex::default(),
        }))))
    }

    pub(in crate::metadata) fn as_raw(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// What was written.
    pub(in crate::metadata) fn take(self) -> Vec<u8> {
        // SAFETY: `self` holds a reference.
        let object = unsafe { self.0.as_ref() };
        std::mem::take(
            &mut object
                .written
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

impl Drop for OutStream {
    fn drop(&mut self) {
        // SAFETY: this is the reference that `new` made.
        unsafe { release(self.as_raw()) };
    }
}

/// # Safety
///
/// `this` is an [`Object`] to which a reference is held for `'a`.
unsafe fn object<'a>(this: *mut c_void) -> &'a Object {
    // SAFETY: as the caller promises.
    unsafe { &*this.cast::<Object>() }
}

unsafe extern "system" fn query(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: COM: `this` is ours, the others are null or valid.
    let (iid, out) = unsafe { (iid.as_ref(), out.as_mut()) };
    let (Some(iid), Some(out)) = (iid, out) else {
        return sys::E_POINTER;
    };
    if [IUnknown::IID, IID_ISEQUENTIAL_STREAM, IID_ISTREAM].contains(iid) {
        *out = this;
        // SAFETY: the caller holds a reference.
        unsafe { add_ref(this) };
        sys::S_OK
    } else {
        *out = std::ptr::null_mut();
        sys::E_NOINTERFACE
    }
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    unsafe { object(this) }
        .references
        .fetch_add(1, Ordering::Relaxed)
        + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: the caller gives up a reference, which it still holds.
    let left = unsafe { object(this) }
        .references
        .fetch_sub(1, Ordering::Release)
        - 1;
    if left == 0 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last reference; `new` made the object of a `Box`.
        drop(unsafe { Box::from_raw(this.cast::<Object>()) });
    }
    left
}

unsafe extern "system" fn write(
    this: *mut c_void,
    bytes: *const c_void,
    length: u32,
    written: *mut u32,
) -> HRESULT {
    // SAFETY: the caller holds a reference, and passes `length` bytes.
    unsafe {
        if length != 0 {
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
            object(this)
                .written
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(bytes);
        }
        if let Some(written) = written.as_mut() {
            *written = length;
        }
    }
    sys::S_OK
}

unsafe extern "system" fn set_size(_: *mut c_void, _: u64) -> HRESULT {
    sys::S_OK
}

unsafe extern "system" fn commit(_: *mut c_void, _: u32) -> HRESULT {
    sys::S_OK
}

unsafe extern "system" fn not_read(_: *mut c_void, _: *mut c_void, _: u32, _: *mut u32) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_sought(_: *mut c_void, _: i64, _: u32, _: *mut u64) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_copied(
    _: *mut c_void,
    _: *mut c_void,
    _: u64,
    _: *mut u64,
    _: *mut u64,
) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_reverted(_: *mut c_void) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_locked(_: *mut c_void, _: u64, _: u64, _: u32) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_told(_: *mut c_void, _: *mut c_void, _: u32) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn not_cloned(_: *mut c_void, _: *mut *mut c_void) -> HRESULT {
    sys::E_NOTIMPL
}
