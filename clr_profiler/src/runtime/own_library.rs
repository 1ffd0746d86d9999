//! The library that contains this code: finds it, and keeps it loaded.

use std::path::PathBuf;
use std::sync::Once;

/// The file of the profiler's own library; `None` if the system does not know it.
pub(crate) fn own_library() -> Option<PathBuf> {
    let path = system::path()?;
    // The path of the loader can be relative to an earlier current folder.
    path.canonicalize().ok().or(Some(path))
}

/// The path by which the system has loaded the library: in the form that others expect in the registry.
#[cfg(windows)]
pub(crate) fn loaded_path() -> Option<PathBuf> {
    system::path()
}

/// Turns every later attempt to unload the library into a no-op, until the process ends.
///
/// The runtime unloads the library when a profiler is detached or fails to start. Threads that the profiler
/// has started may still run its code, and Rust cannot end a thread together with its library: even the
/// thread that requested the detach may not return in time.
pub(crate) fn keep_loaded() {
    static DONE: Once = Once::new();
    // If the system refuses, there is nothing else to try. It does so if the code is in no library of its
    // own, and so is never unloaded: in a test program.
    DONE.call_once(system::keep_loaded);
}

#[cfg(unix)]
mod system {
    use std::ffi::{CStr, OsStr, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    /// The name by which the loader knows this library. Valid while the library is loaded, which contains
    /// this code.
    fn name() -> Option<&'static CStr> {
        let mut about = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        let here: *const c_void = (name as fn() -> Option<&'static CStr>) as *const c_void;
        // SAFETY: any address is allowed; `about` is writable.
        let found = unsafe { libc::dladdr(here, &mut about) };
        if found == 0 || about.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the name is a string of the loader, valid while the library is loaded.
        Some(unsafe { CStr::from_ptr(about.dli_fname) })
    }

    pub(super) fn path() -> Option<PathBuf> {
        Some(OsStr::from_bytes(name()?.to_bytes()).into())
    }

    pub(super) fn keep_loaded() {
        if let Some(name) = name() {
            // SAFETY: the name is a string. With RTLD_NOLOAD nothing is loaded and no code runs; the flag is
            // set on the loaded library.
            unsafe {
                libc::dlopen(
                    name.as_ptr(),
                    libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
                )
            };
        }
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{OsString, c_void};
    use std::os::windows::ffi::OsStringExt;
    use std::path::PathBuf;

    const PIN: u32 = 1;
    const UNCHANGED_REFCOUNT: u32 = 2;
    const FROM_ADDRESS: u32 = 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, capacity: u32) -> u32;
    }

    /// The module that contains this code.
    fn module(flags: u32) -> Option<*mut c_void> {
        let mut found = std::ptr::null_mut();
        let here: *const c_void = (module as fn(u32) -> Option<*mut c_void>) as *const c_void;
        // SAFETY: with this flag the second argument is an address in a module, here that of this function;
        // `found` is writable.
        let is_found = unsafe { GetModuleHandleExW(FROM_ADDRESS | flags, here, &mut found) } != 0;
        is_found.then_some(found)
    }

    pub(super) fn path() -> Option<PathBuf> {
        let module = module(UNCHANGED_REFCOUNT)?;
        // The maximum length of a path.
        let mut name = vec![0; 0x8000];
        // SAFETY: the buffer is writable, and has the length that is passed.
        let length = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32) };
        let name = name.get(..length as usize)?;
        (!name.is_empty()).then(|| OsString::from_wide(name).into())
    }

    pub(super) fn keep_loaded() {
        module(PIN);
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    use std::path::PathBuf;

    pub(super) fn path() -> Option<PathBuf> {
        None
    }

    pub(super) fn keep_loaded() {}
}
