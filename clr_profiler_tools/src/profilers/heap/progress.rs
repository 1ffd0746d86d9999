//! The progress of a snapshot, for the user of the command.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::report::{Session, Settings, masks};
use clr_profiler::heap::HeapRecorder;

/// How often it is told. A snapshot that takes less is not worth a word.
const PACE: Duration = Duration::from_millis(500);

/// The progress of the analysis and of the file. That of the recording is known to the recorder.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Of `WRITING`, or one of the constants below.
    done: AtomicU64,
    all: AtomicU64,
}

/// The values of `all` before a file is written.
const RECORDING: u64 = 0;
const ANALYSIS: u64 = u64::MAX;

impl Progress {
    /// The heap is recorded, and the analysis begins.
    pub(crate) fn analyse(&self) {
        self.all.store(ANALYSIS, Ordering::Relaxed);
    }

    /// So many entries are to be written.
    pub(crate) fn write(&self, all: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.all
            .store(all.clamp(1, ANALYSIS - 1), Ordering::Relaxed);
    }

    /// One more is written.
    pub(crate) fn written(&self) {
        // Only one thread writes.
        let done = self.done.load(Ordering::Relaxed);
        self.done.store(done + 1, Ordering::Relaxed);
    }

    fn words(&self, heap: &HeapRecorder) -> Words {
        match self.all.load(Ordering::Relaxed) {
            RECORDING => Words::Walks(heap.walked()),
            ANALYSIS => Words::Finds,
            all => Words::Writes(self.done.load(Ordering::Relaxed).saturating_mul(100) / all),
        }
    }

    /// Tells the command about it while `work` runs.
    pub(crate) fn tell<R>(
        &self,
        settings: &Settings,
        heap: &HeapRecorder,
        work: impl FnOnce() -> R,
    ) -> R {
        if !Session::is_watched(settings) {
            return work();
        }
        thread::scope(|scope| {
            let (running, ended) = mpsc::channel::<()>();
            let watch = move || {
                let mut last = None;
                while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                    let words = self.words(heap);
                    if last != Some(words) {
                        Session::say_now(settings, words);
                        last = Some(words);
                    }
                }
                if last.is_some() {
                    Session::say_now(settings, "");
                }
            };
            // Without a thread there is no progress to be seen, and the snapshot all the same.
            let _ = masks::spawning(|| {
                let builder = thread::Builder::new().name("progress".to_owned());
                builder.spawn_scoped(scope, watch)
            });
            let outcome = work();
            drop(running);
            outcome
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Walks(u64),
    Finds,
    Writes(u64),
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Walks(0) => f.write_str("the runtime collects garbage"),
            Self::Walks(objects) => write!(f, "{objects} objects are recorded"),
            Self::Finds => f.write_str("computes retained sizes"),
            Self::Writes(percent) => write!(f, "{percent} % are written"),
        }
    }
}
