//! The spans that wait to be sent: a bounded queue between the threads that add them and the one that sends.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::report::lock;
use crate::spans::{Outcome, Span};

/// The limit for the memory of the spans that wait.
const BYTES: usize = 32 << 20;
/// How long a flush waits for a collector that has stopped to answer.
const QUIET: Duration = Duration::from_millis(500);
/// How long a flush waits at all.
const LAST: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
    batch: usize,
    delay: Duration,
}

#[derive(Debug, Default)]
struct State {
    spans: VecDeque<Span>,
    /// The memory of the spans in the queue.
    bytes: usize,
    /// The number of spans that were taken, and are being sent.
    taken: usize,
    /// The number of spans that were sent or lost after they were taken.
    settled: u64,
    /// When the first span of the queue was added.
    since: Option<Instant>,
    /// The number of flushes so far, and the number of the last one that has ended because the collector failed.
    flushes: u64,
    failed: u64,
    is_closed: bool,
}

/// How a pause has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// It is over, or somebody waits for a flush.
    Over,
    /// The exporter was dropped.
    Closed,
}

impl State {
    fn is_flushing(&self) -> bool {
        self.flushes > self.failed
    }
}

/// The memory of a span.
fn size(span: &Span) -> usize {
    let words = match &span.outcome {
        Outcome::Threw(words) => words.len(),
        _ => 0,
    };
    size_of::<Span>() + span.arguments.len() + span.result.len() + words + span.said_bytes()
}

impl Queue {
    pub(super) fn new(most: usize, batch: usize, delay: Duration) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            most,
            batch,
            delay,
        }
    }

    /// Adds spans, and returns the number of those for which there is no room.
    pub(super) fn add(&self, spans: Vec<Span>) -> usize {
        let mut state = lock(&self.state);
        let given = spans.len();
        let mut added = 0;
        for span in spans {
            let size = size(&span);
            if state.spans.len() + state.taken >= self.most || state.bytes + size > BYTES {
                break;
            }
            state.bytes += size;
            state.spans.push_back(span);
            added += 1;
        }
        if added > 0 {
            state.since.get_or_insert_with(Instant::now);
        }
        let is_batch = state.spans.len() >= self.batch;
        drop(state);
        if is_batch || added > 0 {
            self.changed.notify_all();
        }
        given - added
    }

    /// Waits for the next batch. `None` when the exporter was dropped.
    pub(super) fn take(&self) -> Option<Vec<Span>> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            let left = match state.since {
                Some(since) => self.delay.saturating_sub(since.elapsed()),
                None => Duration::MAX,
            };
            let is_due = left.is_zero() || state.spans.len() >= self.batch || state.is_flushing();
            if is_due && !state.spans.is_empty() {
                let count = state.spans.len().min(self.batch);
                let batch: Vec<Span> = state.spans.drain(..count).collect();
                state.bytes -= batch.iter().map(size).sum::<usize>();
                state.taken = count;
                state.since = (!state.spans.is_empty()).then(Instant::now);
                return Some(batch);
            }
            state = self.wait(state, left);
        }
    }

    /// These of the taken spans were sent, or are lost.
    pub(super) fn settle(&self, count: usize) {
        let mut state = lock(&self.state);
        state.taken -= count;
        state.settled += count as u64;
        if state.taken == 0 && state.spans.is_empty() {
            // All flushes so far are done.
            state.failed = state.flushes;
        }
        self.changed.notify_all();
    }

    /// The collector cannot be reached: nobody needs to wait for it.
    pub(super) fn end_flushes(&self) {
        let mut state = lock(&self.state);
        state.failed = state.flushes;
        self.changed.notify_all();
    }

    /// Waits until this moment. Ends early for a flush, unless the collector has asked for the pause.
    pub(super) fn pause(&self, until: Instant, is_asked_for: bool) -> Pause {
        let mut state = lock(&self.state);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.is_closed {
                return Pause::Closed;
            }
            if left.is_zero() {
                return Pause::Over;
            }
            if state.is_flushing() {
                if !is_asked_for {
                    return Pause::Over;
                }
                state.failed = state.flushes;
                self.changed.notify_all();
            }
            state = self.wait(state, left);
        }
    }

    /// Waits until all spans were sent, up to 3 seconds; less if the collector does not answer.
    pub(super) fn flush(&self) {
        let begun = Instant::now();
        let mut state = lock(&self.state);
        if state.taken == 0 && state.spans.is_empty() {
            return;
        }
        state.flushes += 1;
        let own = state.flushes;
        self.changed.notify_all();
        let mut progress = (state.settled, begun);
        while state.failed < own {
            let now = Instant::now();
            if state.settled != progress.0 {
                progress = (state.settled, now);
            }
            let end = (begun + LAST).min(progress.1 + QUIET);
            if now >= end {
                // The thread need not hurry anymore.
                state.failed = state.failed.max(own);
                return;
            }
            state = self.wait(state, end - now);
        }
    }

    /// Ends the thread that takes.
    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, most: Duration) -> MutexGuard<'a, State> {
        // A condition variable cannot wait for centuries.
        let waited = self
            .changed
            .wait_timeout(state, most.min(Duration::from_secs(3600)));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::spans::Spans;

    fn spans(count: usize, argument: usize) -> Vec<Span> {
        let all = Spans::new();
        let method = all.number("A.B()").unwrap();
        for _ in 0..count {
            let id = all.begin(method, 0, 0, "x".repeat(argument));
            all.end(id, Outcome::Returned, false);
        }
        all.take()
    }

    #[test]
    fn numbers_and_bytes_are_bounded() {
        let queue = Queue::new(100, 10, Duration::from_secs(60));
        assert_eq!(queue.add(spans(150, 0)), 50);
        assert_eq!(queue.take().unwrap().len(), 10);
        // Those that are being sent count.
        assert_eq!(queue.add(spans(5, 0)), 5);
        queue.settle(10);
        assert_eq!(queue.add(spans(15, 0)), 5);
        let queue = Queue::new(100, 10, Duration::from_secs(60));
        assert_eq!(queue.add(spans(50, 1 << 20)), 50 - 31);
    }

    #[test]
    fn a_batch_is_due_when_it_is_full_old_or_waited_for() {
        let queue = Queue::new(100, 10, Duration::from_millis(50));
        assert_eq!(queue.add(spans(13, 0)), 0);
        assert_eq!(queue.take().unwrap().len(), 10);
        queue.settle(10);
        let begun = Instant::now();
        assert_eq!(queue.take().unwrap().len(), 3);
        assert!(begun.elapsed() >= Duration::from_millis(30));
        queue.settle(3);
        let queue = Queue::new(100, 10, Duration::from_secs(60));
        assert_eq!(queue.add(spans(2, 0)), 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(queue.take().unwrap().len(), 2);
                queue.settle(2);
            });
            let begun = Instant::now();
            queue.flush();
            assert!(begun.elapsed() < QUIET);
        });
    }

    #[test]
    fn nobody_waits_long_for_a_collector_that_fails() {
        let queue = Queue::new(100, 10, Duration::from_secs(60));
        assert_eq!(queue.add(spans(2, 0)), 0);
        // Nobody takes them.
        let begun = Instant::now();
        queue.flush();
        assert!((QUIET..LAST).contains(&begun.elapsed()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let later = Instant::now() + Duration::from_millis(300);
                // The flush is answered, and the pause lasts.
                assert_eq!(queue.pause(later, true), Pause::Over);
                assert!(Instant::now() >= later);
                assert_eq!(queue.pause(Instant::now() + LAST, false), Pause::Over);
                queue.end_flushes();
            });
            for longest in [Duration::from_millis(250), QUIET] {
                thread::sleep(Duration::from_millis(20));
                let begun = Instant::now();
                queue.flush();
                assert!(begun.elapsed() < longest);
                thread::sleep(Duration::from_millis(300));
            }
            queue.close();
        });
        assert_eq!(queue.take().map(|batch| batch.len()), None);
    }
}
