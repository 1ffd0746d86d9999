//! The two functions that the runtime looks up, and the one that profilers look up in the runtime.

use std::ffi::c_void;

use clr_profiler_sys::{
    GUID, HRESULT, HRESULT_FROM_WIN32_ERROR_MOD_NOT_FOUND as MODULE_NOT_FOUND, S_FALSE,
};

use crate::{library, proxy};

/// Returns the class object of the real profiler's library.
///
/// # Safety
///
/// `class` and `iid` are GUIDs, and `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn DllGetClassObject(
    class: *const GUID,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    let Some(real) = library::real() else {
        return MODULE_NOT_FOUND;
    };
    // SAFETY: the arguments are those of the caller.
    let answer = unsafe { (real.get_class_object)(class, iid, out) };
    if answer.0 >= 0 && !out.is_null() && !iid.is_null() {
        // SAFETY: the library has put the requested interface there, or null.
        unsafe { proxy::exchange_by_iid(out, &*iid) };
    }
    answer
}

/// Returns the runtime's dispenser of metadata: for a profiler this library is the runtime.
///
/// # Safety
///
/// `class` and `iid` are GUIDs, and `out` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn MetaDataGetDispenser(
    class: *const GUID,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    let Some(get) = library::dispenser_of_runtime() else {
        return MODULE_NOT_FOUND;
    };
    // SAFETY: the arguments are those of the caller.
    let answer = unsafe { get(class, iid, out) };
    if answer.0 >= 0 && !out.is_null() && !iid.is_null() {
        // SAFETY: the runtime has put the requested interface there, or null.
        unsafe { proxy::exchange_by_iid(out, &*iid) };
    }
    answer
}

/// Returns the answer of the real profiler's library.
#[unsafe(no_mangle)]
pub extern "system" fn DllCanUnloadNow() -> HRESULT {
    match library::real().and_then(|real| real.can_unload_now) {
        // SAFETY: the function of that name has no arguments.
        Some(can_unload_now) => unsafe { can_unload_now() },
        None => S_FALSE,
    }
}
