//! Keeps this library in memory for as long as the process lives.
//!
//! The runtime unloads the library when a profiler detaches, or fails to start. Threads that the
//! profiler has started may still run code of it, and Rust cannot end a thread together with its
//! library: not even the one that asked for the detaching gets out in time.

use std::sync::Once;

/// Makes every later attempt to unload the library do nothing.
pub(super) fn keep_loaded() {
    static DONE: Once = Once::new();
    // A system that refuses leaves nothing else to be tried. That is so where the code is not in a
    // library of its own, and so will not be unloaded: in a test program.
    DONE.call_once(system::keep_loaded);
}

#[cfg(unix)]
mod system {
    use std::ffi::c_void;

    pub(super) fn keep_loaded() {
        let mut about = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        let here: *const c_void = (keep_loaded as fn()) as *const c_void;
        // SAFETY: any address may be asked for; `about` is writable.
        let found = unsafe { libc::dladdr(here, &mut about) };
        if found == 0 || about.dli_fname.is_null() {
            return;
        }
        // SAFETY: the name is a string of the loader's, which lives while the library is loaded.
        // With RTLD_NOLOAD nothing is loaded and no code runs; the flag is set on what is there.
        unsafe {
            libc::dlopen(
                about.dli_fname,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            )
        };
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::c_void;

    const GET_MODULE_HANDLE_EX_FLAG_PIN: u32 = 1;
    const GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS: u32 = 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    }

    pub(super) fn keep_loaded() {
        let mut module = std::ptr::null_mut();
        let here: *const c_void = (keep_loaded as fn()) as *const c_void;
        // SAFETY: with these flags the second argument is an address in a module, here that of
        // this function; `module` is writable.
        unsafe {
            GetModuleHandleExW(
                GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                here,
                &mut module,
            )
        };
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    pub(super) fn keep_loaded() {}
}
