//! A program that runs while the test talks to it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Finished;
use crate::process::{PATIENCE, wait};

/// A program that was started with pipes for all its streams, and receives commands line by line.
///
/// If it is dropped before [`finish`](Self::finish), the program is killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The output that was already read.
    stdout: String,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<thread::JoinHandle<()>>,
}

impl Running {
    /// Starts a program.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let (send, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines() {
                    if line
                        .and_then(|l| send.send(l).map_err(std::io::Error::other))
                        .is_err()
                    {
                        break;
                    }
                }
            });
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let stderr_reader = child.stderr.take().map(|pipe| {
            let stderr = Arc::clone(&stderr);
            thread::spawn(move || collect(pipe, &stderr))
        });
        Self {
            input: child.stdin.take(),
            stderr,
            stderr_reader,
            child,
            lines,
            stdout: String::new(),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub fn line(&mut self) -> String {
        self.line_within(PATIENCE)
    }

    /// The next line of its output, from a program that takes longer.
    ///
    /// # Panics
    ///
    /// If none comes in that time.
    pub fn line_within(&mut self, patience: Duration) -> String {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                self.stdout.push_str(&line);
                self.stdout.push('\n');
                line
            }
            Err(error) => {
                let _ = self.child.kill();
                let status = self.child.wait();
                let stderr = self.stderr();
                panic!(
                    "no line after {:?}: {error}, {status:?}, {stderr:?}",
                    self.stdout
                );
            }
        }
    }

    /// Sends a line and reads the answer.
    ///
    /// # Panics
    ///
    /// If no answer comes.
    pub fn ask(&mut self, line: &str) -> String {
        if let Some(input) = &mut self.input {
            // A program that no longer reads it does not answer either.
            let _ = writeln!(input, "{line}");
        }
        self.line()
    }

    /// Its standard error so far.
    fn stderr(&self) -> String {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&stderr).into_owned()
    }

    /// Waits until its standard error contains this.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn until_told(&self, part: &str) {
        self.until_line(part, |line| line.contains(part));
    }

    /// Waits until a line of its stderr is the wanted one. The last line may be incomplete.
    ///
    /// # Panics
    ///
    /// If none is.
    pub fn until_line(&self, name: &str, is_wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !self.stderr().lines().any(&is_wanted) {
            assert!(Instant::now() < deadline, "no {name} in {}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes its input, and waits for its end. The log stays empty.
    ///
    /// # Panics
    ///
    /// If it does not end.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        drop(self.input.take());
        self.wait()
    }

    /// Waits for its end; its input stays open. The log stays empty.
    ///
    /// # Panics
    ///
    /// If it does not end.
    #[must_use]
    pub fn wait(mut self) -> Finished {
        let status = wait(&mut self.child, PATIENCE);
        let mut stdout = std::mem::take(&mut self.stdout);
        for line in &self.lines {
            stdout.push_str(&line);
            stdout.push('\n');
        }
        if let Some(reader) = self.stderr_reader.take() {
            reader.join().expect("the reader of stderr does not panic");
        }
        Finished {
            status,
            stdout,
            stderr: self.stderr(),
            log: String::new(),
            diagnostics: String::new(),
            started: false,
        }
    }
}

/// Reads a pipe to its end.
fn collect(mut pipe: impl Read, into: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 4096];
    loop {
        match pipe.read(&mut bytes) {
            Ok(read @ 1..) => {
                let mut into = into.lock().unwrap_or_else(PoisonError::into_inner);
                into.extend_from_slice(&bytes[..read]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Has no effect if the program has been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
