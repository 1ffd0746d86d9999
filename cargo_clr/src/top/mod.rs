//! `top`: the work of a running program, live on the terminal.

mod message;
mod screen;
mod view;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli;
use crate::library::{self, Reader};
use crate::outcome::{self, Failure, Result};
use crate::tool::{GRACE, Status, is_ours};
use crate::{child, next_to, process};

use message::Message;

const CLSID: &str = "6D2F8C41-93B7-4E05-A1D8-5C7E40B9F263";

/// The class id as a notification profiler.
const NEXT_TO: &str = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B06";

/// The size from which the file of messages is emptied.
const LARGE: u64 = 1 << 20;

pub(crate) fn run(options: &cli::Top) -> Result<ExitCode> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::usage(
            "`top` needs a terminal. For a file use `cargo clr cpu -p PID -o cpu.txt`.",
        ));
    }
    let process = options.process;
    let interrupted = child::interrupts()?;
    let live = Live::attach(process, options.period)?;
    let mut lines = Lines::new(&live.messages);
    let shown = screen::show(process, || match interrupted.is_requested() {
        true => screen::News::End,
        false => live.news(&mut lines),
    });
    let left = live.leave();
    let why =
        shown.map_err(|error| Failure::new(format!("The terminal cannot be used: {error}.")))?;
    for line in [left.unwrap_or(why)].into_iter().chain(live.status.said()) {
        // If stderr is closed, the exit code says it.
        let _ = writeln!(io::stderr(), "top: {line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The profiler in the process.
struct Live {
    process: u32,
    status: Status,
    messages: PathBuf,
    /// A file whose time tells the profiler that this command is there.
    alive: PathBuf,
}

impl Live {
    fn attach(process: u32, period: Duration) -> Result<Self> {
        let is_ours = is_ours(process);
        let (reader, mode) = match is_ours {
            true => (Reader::ThisUser, 0o600),
            false => (Reader::Anyone, 0o666),
        };
        let library = library::extract(CLSID, reader)?;
        let status = Status::new(library.path(), mode)?;
        let live = Self {
            process,
            messages: status.path.with_extension("top"),
            alive: status.path.with_extension("alive"),
            status,
        };
        create(&live.messages, mode)?;
        create(&live.alive, if is_ours { 0o600 } else { 0o644 })?;
        let mut data = OsString::new();
        let milliseconds = |time: Duration| OsString::from(time.as_millis().to_string());
        for (name, value) in [
            ("CLR_TOOL_STATUS", live.status.path.clone().into()),
            ("CLR_TOOL_ALIVE", live.alive.clone().into()),
            ("CLR_TOOL_DURATION", milliseconds(FOREVER)),
            ("TOP_OUTPUT", live.messages.clone().into()),
            ("TOP_PERIOD", milliseconds(period)),
        ] {
            data.push(name);
            data.push("=");
            data.push::<OsString>(value);
            data.push("\0");
        }
        let data = data.into_string();
        let data = data.map_err(|_| Failure::usage("The path of the library is not UTF-8."))?;
        if let Err(error) = next_to::send("top", process, library, Some(NEXT_TO), &data) {
            return Err(match live.status.error() {
                Some(reason) => Failure::new(format!(
                    "The profiler could not start in the process {process}: {reason}."
                )),
                None => error,
            });
        }
        Ok(live)
    }

    /// The messages since the last call; says that this command is there.
    fn news(&self, lines: &mut Lines) -> screen::News {
        // The profiler ends by itself if this fails again and again.
        let _ = fs::write(&self.alive, b"1");
        if !process::is_alive(self.process) {
            return screen::News::Gone("the program has ended");
        }
        if self.status.has_ended() {
            return screen::News::Gone("the profiler has ended");
        }
        screen::News::Messages(lines.read())
    }

    /// Has the profiler leave the process, and waits for it. Returns the user's line if there is more to say.
    fn leave(&self) -> Option<String> {
        self.status.request_end();
        let begun = Instant::now();
        while process::is_alive(self.process) && !self.status.has_ended() {
            if begun.elapsed() > GRACE {
                let process = self.process;
                return Some(format!(
                    "the profiler has not left the process {process}, which may be suspended"
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
        let reason = self.status.stays_loaded()?;
        Some(format!("the profiler stays loaded in the process{reason}"))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.messages);
        let _ = fs::remove_file(&self.alive);
    }
}

/// The user ends it.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

fn create(path: &Path, mode: u32) -> Result<()> {
    let file = fs::File::create_new(path).map_err(outcome::io("write", path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

/// The lines that the profiler appends to a file.
struct Lines {
    path: PathBuf,
    at: u64,
    /// The beginning of a line.
    rest: String,
}

impl Lines {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            at: 0,
            rest: String::new(),
        }
    }

    fn read(&mut self) -> Vec<Message> {
        let mut text = std::mem::take(&mut self.rest);
        // It can be read at the next time as well.
        let _ = self.append_to(&mut text);
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.rest = text.split_off(whole);
        // A line that the file lost a part of, when it was emptied, is left out.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    fn append_to(&mut self, text: &mut String) -> io::Result<()> {
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        text.push_str(&String::from_utf8_lossy(&bytes));
        self.at += bytes.len() as u64;
        if self.at > LARGE {
            file.set_len(0)?;
            self.at = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_when_they_are_whole() {
        let path = std::env::temp_dir().join(format!("clr-top-{}", std::process::id()));
        let line = message::tests::LINE;
        fs::write(&path, &line[..40]).unwrap();
        let mut lines = Lines::new(&path);
        assert!(lines.read().is_empty());
        let append = |text: &str| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        append(&format!("{}\nnonsense\n", &line[40..]));
        assert_eq!(lines.read().len(), 1);
        append(&format!("{}\n{line}\n", " ".repeat(LARGE as usize)));
        assert_eq!(lines.read().len(), 1);
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        append(&format!("{line}\n"));
        assert_eq!(lines.read().len(), 1);
        fs::remove_file(&path).unwrap();
    }
}
