//! The destination of results.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{env, process, thread};

use crate::report::masks::without_sigxfsz;
use crate::report::{failures, lock, private};

/// The path in an environment variable, or this one in the current folder.
#[must_use]
pub fn path_from_environment(variable: &str, otherwise: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| otherwise.into(), PathBuf::from)
}

/// A file of results. It is open only during a write.
///
/// A terminal (`/dev/tty`), a pipe or one of the program's own streams (`/dev/stderr`) is possible
/// as well, and stays open: text that would replace the contents of a file is then written only at the end.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Held during a write, so that there is one descriptor at a time.
    target: Mutex<Target>,
    replaceable: bool,
    /// Whether the last thing that was appended is the end of the results.
    ended: AtomicBool,
}

#[derive(Debug)]
enum Target {
    /// An ordinary file.
    File,
    Stream(File),
    Stderr,
}

impl Output {
    /// The program's standard error, for [`append`](Self::append).
    #[must_use]
    pub fn stderr() -> Self {
        Self::of("/dev/stderr".into(), Target::Stderr)
    }

    /// A file for [`append`](Self::append), created if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn lines(path: PathBuf) -> io::Result<Self> {
        // The program may change its folder.
        let path = absolute(path)?;
        let file = private::append(&path).map_err(|error| named(&path, &error))?;
        let target = match file.metadata()?.is_file() {
            true => Target::File,
            false => Target::Stream(file),
        };
        Ok(Self::of(path, target))
    }

    /// A file for [`replace`](Self::replace), created when it is first written.
    ///
    /// # Errors
    ///
    /// The file, or one in its folder, cannot be written.
    pub fn whole(path: PathBuf) -> io::Result<Self> {
        let path = absolute(path)?;
        if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Self::lines(path);
        }
        let output = Self::of(path, Target::File);
        // Created and removed: only that tells whether it will work.
        match private::create(&output.part()) {
            Ok(_) => output.remove_part(),
            Err(error) => return Err(named(&output.path, &error)),
        }
        Ok(output)
    }

    fn of(path: PathBuf, target: Target) -> Self {
        Self {
            path,
            replaceable: matches!(target, Target::File),
            target: Mutex::new(target),
            ended: AtomicBool::new(false),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`replace`](Self::replace) can be called repeatedly: not for a terminal or a
    /// pipe.
    #[must_use]
    pub fn is_replaceable(&self) -> bool {
        self.replaceable
    }

    /// Appends text, in one piece: so it stays whole, even if others write to the file. Text that cannot
    /// be written is dropped and [counted](failures), except that it waits while the program has all
    /// descriptors.
    pub fn append(&self, text: &str) {
        self.ended.store(false, Ordering::Relaxed);
        self.write(text);
    }

    /// [Appends](Self::append) the end of the results, unless it is the last thing that was appended: a
    /// program may continue after a signal that ends most programs.
    pub fn end(&self, text: &str) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            self.write(text);
        }
    }

    /// Whether appended text is still there: an error if somebody removed the file since.
    ///
    /// # Errors
    ///
    /// The file was removed, or cannot be looked at.
    pub fn is_kept(&self) -> io::Result<()> {
        let target = lock(&self.target);
        match *target {
            Target::File => fs::metadata(&self.path)
                .map(drop)
                .map_err(|error| named(&self.path, &error)),
            Target::Stream(_) | Target::Stderr => Ok(()),
        }
    }

    fn write(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut target = lock(&self.target);
        let written = without_sigxfsz(|| match &mut *target {
            Target::File => append_or_keep(&self.path, text),
            Target::Stream(stream) => stream.write_all(text.as_bytes()),
            Target::Stderr => io::stderr().write_all(text.as_bytes()),
        });
        if let Err(error) = written {
            failures::add("not written", named(&self.path, &error));
        }
    }

    /// Replaces the file. Concurrent readers get the old one or the new one, whole.
    ///
    /// # Errors
    ///
    /// The file, or one in its folder, cannot be written.
    pub fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut target = lock(&self.target);
        let written = without_sigxfsz(|| match &mut *target {
            Target::File => {
                let part = self.part();
                let written = private::create(&part).and_then(|file| buffered(file, write));
                let moved = written.and_then(|()| fs::rename(&part, &self.path));
                moved.inspect_err(|_| self.remove_part())
            }
            Target::Stream(stream) => buffered(stream, write),
            Target::Stderr => buffered(io::stderr(), write),
        });
        written.map_err(|error| named(&self.path, &error))
    }

    /// The file that becomes this one. Programs started by the program inherit the path.
    fn part(&self) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or_default());
        name.push(format!(".{}.part", process::id()));
        self.path.with_file_name(name)
    }

    fn remove_part(&self) {
        // It may never have existed.
        let _ = fs::remove_file(self.part());
    }
}

fn absolute(path: PathBuf) -> io::Result<PathBuf> {
    std::path::absolute(&path).map_err(|error| named(&path, &error))
}

/// The limit for text that waits, by file.
const WAITING: usize = 1 << 20;

/// The text that waits for a descriptor, and its file.
static WAITS: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Appends the text that waits and this one. Both wait if there is no descriptor.
fn append_or_keep(path: &Path, text: &str) -> io::Result<()> {
    let mut waits = lock(&WAITS);
    let Some(index) = waits.iter().position(|(of, _)| of == path) else {
        return match append(path, text.as_bytes()) {
            Err(error) if private::is_without_descriptor(&error) => {
                waits.push((path.to_owned(), text.to_owned()));
                Ok(())
            }
            written => written,
        };
    };
    let (_, mut all) = waits.swap_remove(index);
    all.push_str(text);
    match append(path, all.as_bytes()) {
        Err(error) if private::is_without_descriptor(&error) && all.len() < WAITING => {
            waits.push((path.to_owned(), all));
            Ok(())
        }
        written => written,
    }
}

/// Writes the text that waits for a descriptor, which a program that ends will soon have.
pub(crate) fn write_waiting(is_end: bool) {
    let begun = Instant::now();
    loop {
        // Held during the writes, so that lines stay in their order, but not while this thread waits.
        let mut waits = lock(&WAITS);
        waits.retain(|(path, text)| {
            let written = without_sigxfsz(|| append(path, text.as_bytes()));
            match written {
                Ok(()) => false,
                Err(error)
                    if private::is_without_descriptor(&error)
                        && !(is_end && begun.elapsed() > private::PATIENCE) =>
                {
                    true
                }
                Err(error) => {
                    failures::add("not written", named(path, &error));
                    false
                }
            }
        });
        if waits.is_empty() || !is_end {
            return;
        }
        drop(waits);
        thread::sleep(private::PAUSE);
    }
}

/// Appends all of the bytes to a file, or none.
fn append(path: &Path, mut bytes: &[u8]) -> io::Result<()> {
    let mut file = private::append(path)?;
    let mut written = 0;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                written += count as u64;
                bytes = &bytes[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                // The disk is full. Others may have appended to the file since.
                if written > 0 && file.stream_position().ok() == Some(file.metadata()?.len()) {
                    file.set_len(file.metadata()?.len() - written)?;
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

fn buffered(
    file: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let written = write(&mut file).and_then(|()| file.flush());
    // The bytes that remain after an error are dropped here, not written by a drop outside of the caller's signal mask.
    drop(file.into_parts());
    written
}

/// The error with the path, which an `io::Error` does not contain.
pub(crate) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write `{}`: {error}", path.display()),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Self {
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
        let output = Output::whole(folder.0.join("out")).unwrap();
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
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
        let output = Output::lines(folder.0.join("out")).unwrap();
        output.append("after\n");
        assert_eq!(
            fs::read_to_string(output.path()).unwrap(),
            "before\nafter\n"
        );
    }

    #[test]
    fn the_end_is_written_again_only_after_more_text() {
        let folder = Folder::new("end");
        let output = Output::lines(folder.0.join("out")).unwrap();
        output.end("end of nothing\n");
        output.append("text\n");
        output.end("end\n");
        output.end("again\n");
        assert_eq!(
            fs::read_to_string(output.path()).unwrap(),
            "end of nothing\ntext\nend\n"
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        for open in [Output::lines, Output::whole] {
            let path = std::path::absolute("/nowhere/out").unwrap();
            let error = open(path.clone()).unwrap_err();
            assert!(
                error.to_string().contains(path.to_str().unwrap()),
                "{error}"
            );
        }
    }
}
