//! Loads a profiler into a running program.

mod connection;
mod message;
#[cfg(any(target_os = "linux", windows))]
mod peer;
mod process;
mod refusal;

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::{Error, ProfilerLibrary, Result};

pub(crate) use refusal::explain as explain_refusal;

/// Asks a running .NET program to load a profiler, over the socket at which its runtime listens
/// for diagnostic tools (on Windows a named pipe).
///
/// ```no_run
/// use std::time::Duration;
///
/// use clr_profiler_launcher::{Attach, ProfilerLibrary};
///
/// # fn main() -> Result<(), clr_profiler_launcher::Error> {
/// let library = ProfilerLibrary::new("libmy.so", "DF63A541-5A33-4611-8829-F4E495985EE3")?;
/// Attach::new(4711)
///     .profiler(library)
///     .client_data(b"sample every 10 ms")
///     .timeout(Duration::from_secs(5))
///     .send()
/// # }
/// ```
///
/// The profiler gets `InitializeForAttach` with the client data and then
/// `ProfilerAttachComplete`. It sees events from then on, and some features are reserved for
/// profilers that are loaded at startup: object allocations, for example.
///
/// A profiler made with `clr_profiler` reports a failed start to the destination that
/// `CLR_PROFILER_DIAGNOSTICS` names in the environment of the program, not of this tool.
#[derive(Debug, Clone)]
pub struct Attach {
    process: u32,
    library: Option<ProfilerLibrary>,
    client_data: Vec<u8>,
    timeout: Duration,
}

/// The time that the answer may take beyond the runtime's own limit, so that the runtime can still
/// report its timeout.
const GRACE: Duration = Duration::from_secs(1);

impl Attach {
    /// The time limit of an attach unless [`timeout`](Self::timeout) sets another.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// An attach to the process with this id, as this process sees it.
    #[must_use]
    pub fn new(process: u32) -> Self {
        Self {
            process,
            library: None,
            client_data: Vec::new(),
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }

    /// The profiler to load. The program sees its library under the same absolute path.
    pub fn profiler(&mut self, library: ProfilerLibrary) -> &mut Self {
        self.library = Some(library);
        self
    }

    /// The data that the profiler gets in `InitializeForAttach`; empty by default.
    ///
    /// Everything has to fit into one message of at most 65,535 bytes: about 65,000 bytes
    /// remain, minus two for each character of the library's path.
    pub fn client_data(&mut self, data: impl AsRef<[u8]>) -> &mut Self {
        self.client_data = data.as_ref().to_owned();
        self
    }

    /// The time limit for the runtime, including its wait for a garbage collection and the profiler's
    /// `InitializeForAttach`. [`send`](Self::send) waits one second longer, so that the
    /// runtime can report the timeout itself.
    pub fn timeout(&mut self, timeout: Duration) -> &mut Self {
        self.timeout = timeout;
        self
    }

    /// Checks the library, asks the runtime, and waits until the profiler has started.
    ///
    /// # Errors
    ///
    /// Before the program is touched: [`Error::NoProfiler`], those of
    /// [`ProfilerLibrary::check`], [`Error::ClientDataTooLong`], [`Error::NoSuchProcess`],
    /// [`Error::LibraryNotSeen`], [`Error::NoDiagnostics`], [`Error::OtherUser`].
    ///
    /// [`Error::ForeignListener`] if another process listens under the runtime's name: nothing is sent
    /// to it. Detected on Linux and Windows.
    ///
    /// After that: [`Error::AttachRefused`] by the runtime or by the profiler,
    /// [`Error::NoAnswer`] in time (the profiler may nevertheless be loaded later),
    /// [`Error::BadAnswer`], [`Error::Connection`].
    pub fn send(&self) -> Result<()> {
        let process = self.process;
        let library = self.library.as_ref().ok_or(Error::NoProfiler)?;
        library.check()?;
        let Some(path) = library.path().to_str() else {
            return Err(Error::PathNotUnicode {
                path: library.path().to_owned(),
            });
        };
        let milliseconds = u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX);
        let request = message::attach_profiler(
            milliseconds.max(1),
            library.clsid(),
            path,
            &self.client_data,
        )?;
        let places = process::diagnostics_places(process)?;
        process::check_library_seen(process, library.path())?;

        let patience = self.timeout.saturating_add(GRACE);
        let answer = in_time(process, patience, move || {
            exchange(process, &places, &request, patience)
        })?;
        match answer {
            0.. => Ok(()),
            hresult => Err(Error::AttachRefused { process, hresult }),
        }
    }

    /// Returns the endpoint at which the runtime of the process listens for diagnostic tools: the path of a socket, on
    /// Windows the name of a pipe (`\\.\pipe\dotnet-diagnostic-4711`).
    ///
    /// Connects to it, and asks the system who listens, as [`send`](Self::send) does; the profiler is not needed, and
    /// nothing is sent. The path of a socket is one at which this process reaches it: that of a process in a container
    /// begins with `/proc/PID/root`.
    ///
    /// ```no_run
    /// use clr_profiler_launcher::Attach;
    ///
    /// # fn main() -> Result<(), clr_profiler_launcher::Error> {
    /// println!("it listens at {}", Attach::new(4711).endpoint()?.display());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchProcess`], [`Error::NoDiagnostics`] if the process does not listen, [`Error::OtherUser`],
    /// [`Error::ForeignListener`], [`Error::Connection`], and [`Error::NoAnswer`] if the process does not accept a
    /// connection in the time of [`timeout`](Self::timeout).
    pub fn endpoint(&self) -> Result<PathBuf> {
        let process = self.process;
        let places = process::diagnostics_places(process)?;
        let patience = self.timeout;
        in_time(process, patience, move || {
            connection::open(process, &places, patience).map(|(_, path)| path)
        })
    }
}

/// Runs it on its own thread, because some of its calls take no time limit.
fn in_time<T: Send + 'static>(
    process: u32,
    patience: Duration,
    ask: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, answer) = mpsc::channel();
    let no_thread = |source| Error::Connection { process, source };
    thread::Builder::new()
        .name("attach".to_owned())
        .spawn(move || {
            let _ = send.send(ask());
        })
        .map_err(no_thread)?;
    match answer.recv_timeout(patience) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => Err(Error::NoAnswer {
            process,
            waited: patience,
        }),
        Err(RecvTimeoutError::Disconnected) => Err(Error::Connection {
            process,
            source: io::Error::other("the thread that asks has ended without an answer"),
        }),
    }
}

/// Sends a request and reads the answer.
fn exchange(
    process: u32,
    places: &process::Places,
    request: &[u8],
    patience: Duration,
) -> Result<i32> {
    let (mut connection, _) = connection::open(process, places, patience)?;
    let failed = |source: io::Error| match source.kind() {
        // The errors of a socket whose time is up.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::NoAnswer {
            process,
            waited: patience,
        },
        _ => Error::Connection { process, source },
    };
    // The listener may answer, or close the connection, before everything was read.
    let written = io::Write::write_all(&mut connection, request);
    match message::read_answer(&mut connection) {
        Ok(hresult) => Ok(hresult),
        Err(message::Unreadable::Io(source)) => Err(failed(written.err().unwrap_or(source))),
        Err(message::Unreadable::Bad(problem)) => Err(Error::BadAnswer { process, problem }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_endpoint_is_the_socket_at_which_the_process_listens() {
        let process = std::process::id();
        let start = process::start_time(process).unwrap();
        let name = format!("dotnet-diagnostic-{process}-{start}-socket");
        let path = std::env::temp_dir().join(name);
        // One of an earlier run of the tests.
        let _ = std::fs::remove_file(&path);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(Attach::new(process).endpoint().unwrap(), path);
        drop(listener);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    #[cfg(windows)]
    fn a_process_without_a_runtime_has_no_endpoint() {
        let endpoint = Attach::new(std::process::id()).endpoint();
        assert!(
            matches!(endpoint, Err(Error::NoDiagnostics { .. })),
            "{endpoint:?}"
        );
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_endpoint() {
        let endpoint = Attach::new(u32::MAX).endpoint();
        let is_none = matches!(endpoint, Err(Error::NoSuchProcess { .. }));
        assert!(is_none || !cfg!(any(target_os = "linux", windows)));
    }
}
