//! A disk of a few pages that only this thread and its programs see.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// A disk that is mounted on a folder, in the mount namespace of this thread.
#[derive(Debug)]
pub(super) struct Disk(PathBuf);

impl Disk {
    /// Mounts it. The thread has a mount namespace of its own from then on.
    pub(super) fn mount(folder: &Path, kilobytes: u32) -> io::Result<Self> {
        // SAFETY: it has no arguments but flags, and affects this thread.
        if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // A mount of this thread is one of this thread alone.
        call(
            c"none",
            Path::new("/"),
            None,
            libc::MS_REC | libc::MS_PRIVATE,
            None,
        )?;
        let options = CString::new(format!("size={kilobytes}k,mode=755"))?;
        call(c"none", folder, Some(c"tmpfs"), 0, Some(&options))?;
        Ok(Self(folder.to_owned()))
    }

    /// Lets nobody write to it, which is refused while files are open for it.
    pub(super) fn make_read_only(&self) -> io::Result<()> {
        let flags = libc::MS_REMOUNT | libc::MS_RDONLY;
        call(c"none", &self.0, None, flags, None)
    }

    /// Uses up all of its room, until the result is dropped.
    pub(super) fn fill(&self) -> Full {
        let path = self.0.join("filler");
        if let Ok(mut file) = File::create(&path) {
            while file.write_all(&[0; 4096]).is_ok() {}
        }
        Full(path)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let Ok(path) = CString::new(self.0.as_os_str().as_bytes()) else {
            return;
        };
        // SAFETY: the string lives during the call. If it fails, the mount ends with this thread.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
}

/// A disk without room.
#[derive(Debug)]
pub(super) struct Full(PathBuf);

impl Drop for Full {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn call(
    source: &CStr,
    target: &Path,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> io::Result<()> {
    let target = CString::new(target.as_os_str().as_bytes())?;
    let kind = kind.map_or(ptr::null(), CStr::as_ptr);
    let options = options.map_or(ptr::null(), |options| options.as_ptr().cast());
    // SAFETY: all pointers are null where the call allows it, or strings that live during the call.
    let done = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, options) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
