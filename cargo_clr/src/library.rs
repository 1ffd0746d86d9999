//! The library with the profilers, which the command carries in itself, as a file that a program can load.

use std::env;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clr_profiler_launcher::{Clsid, ProfilerLibrary};

use crate::outcome::{Failure, Result};

/// The library.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/profilers"));

/// The folder for the library, if it is set: where programs of other users or containers see it, or where code may be
/// executed.
pub(crate) const FOLDER: &str = "CARGO_CLR_LIBRARY_FOLDER";

/// How the files begin.
pub(crate) const NAME: &str = "libclr_tools-";

/// How old a library of another version of the command is when it is removed: a program may just be loading it.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Who loads the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A program of this user.
    ThisUser,
    /// A program of another user, who may not look into this user's folders.
    Anyone,
}

/// Writes the library to a folder from which it can be loaded, unless it is there already.
///
/// The file has its content's hash in its name, belongs to this user and can be written by nobody: it is never changed,
/// so that a program that has loaded it is not affected.
pub(crate) fn extract(clsid: &str, reader: Reader) -> Result<ProfilerLibrary> {
    let clsid: Clsid = clsid.parse()?;
    if BYTES.is_empty() {
        return Err(Failure::new(
            "This command was built without its library of profilers. Build it again with cargo.",
        ));
    }
    let mut refused = Vec::new();
    for folder in folders(reader) {
        let path = folder.join(format!("{NAME}{:016x}{}", hash(), env::consts::DLL_SUFFIX));
        let problem = match put(&folder, &path, BYTES) {
            Ok(()) => {
                let library = ProfilerLibrary::new(&path, clsid)?;
                // A folder of a file system that is mounted with `noexec` is found out by loading alone.
                match library.check() {
                    Ok(()) => {
                        remove_old(&folder, &path);
                        return Ok(library);
                    }
                    Err(error) => error.to_string(),
                }
            }
            Err(error) => error.to_string(),
        };
        refused.push(format!("\n  {}: {problem}", folder.display()));
    }
    Err(Failure::new(format!(
        "The library of profilers could not be written to a folder from which it can be loaded. Set {FOLDER} to one. \
         Tried:{}",
        refused.concat()
    )))
}

/// The folders to try, in this order.
fn folders(reader: Reader) -> Vec<PathBuf> {
    if let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        return vec![std::path::absolute(&folder).unwrap_or_else(|_| folder.into())];
    }
    let mut folders = Vec::new();
    if reader == Reader::ThisUser {
        let cache = env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty());
        let home = env::var_os(if cfg!(windows) {
            "LOCALAPPDATA"
        } else {
            "HOME"
        });
        let home = home.filter(|folder| !folder.is_empty());
        let below = if cfg!(windows) { "" } else { ".cache" };
        let cache = cache.map(PathBuf::from);
        let cache = cache.or(home.map(|home| PathBuf::from(home).join(below)));
        let cache = cache.filter(|folder| folder.is_absolute());
        folders.extend(cache.map(|folder| folder.join("cargo-clr")));
    }
    let own = format!("cargo-clr-{}", user());
    folders.push(env::temp_dir().join(&own));
    if cfg!(unix) {
        folders.extend(["/tmp", "/var/tmp"].map(|folder| Path::new(folder).join(&own)));
    }
    folders.dedup();
    folders
}

/// Writes data that the library reads when the program starts, to a folder of the library. The name has the hash of the data.
pub(crate) fn share(data: &[u8], ending: &str, reader: Reader) -> Result<PathBuf> {
    let mut refused = Vec::new();
    for folder in folders(reader) {
        let path = folder.join(format!("{NAME}{:016x}{ending}", hash_of(data)));
        match put(&folder, &path, data) {
            Ok(()) => return Ok(path),
            Err(error) => refused.push(format!("\n  {}: {error}", folder.display())),
        }
    }
    Err(Failure::new(format!(
        "Data for the profiler could not be written to a folder. Set {FOLDER} to one. Tried:{}",
        refused.concat()
    )))
}

/// Writes the file under another name first, so that nobody sees half of it.
fn put(folder: &Path, path: &Path, data: &[u8]) -> io::Result<()> {
    create_folder(folder)?;
    if fs::read(path).is_ok_and(|bytes| bytes == data) && is_own(path)? {
        return Ok(());
    }
    let part = folder.join(format!(".{}.part", std::process::id()));
    let _ = fs::remove_file(&part);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = options.open(&part)?;
    let written = file.write_all(data).and_then(|()| {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(fs::Permissions::from_mode(0o555))?;
        }
        drop(file);
        fs::rename(&part, path)
    });
    written.inspect_err(|_| drop(fs::remove_file(&part)))
}

/// Creates the folder. One that another user has made is refused: its owner could exchange the library.
fn create_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above)?;
        }
        match fs::DirBuilder::new().mode(0o755).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created?,
        }
        let about = fs::symlink_metadata(folder)?;
        if env::var_os(FOLDER).is_some() {
            return Ok(());
        }
        if !about.is_dir() || about.uid() != user() {
            return Err(io::Error::other("another user has made it"));
        }
        if about.permissions().mode() & 0o022 != 0 {
            return Err(io::Error::other("other users can write to it"));
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn is_own(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let about = fs::symlink_metadata(path)?;
    let is_private = about.permissions().mode() & 0o022 == 0;
    Ok(about.is_file() && about.uid() == user() && is_private)
}

#[cfg(not(unix))]
fn is_own(_path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The number of this user.
#[cfg(unix)]
pub(crate) fn user() -> u32 {
    use std::os::unix::fs::MetadataExt;
    // The owner of a file that this process makes.
    static USER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *USER.get_or_init(|| {
        let own = fs::metadata("/proc/self").or_else(|_| fs::metadata("/dev/fd"));
        own.map_or(0, |about| about.uid())
    })
}

#[cfg(not(unix))]
pub(crate) fn user() -> u32 {
    0
}

fn hash() -> u64 {
    hash_of(BYTES)
}

fn hash_of(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

/// Removes the libraries of other versions. A program that has loaded one keeps it.
fn remove_old(folder: &Path, current: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_other = entry.file_name().to_string_lossy().starts_with(NAME) && path != current;
        let age = entry.metadata().and_then(|about| about.modified());
        let age = age.map(|written| {
            SystemTime::now()
                .duration_since(written)
                .unwrap_or_default()
        });
        if is_other && age.is_ok_and(|age| age > AGE) {
            // Another command may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}
