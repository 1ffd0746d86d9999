//! Where the library is that this code is in.

use std::path::PathBuf;

/// The file of the profiler's own library; `None` where the system does not tell.
pub(crate) fn own_library() -> Option<PathBuf> {
    let path = system::path((own_library as fn() -> Option<PathBuf>) as *const _)?;
    // The loader may have been given a path from a folder that is current no more.
    path.canonicalize().ok().or(Some(path))
}

#[cfg(unix)]
mod system {
    use std::ffi::{CStr, OsStr, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    pub(super) fn path(here: *const c_void) -> Option<PathBuf> {
        let mut about = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: any address may be asked for; `about` is writable.
        let found = unsafe { libc::dladdr(here, &mut about) };
        if found == 0 || about.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the name is a string of the loader's, which lives while the library is loaded.
        let name = unsafe { CStr::from_ptr(about.dli_fname) };
        Some(OsStr::from_bytes(name.to_bytes()).into())
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{OsString, c_void};
    use std::os::windows::ffi::OsStringExt;
    use std::path::PathBuf;

    const FROM_ADDRESS: u32 = 4;
    const UNCHANGED_REFCOUNT: u32 = 2;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, capacity: u32) -> u32;
    }

    pub(super) fn path(here: *const c_void) -> Option<PathBuf> {
        let mut module = std::ptr::null_mut();
        // The longest path that there is.
        let mut name = vec![0; 0x8000];
        // SAFETY: with these flags the second argument is an address in a module, and no reference
        // is counted; what is written to is writable, to the length that is told.
        let length = unsafe {
            if GetModuleHandleExW(FROM_ADDRESS | UNCHANGED_REFCOUNT, here, &mut module) == 0 {
                return None;
            }
            GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32)
        };
        let name = name.get(..length as usize)?;
        (!name.is_empty()).then(|| OsString::from_wide(name).into())
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    use std::ffi::c_void;
    use std::path::PathBuf;

    pub(super) fn path(_here: *const c_void) -> Option<PathBuf> {
        None
    }
}
