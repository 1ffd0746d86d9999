//! Files of one run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// A folder of one run, for its user only, removed at the end.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder.
    ///
    /// # Panics
    ///
    /// If it cannot be created.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("clr_profiler_test-{}-{number}", process::id());
            let path = env::temp_dir().join(name);
            match create_for_its_user(&path) {
                Ok(()) => return Self(path),
                // Of an earlier process with this id, which could not remove it: Windows keeps open files.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot create the folder {}: {error}", path.display()),
            }
        }
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The text of a file in it; empty if there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn create_for_its_user(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// The folder for temporary files is the user's own.
#[cfg(not(unix))]
fn create_for_its_user(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
