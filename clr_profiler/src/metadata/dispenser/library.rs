//! Finds `MetaDataGetDispenser` in the runtime's own library.

use std::ffi::c_void;

use clr_profiler_sys as sys;
use sys::{GUID, HRESULT};

/// The function that the runtime's library exports.
pub(super) type GetDispenser =
    unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> HRESULT;

/// The function in the library that contains this address.
#[cfg(unix)]
pub(super) fn find(address: *const c_void) -> Option<GetDispenser> {
    // SAFETY: any address is allowed, the result is written to a local, and names are strings of the loader.
    // With RTLD_NOLOAD nothing is loaded: the library already is. It is the runtime, which is never unloaded,
    // so the function stays valid after the handle is closed.
    unsafe {
        let mut about: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &mut about) == 0 || about.dli_fname.is_null() {
            return None;
        }
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        let mut library = libc::dlopen(about.dli_fname, flags);
        if library.is_null() {
            // The program itself, into which the runtime is linked.
            library = libc::dlopen(std::ptr::null(), flags);
        }
        if library.is_null() {
            return None;
        }
        let function = libc::dlsym(library, c"MetaDataGetDispenser".as_ptr());
        libc::dlclose(library);
        // The symbol of that name is a function of that type.
        std::mem::transmute::<*mut c_void, Option<GetDispenser>>(function)
    }
}

/// The function in the library that contains this address.
#[cfg(windows)]
pub(super) fn find(address: *const c_void) -> Option<GetDispenser> {
    const FROM_ADDRESS: u32 = 4;
    const UNCHANGED_REFCOUNT: u32 = 2;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetProcAddress(module: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
    }

    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the second argument is an address in a module, and no reference is
    // counted; `module` is writable. The symbol of that name is a function of that type.
    unsafe {
        if GetModuleHandleExW(FROM_ADDRESS | UNCHANGED_REFCOUNT, address, &mut module) == 0 {
            return None;
        }
        let function = GetProcAddress(module, c"MetaDataGetDispenser".as_ptr());
        std::mem::transmute::<*mut c_void, Option<GetDispenser>>(function)
    }
}

/// Other platforms have no known loader.
#[cfg(not(any(unix, windows)))]
pub(super) fn find(_address: *const c_void) -> Option<GetDispenser> {
    None
}
