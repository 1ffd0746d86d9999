//! Runs a program to its end, with a time limit, and captures its output.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of a profiled program: hanging is a failure, too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The scenario's log, which the profiler writes.
    pub log: String,
}

/// The [`output`](Finished::output) of `Stress`, which does everything at once and checks it.
pub const STRESS: (Option<i32>, &str, &str) = (
    Some(11),
    "Compile right True done True\n\
     Instantiate right True done True\n\
     Allocate right True done True\n\
     Throw right True done True\n\
     Start right True done True\n\
     Load right True done True\n\
     Collect right True done True\n",
    "",
);

/// Whether a log has this line.
pub fn has_line(log: &str, line: &str) -> bool {
    log.lines().any(|logged| logged == line)
}

impl Finished {
    /// Everything that the program itself shows: a profiler must not change it.
    pub fn output(&self) -> (Option<i32>, &str, &str) {
        (self.status.code(), &self.stdout, &self.stderr)
    }

    /// Whether the log has this line.
    pub fn logged(&self, line: &str) -> bool {
        has_line(&self.log, line)
    }

    /// Runs `command` with an empty standard input.
    ///
    /// # Panics
    ///
    /// If it cannot be started or does not end.
    pub fn of(command: Command) -> Self {
        Self::with_input(command, b"")
    }

    /// Runs `command` with this on its standard input; it must fit into a pipe (64 KiB).
    ///
    /// # Panics
    ///
    /// If it cannot be started or does not end.
    pub fn with_input(mut command: Command, input: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        if let Some(mut pipe) = child.stdin.take() {
            // A program that does not read it may have ended already.
            let _ = pipe.write_all(input);
        }
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = wait(&mut child);
        Self {
            status,
            stdout: stdout.join().expect("the reader of stdout does not panic"),
            stderr: stderr.join().expect("the reader of stderr does not panic"),
            log: String::new(),
        }
    }
}

/// Waits for its end, up to the time limit.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
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

pub(crate) fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
