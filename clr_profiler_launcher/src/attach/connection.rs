//! The connection to a runtime.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::Places;
use crate::{Error, Result};

/// Connects to the first of the endpoints on which the process listens. Returns its path, too.
///
/// The names are predictable and the folders are shared: anyone may have created a socket, or a link
/// to one, under the runtime's name. So the system is asked who listens before a byte is sent.
pub(super) fn open(
    process: u32,
    places: &Places,
    patience: Duration,
) -> Result<(Connection, PathBuf)> {
    let mut forbidden = None;
    let mut foreign = None;
    let mut failed = None;
    for path in &places.paths {
        match connect(path, patience) {
            Ok(connection) => match listener(&connection) {
                Ok(Some(other)) if !is_listener(process, places, other) => {
                    foreign = foreign.or(Some((path, other)));
                }
                Ok(_) => return Ok((connection, path.clone())),
                Err(error) => failed = failed.or(Some(error)),
            },
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => {}
                ErrorKind::PermissionDenied => forbidden = forbidden.or(Some(path)),
                _ => failed = failed.or(Some(error)),
            },
        }
    }
    for path in &places.others {
        if let Ok(connection) = connect(path, patience)
            && let Ok(Some(other)) = listener(&connection)
            && is_listener(process, places, other)
        {
            return Ok((connection, path.clone()));
        }
    }
    if let Some((path, listener)) = foreign {
        return Err(Error::ForeignListener {
            process,
            name: places.name.clone(),
            path: path.clone(),
            listener,
        });
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

/// Whether the listener with this id is the process, and the process is still the one that was
/// inspected: another one may have its id by now.
fn is_listener(process: u32, places: &Places, listener: u32) -> bool {
    listener == process && super::process::start_time(process) == places.start
}

/// The id of the process that listens at the other end, as this process sees it; 0 if it is not
/// visible. `None` where the system does not tell.
#[cfg(target_os = "linux")]
fn listener(connection: &Connection) -> io::Result<Option<u32>> {
    super::peer::listener(&connection.socket).map(Some)
}

/// As on Linux: anyone may have created the first pipe of this name.
#[cfg(windows)]
fn listener(connection: &Connection) -> io::Result<Option<u32>> {
    super::peer::listener(connection).map(Some)
}

/// Other systems have no common call for it.
#[cfg(not(any(target_os = "linux", windows)))]
#[allow(clippy::unnecessary_wraps, reason = "as on Linux")]
fn listener(_connection: &Connection) -> io::Result<Option<u32>> {
    Ok(None)
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
        pub(super) socket: UnixStream,
        deadline: Instant,
    }

    /// Connecting itself can block indefinitely if the other side does not accept.
    pub(super) fn connect(path: &Path, patience: Duration) -> io::Result<Connection> {
        let now = Instant::now();
        // One day is practically unlimited, and can be added without overflow.
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

/// A named pipe. The thread that waits for a silent one is left running.
#[cfg(not(unix))]
pub(super) type Connection = std::fs::File;

#[cfg(not(unix))]
fn connect(path: &Path, patience: Duration) -> io::Result<Connection> {
    /// `ERROR_PIPE_BUSY`: the runtime has one pipe, and makes the next one as soon as somebody has opened it.
    const BUSY: i32 = 231;
    let begun = std::time::Instant::now();
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true);
    loop {
        match options.open(path) {
            Err(error) if error.raw_os_error() == Some(BUSY) && begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::attach::process::diagnostics_places;

    #[test]
    fn a_process_that_has_the_id_of_an_ended_one_is_another() {
        let process = std::process::id();
        let mut places = diagnostics_places(process).unwrap();
        assert!(is_listener(process, &places, process));
        assert!(!is_listener(process, &places, 1));
        // A process in a namespace that is not visible from here.
        assert!(!is_listener(process, &places, 0));
        places.start = Some(1);
        assert!(!is_listener(process, &places, process));
    }

    #[test]
    fn a_runtime_that_knows_another_time_of_its_start_is_found_by_who_listens() {
        let process = std::process::id();
        let folder = std::env::temp_dir();
        let [ended, running] = [1, 2].map(|start: u8| {
            let path = folder.join(format!("dotnet-diagnostic-{process}-{start}-socket"));
            // One of an earlier run of the tests.
            let _ = std::fs::remove_file(&path);
            (UnixListener::bind(&path).unwrap(), path)
        });
        drop(ended.0);
        let mut places = diagnostics_places(process).unwrap();
        places.paths.clear();
        // A process that was killed may have left one under this id.
        let own = [&ended.1, &running.1].map(|path| path.file_name());
        places.others.retain(|path| own.contains(&path.file_name()));
        // Each is also seen through `/proc/PID/root`.
        assert_eq!(places.others.len(), 4, "{places:?}");
        let (_, found) = open(process, &places, Duration::from_secs(1)).unwrap();
        assert_eq!(found.file_name(), running.1.file_name());
        // The listener is this process, which is not that one.
        let another = open(1, &places, Duration::from_secs(1)).map(|_| ());
        assert!(
            matches!(another, Err(Error::NoDiagnostics { .. })),
            "{another:?}"
        );
        drop(running.0);
        let ended_too = open(process, &places, Duration::from_secs(1)).map(|_| ());
        assert!(
            matches!(ended_too, Err(Error::NoDiagnostics { .. })),
            "{ended_too:?}"
        );
        for path in [ended.1, running.1] {
            std::fs::remove_file(path).unwrap();
        }
    }
}
