//! When results are written.

use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::report::{failures, lock, masks, output, private};

/// Why results are written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Some time has passed.
    Meanwhile,
    /// They were requested: see [`When::is_asked`].
    Asked,
    /// A signal came that ends most programs. The program gets it when the results are written, and
    /// may continue then.
    Signal,
    /// The program aborts, and the aborting thread waits for the results.
    Abort,
    /// The program ends.
    End,
}

/// The moments in addition to the end.
#[derive(Debug, Clone, Copy)]
pub struct When {
    /// How often, if at all.
    pub interval: Option<Duration>,
    /// Whether also at each `SIGUSR1`, which then has no other effect.
    pub is_asked: bool,
    /// How long a signal or the end of the program waits at most.
    pub patience: Duration,
}

impl Default for When {
    fn default() -> Self {
        Self {
            interval: None,
            is_asked: false,
            patience: Duration::from_secs(10),
        }
    }
}

impl When {
    /// Every `interval`.
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        Self {
            interval: Some(interval),
            ..Self::default()
        }
    }
}

/// Writes results: periodically, at signals that end programs, at the end.
///
/// Its own thread does it, so that no thread of the program has to.
pub struct Report {
    requests: Mutex<Option<Sender<Request>>>,
    patience: Duration,
}

pub(crate) struct Request {
    pub(crate) moment: Moment,
    /// Dropped or sent to when the results are written.
    pub(crate) done: Sender<()>,
}

impl Report {
    /// Calls `write` at these moments, at each signal that ends most programs, and at the end.
    ///
    /// From .NET 8 on, an uncaught exception, `Environment.FailFast` and a stack overflow
    /// end a program so that no signal handler runs: the results that were written last remain.
    ///
    /// An error of `write` is one of the [`failures`], which are reported at the end.
    ///
    /// # Errors
    ///
    /// The system refuses a thread or a signal handler.
    pub fn start(
        when: When,
        mut write: impl FnMut(Moment) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<Request>();
        let mut write = move |moment| {
            output::write_waiting(!matches!(moment, Moment::Meanwhile | Moment::Asked));
            if let Err(error) = write(moment) {
                failures::add("not written", error);
            }
            if matches!(moment, Moment::Signal | Moment::Abort | Moment::End) {
                failures::tell();
            }
        };
        let run = move || {
            private::wait_for_descriptors();
            loop {
                let request = match when.interval {
                    Some(interval) => inbox.recv_timeout(interval),
                    None => inbox.recv().map_err(RecvTimeoutError::from),
                };
                match request {
                    Ok(Request { moment, done }) => {
                        write(moment);
                        // The requester may not have waited.
                        let _ = done.send(());
                        if moment == Moment::End {
                            return;
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => write(Moment::Meanwhile),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        masks::spawning(|| thread::Builder::new().name("report".to_owned()).spawn(run))?;
        #[cfg(target_os = "linux")]
        crate::report::signals::watch(requests.clone(), when)?;
        #[cfg(windows)]
        crate::report::console::watch(requests.clone(), when)?;
        Ok(Self {
            requests: Mutex::new(Some(requests)),
            patience: when.patience,
        })
    }

    /// Writes for the last time, and waits for it. Later calls do nothing.
    pub fn finish(&self) {
        if let Some(requests) = lock(&self.requests).take() {
            // A disk that hangs must not delay the program indefinitely.
            let _ = request(&requests, Moment::End).recv_timeout(self.patience);
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").finish_non_exhaustive()
    }
}

/// Asks the thread to write; the returned receiver tells when it has. Its sender is dropped if there is
/// no thread.
pub(crate) fn request(requests: &Sender<Request>, moment: Moment) -> Receiver<()> {
    let (done, waits) = mpsc::channel();
    // If no thread takes it, `done` is dropped, which tells.
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
        let report = Report::start(When::every(Duration::from_millis(5)), {
            let moments = Arc::clone(&moments);
            move |moment| {
                moments.lock().unwrap().push(moment);
                let _ = told.send(());
                Ok(())
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
