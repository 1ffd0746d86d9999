//! When results come out.

use std::fmt;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Why results are wanted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Some time has passed.
    Meanwhile,
    /// Somebody has asked for them: see [`Report::start_asked`].
    Asked,
    /// A signal came that ends most programs. This one may go on.
    Signal,
    /// The program ends.
    End,
}

/// Brings results out: meanwhile, at signals that end programs, at the end.
///
/// A thread of its own does it, so that no thread of the program has to.
pub struct Report {
    requests: Mutex<Option<Sender<Request>>>,
}

pub(crate) struct Request {
    pub(crate) moment: Moment,
    /// Dropped or sent to when it is done.
    pub(crate) done: Sender<()>,
}

/// How long the end of a program is held up at most.
const PATIENCE: Duration = Duration::from_secs(10);

impl Report {
    /// Calls `write` every `interval`, if there is one, at each signal that ends most programs, and
    /// in the end.
    ///
    /// From .NET 8 on, an exception that nobody catches and `Environment.FailFast` end a program so
    /// that no signal handler runs: the last that was written before stays.
    ///
    /// An error of `write` is told on stderr, the first one only.
    ///
    /// # Errors
    ///
    /// The system refuses a thread, a pipe or a signal handler.
    pub fn start(
        interval: Option<Duration>,
        write: impl FnMut(Moment) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_thread(interval, false, write)
    }

    /// As [`start`](Self::start), and at each `SIGUSR1`, which does nothing else then.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_asked(
        interval: Option<Duration>,
        write: impl FnMut(Moment) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_thread(interval, true, write)
    }

    #[cfg_attr(
        not(any(target_os = "linux", target_vendor = "apple")),
        expect(unused_variables, reason = "there are no signals")
    )]
    fn start_thread(
        interval: Option<Duration>,
        asks: bool,
        mut write: impl FnMut(Moment) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<Request>();
        thread::Builder::new()
            .name("report".to_owned())
            .spawn(move || {
                let mut told = false;
                let mut write = |moment| match write(moment) {
                    Err(error) if !told => {
                        told = true;
                        // If stderr is closed, nobody can be told.
                        let _ = io::Write::write_all(
                            &mut io::stderr(),
                            format!("{error}. Later failures are not shown.\n").as_bytes(),
                        );
                    }
                    Ok(()) | Err(_) => {}
                };
                loop {
                    let request = match interval {
                        Some(interval) => inbox.recv_timeout(interval),
                        None => inbox.recv().map_err(RecvTimeoutError::from),
                    };
                    match request {
                        Ok(Request { moment, done }) => {
                            write(moment);
                            // Who asked may not have waited.
                            let _ = done.send(());
                            if moment == Moment::End {
                                return;
                            }
                        }
                        Err(RecvTimeoutError::Timeout) => write(Moment::Meanwhile),
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            })?;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        crate::signals::watch(requests.clone(), asks)?;
        Ok(Self {
            requests: Mutex::new(Some(requests)),
        })
    }

    /// Writes for the last time, and waits for that. Later calls do nothing.
    pub fn finish(&self) {
        self.finish_within(PATIENCE);
    }

    /// As [`finish`](Self::finish), for results that take their time.
    pub fn finish_within(&self, patience: Duration) {
        let requests = self
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(requests) = requests {
            // A disk that hangs must not keep the program.
            let _ = request(&requests, Moment::End).recv_timeout(patience);
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").finish_non_exhaustive()
    }
}

/// Asks the thread to write, and waits until it has; `false` if there is none any more.
pub(crate) fn ask(requests: &Sender<Request>, moment: Moment) -> bool {
    // A disk that hangs must not keep the program.
    let waited = request(requests, moment).recv_timeout(PATIENCE);
    waited != Err(RecvTimeoutError::Disconnected)
}

/// Asks the thread to write; what is given tells when it has. Its sender is gone if there is no thread.
pub(crate) fn request(requests: &Sender<Request>, moment: Moment) -> Receiver<()> {
    let (done, waits) = mpsc::channel();
    // If nobody takes it, `done` is dropped, which tells.
    let _ = requests.send(Request { moment, done });
    waits
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn meanwhile_and_once_in_the_end() {
        let moments = Arc::new(Mutex::new(Vec::new()));
        let (told, tells) = mpsc::channel();
        let report = Report::start(Some(Duration::from_millis(5)), {
            let moments = Arc::clone(&moments);
            move |moment| {
                moments.lock().unwrap().push(moment);
                let _ = told.send(());
                Err(io::Error::other("told once"))
            }
        })
        .unwrap();
        tells.recv().unwrap();
        report.finish();
        report.finish();
        let moments = moments.lock().unwrap();
        let (last, before) = moments.split_last().unwrap();
        assert_eq!(*last, Moment::End);
        assert!(!before.is_empty());
        assert!(before.iter().all(|moment| *moment == Moment::Meanwhile));
    }
}
