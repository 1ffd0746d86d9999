//! Requests of the user to a tool that runs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::report::private;

/// The lines that are added to a file, or written into a pipe, while the program runs.
///
/// The file need not exist at first, and may be replaced or truncated. Only its user can send requests: see [`private`].
///
/// ```no_run
/// use clr_profiler_tools::report::Requests;
///
/// # fn main() -> std::io::Result<()> {
/// let mut requests = Requests::new("tool.control".as_ref())?;
/// for line in requests.lines()? {
///     println!("{line}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Requests {
    path: PathBuf,
    file: Option<File>,
    /// Which file was read, and how far: an open one could not be replaced there.
    #[cfg(windows)]
    read: Option<((u32, u64), u64)>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl Requests {
    /// The lines of this file.
    ///
    /// # Errors
    ///
    /// The path is empty, or the current folder is unknown.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            // The program may change its folder.
            path: std::path::absolute(path)?,
            file: None,
            #[cfg(windows)]
            read: None,
            rest: Vec::new(),
        })
    }

    /// The whole lines since the last call. A file that does not exist yet has none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is another user's.
    pub fn lines(&mut self) -> io::Result<Vec<String>> {
        if self.is_another() {
            self.file = None;
            self.rest.clear();
        }
        if self.file.is_none() {
            match private::read(&self.path) {
                Ok(file) => {
                    self.file = Some(file);
                    #[cfg(windows)]
                    self.resume()?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            }
        }
        let Some(file) = &mut self.file else {
            return Ok(Vec::new());
        };
        // A truncated file is read from its start.
        let about = file.metadata()?;
        if about.is_file() && about.len() < file.stream_position()? {
            file.seek(SeekFrom::Start(0))?;
            self.rest.clear();
        }
        match file.read_to_end(&mut self.rest) {
            Ok(_) => {}
            // A pipe without a writer; the bytes read so far are kept.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        #[cfg(windows)]
        self.close()?;
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        let text = String::from_utf8_lossy(&whole);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Whether the path names another file by now: editors replace files.
    #[cfg(unix)]
    fn is_another(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let now = std::fs::metadata(&self.path);
        let open = self.file.as_ref().map(File::metadata);
        match (now, open) {
            (Ok(now), Some(Ok(open))) => (now.dev(), now.ino()) != (open.dev(), open.ino()),
            _ => false,
        }
    }

    /// No file is open between two calls.
    #[cfg(not(unix))]
    fn is_another(&self) -> bool {
        false
    }

    #[cfg(windows)]
    fn close(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            self.read = Some((private::index(&file)?, file.stream_position()?));
        }
        Ok(())
    }

    /// Begins where the last call has ended, if it is the same file.
    #[cfg(windows)]
    fn resume(&mut self) -> io::Result<()> {
        if let (Some(file), Some((index, position))) = (&mut self.file, self.read) {
            match private::index(file)? == index {
                true => {
                    file.seek(SeekFrom::Start(position))?;
                }
                false => self.rest.clear(),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::report::output::tests::Folder;

    #[test]
    fn lines_come_when_they_are_whole() {
        let folder = Folder::new("requests");
        let path = folder.0.join("control");
        let mut control = Requests::new(&path).unwrap();
        let none = Vec::<String>::new();
        assert_eq!(control.lines().unwrap(), none);
        let mut file = File::create(&path).unwrap();
        file.write_all(b"on A.B").unwrap();
        assert_eq!(control.lines().unwrap(), none);
        file.write_all(b".C\noff A.B.C\non ").unwrap();
        assert_eq!(control.lines().unwrap(), ["on A.B.C", "off A.B.C"]);
        // Truncated, and written anew.
        std::fs::write(&path, "off\n").unwrap();
        assert_eq!(control.lines().unwrap(), ["off"]);
        assert_eq!(control.lines().unwrap(), none);
        // Replaced, when nobody has it open.
        drop(file);
        let other = path.with_extension("new");
        std::fs::write(&other, "on X.Y\n# and nothing else, but longer\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(control.lines().unwrap().len(), 2);
    }
}
