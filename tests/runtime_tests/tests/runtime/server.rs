//! A diagnostics server to which a runtime connects before it runs the program.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use clr_profiler_launcher::ProfilerLibrary;

const PATIENCE: Duration = Duration::from_secs(60);
const E_INVALIDARG: u32 = 0x8007_0057;
const MAGIC: &[u8; 14] = b"DOTNET_IPC_V1\0";
const HEADER: usize = 20;
/// The set of answers, of which 0 is success.
const SERVER: u8 = 0xff;

/// The server, at a path of its own.
pub(crate) struct Server {
    listener: UnixListener,
    path: PathBuf,
}

impl Server {
    pub(crate) fn new() -> Self {
        let path = env::temp_dir().join(format!("clr_profiler-server-{}", process::id()));
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener, path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The runtime's next connection, after its advertisement. It connects anew for each command.
    fn connection(&self) -> UnixStream {
        let deadline = Instant::now() + PATIENCE;
        let mut stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) => assert!(Instant::now() < deadline, "no connection: {error}"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The word, the runtime's number of 16 bytes, its process and two bytes that are reserved.
        let mut advertisement = [0; 34];
        stream.read_exact(&mut advertisement).unwrap();
        assert_eq!(&advertisement[..8], b"ADVR_V1\0");
        stream
    }

    fn command(&self, set: u8, command: u8, payload: &[u8]) {
        assert_eq!(
            self.answer(set, command, payload),
            Ok(()),
            "{set} {command}"
        );
    }

    /// The answer to a command: the code of a failure.
    fn answer(&self, set: u8, command: u8, payload: &[u8]) -> Result<(), Vec<u8>> {
        let mut stream = self.connection();
        let mut message = MAGIC.to_vec();
        message.extend(((HEADER + payload.len()) as u16).to_le_bytes());
        message.extend([set, command, 0, 0]);
        message.extend(payload);
        stream.write_all(&message).unwrap();
        let mut answer = [0; HEADER];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer[..14], MAGIC);
        let size = usize::from(u16::from_le_bytes([answer[14], answer[15]]));
        let mut rest = vec![0; size - HEADER];
        stream.read_exact(&mut rest).unwrap();
        match answer[16..18] == [SERVER, 0] {
            true => Ok(()),
            false => Err(rest),
        }
    }

    /// Has the runtime load a profiler at its start.
    pub(crate) fn start_profiler(&self, library: &ProfilerLibrary) {
        let clsid = library.clsid().as_u128().to_be_bytes();
        let mut payload: Vec<u8> = [3, 2, 1, 0, 5, 4, 7, 6].map(|at| clsid[at]).to_vec();
        payload.extend(&clsid[8..]);
        payload.extend(text(library.path().to_str().unwrap()));
        // The runtime connects a moment before it waits in its start, and refuses the command until then.
        let not_yet = E_INVALIDARG.to_le_bytes();
        let deadline = Instant::now() + PATIENCE;
        let answer = loop {
            match self.answer(3, 2, &payload) {
                Err(code) if code == not_yet && Instant::now() < deadline => {}
                answer => break answer,
            }
        };
        assert_eq!(answer, Ok(()));
    }

    /// Sets a variable of the program, or clears it.
    pub(crate) fn set_variable(&self, name: &str, value: Option<&str>) {
        let mut payload = text(name);
        payload.extend(value.map_or_else(|| vec![0; 4], text));
        self.command(4, 3, &payload);
    }

    /// Has the runtime run the program.
    pub(crate) fn resume(&self) {
        self.command(4, 1, &[]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A text with its length, in UTF-16 with a zero.
fn text(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    let mut bytes = (units.len() as u32).to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes
}
