//! Where results go.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, process};

/// A file of results.
///
/// A terminal (`/dev/tty`), a pipe or one of the program's own streams (`/dev/stderr`) can be named
/// as well: what replaces the contents of a file is then written at the end alone.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Whether it is an ordinary file, which can be replaced.
    replaceable: bool,
    /// For [`Output::append`].
    lines: Mutex<Option<File>>,
}

impl Output {
    /// The file that an environment variable names, or else this one in the current folder.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn from_environment(variable: &str, otherwise: &str) -> io::Result<Self> {
        Self::open(match env::var_os(variable) {
            Some(path) => path.into(),
            None => otherwise.into(),
        })
    }

    /// A file, which is made if it is not there. What is in it stays until something is written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        // The program may change its folder.
        let path = std::path::absolute(path)?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| named(&path, &error))?;
        let replaceable = file.metadata()?.is_file();
        Ok(Self {
            path,
            replaceable,
            lines: Mutex::new(Some(file)),
        })
    }

    /// The same for a file that this process alone writes, by [`Output::put`]: where another process
    /// has it, say the one that has started this one, another file beside it, `NAME.PID`.
    ///
    /// # Errors
    ///
    /// Neither file can be written.
    pub fn open_alone(path: PathBuf) -> io::Result<Self> {
        let mut path = std::path::absolute(path)?;
        let open = |path: &Path| {
            let mut options = File::options();
            let file = options.create(true).truncate(false).write(true).open(path);
            file.map_err(|error| named(path, &error))
        };
        let mut file = open(&path)?;
        let replaceable = file.metadata()?.is_file();
        // The lock is held until the process ends. A file system without locks has no others either.
        if replaceable && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            path.as_mut_os_string().push(format!(".{}", process::id()));
            file = open(&path)?;
        }
        Ok(Self {
            path,
            replaceable,
            lines: Mutex::new(Some(file)),
        })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`Output::replace`] can be called again and again: not for a terminal or a pipe.
    #[must_use]
    pub fn is_replaceable(&self) -> bool {
        self.replaceable
    }

    /// Adds text, in one piece: so it stays whole, whoever else writes there.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn append(&self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.as_mut() {
            Some(file) => file
                .write_all(text.as_bytes())
                .map_err(|error| named(&self.path, &error)),
            None => Ok(()),
        }
    }

    /// Writes text at a place of the file, and cuts what stands behind it: so a file grows that always
    /// has an end. For a file that can be [replaced](Self::is_replaceable).
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(&self, at: u64, text: &str) -> io::Result<()> {
        let mut file = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = file.as_mut() else {
            return Ok(());
        };
        let put = file
            .seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(text.as_bytes()))
            .and_then(|()| file.set_len(at + text.len() as u64));
        put.map_err(|error| named(&self.path, &error))
    }

    /// Writes the file anew. Who reads it meanwhile reads the old one or the new one, whole.
    ///
    /// # Errors
    ///
    /// The file, or one beside it, cannot be written.
    pub fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let written = if self.replaceable {
            let mut name = self.path.file_name().unwrap_or_default().to_owned();
            // Programs that the program starts inherit the path.
            name.push(format!(".{}.part", process::id()));
            let part = self.path.with_file_name(name);
            let written = File::create(&part).and_then(|file| buffered(file, write));
            let moved = written.and_then(|()| fs::rename(&part, &self.path));
            if moved.is_err() {
                // It may never have been there.
                let _ = fs::remove_file(&part);
            }
            moved
        } else {
            File::options()
                .append(true)
                .open(&self.path)
                .and_then(|file| buffered(file, write))
        };
        written.map_err(|error| named(&self.path, &error))
    }
}

fn buffered(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// The error with the path, which an `io::Error` does not have.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write `{}`: {error}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = env::temp_dir().join(format!("report-{name}-{}", process::id()));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_nothing_else() {
        let folder = Folder::new("failed");
        let output = Output::open(folder.0.join("out")).unwrap();
        output.replace(|file| file.write_all(b"old")).unwrap();
        let failed = output.replace(|file| {
            file.write_all(b"half of the ne")?;
            Err(io::Error::other("full"))
        });
        let words = failed.unwrap_err().to_string();
        assert!(words.contains("full") && words.contains("out"), "{words}");
        assert_eq!(fs::read_to_string(output.path()).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
        output.replace(|file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(output.path()).unwrap(), "new");
    }

    #[test]
    fn appended_text_follows_what_was_there() {
        let folder = Folder::new("append");
        fs::write(folder.0.join("out"), "before\n").unwrap();
        let output = Output::open(folder.0.join("out")).unwrap();
        output.append("after\n").unwrap();
        assert_eq!(
            fs::read_to_string(output.path()).unwrap(),
            "before\nafter\n"
        );
    }

    #[test]
    fn a_file_of_its_own_has_an_end_at_any_time() {
        let folder = Folder::new("alone");
        let path = folder.0.join("out");
        let output = Output::open_alone(path.clone()).unwrap();
        output.put(0, "[1 and the end]").unwrap();
        output.put(2, ", 2]").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "[1, 2]");
        let other = Output::open_alone(path.clone()).unwrap();
        assert_ne!(other.path(), path);
        other.put(0, "other").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "[1, 2]");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let error = Output::open("/nowhere/out".into()).unwrap_err();
        assert!(error.to_string().contains("/nowhere/out"), "{error}");
    }
}
