//! The connection to a runtime.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use super::process::Places;
use crate::{Error, Result};

/// Connects to the first of the places where somebody listens.
pub(super) fn open(process: u32, places: &Places, patience: Duration) -> Result<Connection> {
    let mut forbidden = None;
    let mut failed = None;
    for path in &places.paths {
        match connect(path, patience) {
            Ok(connection) => return Ok(connection),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => {}
                ErrorKind::PermissionDenied => forbidden = forbidden.or(Some(path)),
                _ => failed = failed.or(Some(error)),
            },
        }
    }
    Err(match (failed, forbidden) {
        (Some(source), _) => Error::Connection { process, source },
        (None, Some(path)) => Error::OtherUser {
            process,
            name: places.name.clone(),
            path: path.clone(),
        },
        (None, None) => Error::NoDiagnostics {
            process,
            name: places.name.clone(),
            switched_off: places.switched_off.clone(),
            looked_at: places.paths.clone(),
        },
    })
}

#[cfg(unix)]
pub(super) use unix::Connection;
#[cfg(unix)]
use unix::connect;

#[cfg(unix)]
mod unix {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;

    /// A socket whose reads and writes fail when the time for all of them is up.
    pub(in crate::attach) struct Connection {
        socket: UnixStream,
        deadline: Instant,
    }

    /// Connecting itself can wait for as long as it likes, if the other side does not accept.
    pub(super) fn connect(path: &Path, patience: Duration) -> io::Result<Connection> {
        let now = Instant::now();
        // A day is for ever, and can be added.
        let deadline = now + patience.min(Duration::from_secs(86_400));
        let socket = UnixStream::connect(path)?;
        Ok(Connection { socket, deadline })
    }

    impl Connection {
        fn time_left(&self) -> io::Result<Option<Duration>> {
            match self.deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Ok(Some(left)),
                _ => Err(ErrorKind::TimedOut.into()),
            }
        }
    }

    impl Read for Connection {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.socket.set_read_timeout(self.time_left()?)?;
            self.socket.read(buffer)
        }
    }

    impl Write for Connection {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.socket.set_write_timeout(self.time_left()?)?;
            self.socket.write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.socket.flush()
        }
    }
}

/// A named pipe. The thread that waits at one that stays silent stays behind.
#[cfg(not(unix))]
pub(super) type Connection = std::fs::File;

#[cfg(not(unix))]
fn connect(path: &Path, _patience: Duration) -> io::Result<Connection> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
}
