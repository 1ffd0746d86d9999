//! The file or pipe with the commands.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use clr_profiler::il::pattern::MethodPattern;
use clr_profiler::{Error, Result};
use report::private;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    On(MethodPattern),
    Off(MethodPattern),
    AllOff,
}

impl Command {
    /// `None` for an empty line or a comment.
    pub(crate) fn parse(line: &str) -> Result<Option<Self>> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.trim();
        let pattern = || {
            let pattern = MethodPattern::parse(name);
            pattern.map_err(|error| Error::other(format!("the pattern `{name}`: {error}")))
        };
        match (word, name) {
            ("off", "") => Ok(Some(Self::AllOff)),
            ("on", _) => Ok(Some(Self::On(pattern()?))),
            ("off", _) => Ok(Some(Self::Off(pattern()?))),
            _ => Err(Error::other(format!(
                "`{line}` is no command: `on PATTERN`, `off PATTERN`, or `off` for all"
            ))),
        }
    }
}

/// Reads the lines as they are added.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    file: Option<File>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl Control {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            // The program may change its folder.
            path: std::path::absolute(path)?,
            file: None,
            rest: Vec::new(),
        })
    }

    /// The lines since the last call. A file that does not exist yet has none.
    pub(crate) fn lines(&mut self) -> io::Result<Vec<String>> {
        if self.is_another() {
            self.file = None;
            self.rest.clear();
        }
        if self.file.is_none() {
            match private::read(&self.path) {
                Ok(file) => self.file = Some(file),
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

    #[cfg(not(unix))]
    fn is_another(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn commands() {
        let name = "A.B.C";
        for (line, expected) in [
            ("", None),
            ("  # on A.B.C", None),
            ("on A.B.C", Some(Command::On(name.parse().unwrap()))),
            (" off   A.B.C ", Some(Command::Off(name.parse().unwrap()))),
            ("off", Some(Command::AllOff)),
        ] {
            assert_eq!(Command::parse(line).unwrap(), expected, "{line}");
        }
        for line in ["on", "on C", "onn A.B.C", "A.B.C"] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn lines_come_when_they_are_whole() {
        let path = std::env::temp_dir().join(format!("hot_patch-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut control = Control::new(&path).unwrap();
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
        // Replaced.
        let other = path.with_extension("new");
        std::fs::write(&other, "on X.Y\n# and nothing else, but longer\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(control.lines().unwrap().len(), 2);
        std::fs::remove_file(&path).unwrap();
    }
}
