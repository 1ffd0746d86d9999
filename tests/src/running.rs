//! A program that runs while the test talks to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::Finished;
use crate::process::{PATIENCE, collect, wait};

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
    stderr: Option<thread::JoinHandle<String>>,
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
        Self {
            input: child.stdin.take(),
            stderr: Some(collect(child.stderr.take())),
            child,
            lines,
            stdout: String::new(),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.stdout.push_str(&line);
                self.stdout.push('\n');
                line
            }
            Err(error) => {
                let _ = self.child.kill();
                let stderr = self.stderr.take().map(thread::JoinHandle::join);
                panic!(
                    "no line after {:?}: {error}, {:?}, {stderr:?}",
                    self.stdout,
                    self.child.wait()
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

    /// Closes its input, and waits for its end. The log stays empty.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn finish(mut self) -> Finished {
        drop(self.input.take());
        self.wait()
    }

    /// Waits for its end; its input stays open. The log stays empty.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn wait(mut self) -> Finished {
        let status = wait(&mut self.child);
        let mut stdout = std::mem::take(&mut self.stdout);
        for line in &self.lines {
            stdout.push_str(&line);
            stdout.push('\n');
        }
        let stderr = self.stderr.take().map(thread::JoinHandle::join);
        Finished {
            status,
            stdout,
            stderr: stderr
                .and_then(Result::ok)
                .expect("the reader of stderr does not panic"),
            log: String::new(),
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
