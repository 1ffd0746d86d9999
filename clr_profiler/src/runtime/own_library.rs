//! The library that this code is in: where it is, and that it stays loaded.

use std::path::PathBuf;
use std::sync::Once;

/// The file of the profiler's own library; `None` where the system does not tell.
pub(crate) fn own_library() -> Option<PathBuf> {
    let path = system::path()?;
    // The loader may have been given a path from a folder that is current no more.
    path.canonicalize().ok().or(Some(path))
}

/// Makes every later attempt to unload the library do nothing, for as long as the process lives.
///
/// The runtime unloads the library when a profiler detaches, or fails to start. Threads that the
/// profiler has started may still run code of it, and Rust cannot end a thread together with its
/// library: not even the one that asked for the detaching gets out in time.
pub(crate) fn keep_loaded() {
    static DONE: Once = Once::new();
    // A system that refuses leaves nothing else to be tried. That is so where the code is not in a
    // library of its own, and so will not be unloaded: in a test program.
    DONE.call_once(system::keep_loaded);
}

#[cfg(unix)]
mod system {
    use std::ffi::{CStr, OsStr, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    /// The name by which the loader knows this library. It lives while the library is loaded, which
    /// this code is in.
    fn name() -> Option<&'static CStr> {
        let mut about = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        let here: *const c_void = (name as fn() -> Option<&'static CStr>) as *const c_void;
        // SAFETY: any address may be asked for; `about` is writable.
        let found = unsafe { libc::dladdr(here, &mut about) };
        if found == 0 || about.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the name is a string of the loader's, which lives while the library is loaded.
        Some(unsafe { CStr::from_ptr(about.dli_fname) })
    }

    pub(super) fn path() -> Option<PathBuf> {
        Some(OsStr::from_bytes(name()?.to_bytes()).into())
    }

    pub(super) fn keep_loaded() {
        if let Some(name) = name() {
            // SAFETY: the name is a string. With RTLD_NOLOAD nothing is loaded and no code runs; the
            // flag is set on what is there.
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

    /// The module that this code is in.
    fn module(flags: u32) -> Option<*mut c_void> {
        let mut found = std::ptr::null_mut();
        let here: *const c_void = (module as fn(u32) -> Option<*mut c_void>) as *const c_void;
        // SAFETY: with this flag the second argument is an address in a module, here that of this
        // function; `found` is writable.
        let is_found = unsafe { GetModuleHandleExW(FROM_ADDRESS | flags, here, &mut found) } != 0;
        is_found.then_some(found)
    }

    pub(super) fn path() -> Option<PathBuf> {
        let module = module(UNCHANGED_REFCOUNT)?;
        // The longest path that there is.
        let mut name = vec![0; 0x8000];
        // SAFETY: what is written to is writable, to the length that is told.
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
