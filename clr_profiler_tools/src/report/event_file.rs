//! A JSON file with a list that grows, and that is complete however the process ends.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::process;

use crate::report::Output;
use crate::report::masks::without_sigxfsz;
use crate::report::output::named;
use crate::report::private;

/// The system copies a page of a write at once, one after another: a killed process leaves whole pages.
const PAGE: u64 = 4096;
/// The bytes that are copied at once.
const PIECE: usize = 64 * PAGE as usize;
/// The initial room of a file: each replacement takes a millisecond, in which the system begins to write the file to the disk.
const ROOM: u64 = 256 * PAGE;
/// A file gets room for this multiple of its text, and a large one for less: replacing it copies the text.
const GROWTH: u64 = 4;
const LARGE: u64 = 16 << 20;
const GROWTH_OF_LARGE: u64 = 2;
/// Room is written in pieces of this text.
static SPACES: [u8; PIECE] = [b' '; PIECE];
/// The end of the list and the file.
const END: &str = "\n]}\n";

/// Events in a JSON file: `{"process": 123, HEAD, EVENT, EVENT   ]}`.
///
/// The list ends in spaces, which events replace, page by page. When there is no room left, the file
/// is replaced by one with more. So it is complete at any moment, even on a full disk.
#[derive(Debug)]
pub struct EventFile {
    output: Output,
    head: String,
    limit: u64,
    /// The end of the events.
    at: u64,
    /// The end of the spaces.
    room: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Accepts events.
    Open,
    /// Has reached its limit.
    Full,
    /// A write has failed.
    Broken,
}

impl EventFile {
    /// A file that begins with `head`: the first properties, the beginning of the list, and its first
    /// element. If another process has the file, for example the one that started this one, `NAME.PID`
    /// is written. It takes `limit` bytes of events.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn create(path: PathBuf, head: &str, limit: u64) -> io::Result<Self> {
        let mut path = std::path::absolute(path)?;
        if owner(&path).is_some_and(|owner| owner != process::id() && private::is_alive(owner)) {
            path.as_mut_os_string().push(format!(".{}", process::id()));
        }
        let mut file = Self {
            output: Output::whole(path)?,
            head: format!("{{\"process\": {}, {head}", process::id()),
            limit,
            at: 0,
            room: 0,
            state: State::Open,
        };
        match file.output.is_replaceable() {
            true => file.enlarge("")?,
            false => file.output.append(&file.head),
        }
        Ok(file)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    /// Whether it accepts events: it is not full, and no write has failed.
    #[must_use]
    pub fn takes_events(&self) -> bool {
        self.state == State::Open
    }

    /// Whether it has reached its limit.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state == State::Full
    }

    /// Whether it is a file, not a terminal or a pipe, in which nothing can be replaced.
    #[must_use]
    pub fn is_replaceable(&self) -> bool {
        self.output.is_replaceable()
    }

    /// Adds events, and returns how many. If fewer than given, it is full.
    ///
    /// # Errors
    ///
    /// The file cannot be written. It then stays unchanged until [`finish`](Self::finish).
    pub fn add(&mut self, events: &[String]) -> io::Result<usize> {
        if self.state != State::Open || events.is_empty() {
            return Ok(0);
        }
        if !self.is_replaceable() {
            let text: String = events.iter().map(|event| format!(",\n{event}")).collect();
            self.output.append(&text);
            return Ok(events.len());
        }
        let mut size = self.at;
        let fits = events.iter().take_while(|event| {
            size += event.len() as u64 + 2;
            size <= self.limit
        });
        let count = fits.count();
        let added = without_sigxfsz(|| self.add_fitting(&events[..count]));
        if let Err(error) = added {
            self.state = State::Broken;
            return Err(named(self.output.path(), &error));
        }
        if count < events.len() {
            self.state = State::Full;
        }
        Ok(count)
    }

    /// Adds the text after the list, and ends the file. It can accept events again.
    ///
    /// # Errors
    ///
    /// The file cannot be written, and stays unchanged.
    pub fn finish(&mut self, events: &[String], rest: &str) -> io::Result<()> {
        let events: String = events.iter().map(|event| format!(",\n{event}")).collect();
        let text = format!("{events}\n], {rest}}}\n");
        match self.is_replaceable() {
            true => {
                self.rewrite(&text, 0, "")?;
                self.room = self.at;
            }
            false => self.output.append(&text),
        }
        Ok(())
    }

    fn add_fitting(&mut self, events: &[String]) -> io::Result<()> {
        let mut file = private::change(self.output.path())?;
        let mut text = String::new();
        for (number, event) in events.iter().enumerate() {
            let length = event.len() as u64 + 2;
            let at = self.at + text.len() as u64;
            let is_within = at % PAGE + length <= PAGE;
            let start = if is_within {
                at
            } else {
                at.next_multiple_of(PAGE)
            };
            if length > PAGE || start + length > self.room {
                self.put(&mut file, &text)?;
                drop(file);
                let rest = events[number..].iter().map(|event| format!(",\n{event}"));
                return self.enlarge(&rest.collect::<String>());
            }
            // No event is in two pages.
            text.extend(iter::repeat_n(' ', (start - at) as usize));
            text.push_str(",\n");
            text.push_str(event);
        }
        self.put(&mut file, &text)
    }

    /// Writes text whose pages are whole each.
    fn put(&mut self, file: &mut File, text: &str) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.at))?;
        file.write_all(text.as_bytes())?;
        self.at += text.len() as u64;
        Ok(())
    }

    /// Replaces the file by one with this text and more room.
    fn enlarge(&mut self, text: &str) -> io::Result<()> {
        let length = self.at.max(self.head.len() as u64) + text.len() as u64;
        let growth = match length < LARGE {
            true => GROWTH,
            false => GROWTH_OF_LARGE,
        };
        let wanted = (growth * length).clamp(ROOM, self.limit.max(ROOM));
        let wanted = wanted.max(length);
        let enlarged = self.rewrite_with_room(text, length, wanted);
        // If there is no room for more, there may be for this.
        enlarged.or_else(|_| self.rewrite_with_room(text, length, length))
    }

    fn rewrite_with_room(&mut self, text: &str, length: u64, room: u64) -> io::Result<()> {
        self.rewrite(text, room - length, END)?;
        (self.at, self.room) = (length, room);
        Ok(())
    }

    /// Replaces the text after the events, by this one, spaces and an end.
    fn rewrite(&mut self, text: &str, mut spaces: u64, end: &str) -> io::Result<()> {
        self.output.replace(|new| {
            match self.at {
                0 => new.write_all(self.head.as_bytes())?,
                at => {
                    let file = private::patiently(|| File::open(self.output.path()))?;
                    copy(&mut file.take(at), new)?;
                }
            }
            new.write_all(text.as_bytes())?;
            while spaces > 0 {
                let piece = spaces.min(PIECE as u64);
                new.write_all(&SPACES[..piece as usize])?;
                spaces -= piece;
            }
            new.write_all(end.as_bytes())
        })
    }
}

/// Copies in large pieces: `io::copy` takes 8 kB at a time.
fn copy(from: &mut impl Read, to: &mut dyn Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&piece[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The process that a file names as its owner.
fn owner(path: &Path) -> Option<u32> {
    let mut start = String::new();
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    File::open(path)
        .ok()?
        .take(32)
        .read_to_string(&mut start)
        .ok()?;
    let number = start.strip_prefix("{\"process\": ")?.split(',').next()?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::output::tests::Folder;

    const HEAD: &str = "\"list\": [\n0";

    fn events(count: usize, length: usize) -> Vec<String> {
        vec!["1".repeat(length); count]
    }

    /// The number of elements of the list, if the file is complete.
    fn elements(path: &Path) -> usize {
        let text = fs::read_to_string(path).unwrap();
        let (_, list) = text.split_once('[').unwrap();
        let (list, _) = list.split_once(']').unwrap();
        assert!(
            text.ends_with("}\n") && text.matches(']').count() == 1,
            "{text}"
        );
        let mut elements = list.split(',').map(str::trim);
        assert!(
            elements
                .clone()
                .all(|element| element.parse::<f64>().is_ok())
        );
        assert_eq!(elements.next(), Some("0"));
        elements.count()
    }

    #[test]
    fn a_file_is_whole_after_each_write() {
        let folder = Folder::new("events");
        let path = folder.0.join("out");
        let mut file = EventFile::create(path.clone(), HEAD, 1 << 20).unwrap();
        let mut all = 0;
        for (count, length) in [
            (1, 5),
            (100, 300),
            (3, 5000),
            (1000, 77),
            (1, 4094),
            (500, 200),
        ] {
            all += file.add(&events(count, length)).unwrap();
            assert_eq!(elements(&path), all);
        }
        assert_eq!(all, 1605);
        file.finish(&events(1, 3), "\"other\": 1").unwrap();
        assert_eq!(elements(&path), all + 1);
        // The program has continued.
        all += file.add(&events(20, 300)).unwrap();
        assert_eq!(elements(&path), all);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn it_ends_at_its_limit() {
        let folder = Folder::new("limit");
        let path = folder.0.join("out");
        let mut file = EventFile::create(path.clone(), HEAD, 10_000).unwrap();
        assert_eq!(file.add(&events(200, 98)).unwrap(), 99);
        assert!(file.is_full());
        assert_eq!(file.add(&events(1, 1)).unwrap(), 0);
        assert_eq!(elements(&path), 99);
    }

    #[test]
    fn another_process_has_a_file_of_its_own() {
        let folder = Folder::new("owner");
        let path = folder.0.join("out");
        // It waits for its input.
        let program = if cfg!(windows) { "cmd" } else { "cat" };
        let mut waits = process::Command::new(program);
        let waits = waits
            .stdin(process::Stdio::piped())
            .stdout(process::Stdio::null());
        let mut waits = waits.spawn().unwrap();
        fs::write(&path, format!("{{\"process\": {}, ", waits.id())).unwrap();
        let other = EventFile::create(path.clone(), HEAD, 1 << 20).unwrap();
        assert_ne!(other.output.path(), path);
        drop(waits.stdin.take());
        waits.wait().unwrap();
        // The file of a process that has ended.
        fs::write(&path, "{\"process\": 4294967295, ").unwrap();
        EventFile::create(path.clone(), HEAD, 1 << 20).unwrap();
        assert_eq!(elements(&path), 0);
    }
}
