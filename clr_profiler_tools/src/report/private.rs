//! Files of results: readable only for their user, and only where the user has put them.
//!
//! Results reveal details of a program, and a profiler may run as root. So a new file is readable only for
//! its user; and in a folder that others can write to, such as `/tmp`, nothing is written through a link
//! or to a file that another user has put there.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a file is tried while the program has all descriptors.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
pub(crate) const PAUSE: Duration = Duration::from_millis(2);

thread_local! {
    static MAY_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Has this thread wait for a descriptor when the program has all of them: it is not one of the program's.
pub(crate) fn wait_for_descriptors() {
    MAY_WAIT.set(true);
}

/// Whether it failed because the program has all descriptors, which may change soon.
#[cfg(unix)]
pub(crate) fn is_without_descriptor(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Windows has no such limit that a program meets.
#[cfg(not(unix))]
pub(crate) fn is_without_descriptor(_error: &io::Error) -> bool {
    false
}

/// Whether a process runs, as far as the system says so.
#[cfg(not(windows))]
pub(crate) fn is_alive(process: u32) -> bool {
    cfg!(target_os = "linux") && Path::new("/proc").join(process.to_string()).exists()
}

/// Whether a process of this user runs.
#[cfg(windows)]
pub(crate) fn is_alive(process: u32) -> bool {
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

    use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
    use windows_sys::Win32::System::Threading::{
        OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject,
    };

    // SAFETY: the call takes numbers alone.
    let handle = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, process) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle was opened for this function alone, and is open while the call uses it.
    unsafe {
        let handle = OwnedHandle::from_raw_handle(handle);
        // One that has ended is there as long as somebody has a handle of it.
        WaitForSingleObject(handle.as_raw_handle(), 0) == WAIT_TIMEOUT
    }
}

/// The volume of a file, and its number there.
#[cfg(windows)]
pub(crate) fn index(file: &File) -> io::Result<(u32, u64)> {
    use std::os::windows::io::AsRawHandle;

    use windows_sys::Win32::Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle,
    };

    let mut about = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the file is open, and there is room for the answer.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut about) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let number = u64::from(about.nFileIndexHigh) << 32 | u64::from(about.nFileIndexLow);
    Ok((about.dwVolumeSerialNumber, number))
}

/// Opens a file. A thread that may wait tries again while there is no descriptor for it.
pub(crate) fn patiently(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error)
                if MAY_WAIT.get()
                    && is_without_descriptor(&error)
                    && begun.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            opened => return opened,
        }
    }
}

/// Opens a file for appending, created if it does not exist.
///
/// # Errors
///
/// It cannot be written, or another user has put it, or a link by its name, into a shared folder.
pub fn append(path: &Path) -> io::Result<File> {
    open(File::options().create(true).append(true), 0, path)
}

/// Creates a file that did not exist. A leftover one is removed, and so is a link, but not
/// its target.
///
/// # Errors
///
/// It cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    let make = || patiently(|| open(File::options().create_new(true).write(true), 0, path));
    match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            make()
        }
        made => made,
    }
}

/// Opens a file of this user to change it.
pub(crate) fn change(path: &Path) -> io::Result<File> {
    patiently(|| open(File::options().write(true), 0, path))
}

/// Opens a file or a pipe that contains requests of its user, without waiting for a writer.
///
/// # Errors
///
/// It cannot be read, or another user has put it, or a link by its name, into a shared folder.
pub fn read(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let flags = libc::O_NONBLOCK;
    #[cfg(not(unix))]
    let flags = 0;
    open(File::options().read(true), flags, path)
}

#[cfg(unix)]
fn open(options: &mut OpenOptions, flags: i32, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_trusted = |about: &fs::Metadata| -> io::Result<bool> {
        let (folder, user) = (fs::metadata(folder)?, user());
        let is_own_file = about.uid() == user && !about.is_symlink();
        Ok(is_own_file || stays(about.uid(), folder.mode(), folder.uid(), user))
    };
    options.mode(0o600).custom_flags(libc::O_NOFOLLOW | flags);
    let file = match options.open(path) {
        // A link: followed if no other user can have put it there or can change it.
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            if !is_trusted(&fs::symlink_metadata(path)?)? {
                return Err(of_another("a link", folder));
            }
            options.custom_flags(flags).open(path)?
        }
        file => file?,
    };
    let about = file.metadata()?;
    // Terminals are devices, and belong to the user who is logged in.
    if !about.file_type().is_char_device() && !is_trusted(&about)? {
        return Err(of_another("a file", folder));
    }
    Ok(file)
}

#[cfg(not(unix))]
fn open(options: &mut OpenOptions, _flags: i32, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Whether no other user can have put something into a folder or can move it: others cannot
/// write to the folder, or it is one like `/tmp`, where only owners replace their files, and this
/// is the user's or the folder's.
#[cfg(unix)]
fn stays(owner: u32, folder_mode: u32, folder_owner: u32, user: u32) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;

    folder_mode & OTHERS_WRITE == 0
        || (folder_mode & STICKY != 0 && (owner == user || owner == folder_owner))
}

#[cfg(unix)]
fn of_another(what: &str, folder: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{what} by this name may be somebody else's, as everybody can write to `{}`: name a file \
             in a folder of your own",
            folder.display()
        ),
    )
}

/// The effective user of the process.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: it has no arguments, cannot fail and changes nothing.
    unsafe { libc::geteuid() }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::report::output::tests::Folder;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_user_can_read_what_is_made() {
        let folder = Folder::new("private");
        for (name, make) in [("added", append as fn(&Path) -> _), ("made", create)] {
            let path = folder.0.join(name);
            make(&path).unwrap();
            assert_eq!(mode(&path), 0o600);
        }
        // An existing file keeps its mode.
        let shared = folder.0.join("shared");
        fs::write(&shared, "").unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o644)).unwrap();
        append(&shared).unwrap();
        assert_eq!(mode(&shared), 0o644);
    }

    #[test]
    fn links_are_followed_where_nobody_else_can_put_them() {
        let folder = Folder::new("links");
        let (link, target) = (folder.0.join("link"), folder.0.join("target"));
        fs::write(&target, "before ").unwrap();
        symlink(&target, &link).unwrap();
        append(&link).unwrap().write_all(b"after").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "before after");

        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
        for open in [append, change, read] {
            let error = open(&link).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("folder of your own"), "{error}");
        }
        // A file of this user is accepted in any folder.
        append(&target).unwrap();
        // As in `/tmp`, where others cannot replace it.
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o1777)).unwrap();
        append(&link).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "before after");
    }

    #[test]
    fn a_link_in_place_of_a_new_file_is_removed() {
        let folder = Folder::new("planted");
        let (link, target) = (folder.0.join("link"), folder.0.join("target"));
        fs::write(&target, "precious").unwrap();
        symlink(&target, &link).unwrap();
        create(&link).unwrap().write_all(b"results").unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "results");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }

    #[test]
    fn in_shared_folders_only_owners_are_trusted() {
        let (me, root, another) = (1000, 0, 1001);
        assert!(stays(another, 0o755, root, me));
        assert!(stays(me, 0o1777, root, me));
        assert!(stays(root, 0o1777, root, me));
        assert!(!stays(another, 0o1777, root, me));
        assert!(!stays(another, 0o1777, root, root));
        assert!(!stays(me, 0o777, root, me));
    }
}
