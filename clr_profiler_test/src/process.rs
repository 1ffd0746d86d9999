//! Runs a program to its end, with a time limit, and captures its output.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of a profiled program: hanging is a failure, too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A program that has ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The text that the profiler has written to the file of [`Scenario::log`](crate::Scenario::log).
    pub log: String,
    /// The failures of a profiler without `on_failure`, and why it did not start: the lines of
    /// `CLR_PROFILER_DIAGNOSTICS`.
    pub diagnostics: String,
    /// Whether the profiler has started. Also `true` for one that was given as a file: nothing says whether it has.
    pub started: bool,
}

/// Whether a log has this line.
pub(crate) fn has_line(log: &str, line: &str) -> bool {
    log.lines().any(|logged| logged == line)
}

impl Finished {
    /// Everything that the program itself shows: a profiler must not change it.
    #[must_use]
    pub fn output(&self) -> (Option<i32>, &str, &str) {
        (self.status.code(), &self.stdout, &self.stderr)
    }

    /// Whether the log has this line.
    #[must_use]
    pub fn logged(&self, line: &str) -> bool {
        has_line(&self.log, line)
    }

    /// Runs `command` with an empty standard input.
    ///
    /// # Panics
    ///
    /// If it cannot be started or does not end.
    #[must_use]
    pub fn of(command: Command) -> Self {
        Self::with_input(command, b"")
    }

    /// Runs `command` with this on its standard input.
    ///
    /// # Panics
    ///
    /// If it cannot be started or does not end.
    #[must_use]
    pub fn with_input(command: Command, input: &[u8]) -> Self {
        Self::within(command, input, PATIENCE)
    }

    /// As [`with_input`](Self::with_input), with a time limit of its own.
    pub(crate) fn within(mut command: Command, input: &[u8], limit: Duration) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        if let Some(mut pipe) = child.stdin.take() {
            let input = input.to_owned();
            // On a thread, because a pipe has room for 64 KiB alone. A program that does not read it may have ended
            // already.
            thread::spawn(move || pipe.write_all(&input));
        }
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = wait(&mut child, limit);
        Self {
            status,
            stdout: stdout.join().expect("the reader of stdout does not panic"),
            stderr: stderr.join().expect("the reader of stderr does not panic"),
            log: String::new(),
            diagnostics: String::new(),
            started: false,
        }
    }
}

/// Waits for its end, up to the time limit.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> ExitStatus {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            result => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the process {} did not end: {result:?}", child.id());
            }
        }
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "did not end")]
    fn a_program_that_hangs_fails() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let _ = Finished::within(command, b"", Duration::from_millis(50));
    }

    #[test]
    fn input_may_be_longer_than_a_pipe() {
        let input = vec![b'a'; 1 << 20];
        let finished = Finished::with_input(Command::new("cat"), &input);
        assert_eq!(finished.stdout.len(), input.len());
    }
}
