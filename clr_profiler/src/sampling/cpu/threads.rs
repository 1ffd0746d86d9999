//! The sampled threads: for each a timer and a slot, or an event of the kernel.

use std::collections::HashMap;
use std::fs;
use std::iter;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::event::{self, Alarm, Refusal};
use super::feed::{self, Fed};
use super::maps::Maps;
use super::signal::{Header, SIGNAL};
use super::slot::Taken;
use super::timer::{self, Timer};
use super::walk::Record;
use crate::ids::ThreadId;
use crate::sampling::clock;

/// The samples of a thread.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) thread: ThreadId,
    pub(super) os_thread: u32,
    pub(super) records: Vec<u64>,
    /// The intervals that found no room.
    pub(super) lost: u64,
}

#[derive(Debug)]
struct Sampled {
    source: Source,
    os_thread: u32,
}

/// Where the samples of a thread are from.
#[derive(Debug)]
enum Source {
    /// The fields are dropped in this order: the timer ends first.
    Handler(Timer, Taken),
    Kernel(Fed),
}

/// The sampled threads of the process.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Whether new threads get timers.
    is_open: bool,
    interval: Duration,
    sampled: HashMap<ThreadId, Sampled>,
    /// The indexes of slots that were given back, and the first one that was never used.
    free: Vec<usize>,
    unused: usize,
    /// The last samples of threads that have ended, as far as there is room.
    ended: Vec<Batch>,
    pub(super) seen: u64,
    /// The threads that got no timer, and the first error.
    pub(super) refused: u64,
    pub(super) refusal: Option<String>,
    /// The calls of the handler, and their nanoseconds, for threads that have ended.
    calls: u64,
    spent: u64,
    /// Wakes the thread that empties rings, where the rate is above the kernel's tick.
    alarm: Option<Arc<Alarm>>,
    /// The threads that have an event now, and all that had one.
    fed: usize,
    pub(super) fed_ever: u64,
    /// The first reason why a thread has a timer instead.
    pub(super) reason: Option<String>,
    /// The words that were taken from rings and are not delivered.
    waiting: usize,
    scratch: Vec<u64>,
}

impl Threads {
    pub(super) fn open(&mut self, interval: Duration) {
        self.is_open = true;
        self.interval = interval;
    }

    /// Has the kernel sample threads from now on; otherwise the reason why it does not.
    pub(super) fn feed(&mut self, alarm: Result<Arc<Alarm>, String>) {
        match alarm {
            Ok(alarm) => self.alarm = Some(alarm),
            Err(reason) => {
                self.alarm = None;
                self.reason.get_or_insert(reason);
            }
        }
    }

    /// Samples a thread from now on.
    pub(super) fn begin(&mut self, thread: ThreadId, os_thread: u32) {
        if !self.is_open || os_thread == 0 {
            return;
        }
        match self.sampled.get(&thread) {
            Some(sampled) if sampled.os_thread == os_thread => return,
            // The managed thread has moved to another thread of the system.
            Some(_) => self.end(thread),
            None => {}
        }
        self.seen += 1;
        if let Err(error) = self.try_begin(thread, os_thread) {
            self.refused += 1;
            self.refusal.get_or_insert(error);
        }
    }

    fn try_begin(&mut self, thread: ThreadId, os_thread: u32) -> Result<(), String> {
        // Of another thread the bounds are found with its first sample.
        let is_own = os_thread == timer::this_thread();
        let bounds = if is_own { timer::own_stack() } else { None };
        let mut no_event = None;
        if let Some(alarm) = self.alarm.clone() {
            let fed = match (self.fed + 1) * event::memory() <= feed::RINGS {
                true => Fed::open(os_thread, self.interval, bounds, &alarm),
                false => Err(Refusal::of_now("the kernel's rings for samples are limited to 64 MB")),
            };
            match fed {
                Ok(fed) => {
                    self.fed += 1;
                    self.fed_ever += 1;
                    let source = Source::Kernel(fed);
                    self.sampled.insert(thread, Sampled { source, os_thread });
                    return Ok(());
                }
                Err(refusal) if refusal.is_lasting => self.feed(Err(refusal.reason)),
                Err(refusal) => no_event = Some(refusal.reason),
            }
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.unused += 1;
            self.unused - 1
        });
        let Some(taken) = Taken::take(index) else {
            self.free.push(index);
            return Err("there is no memory for samples".to_owned());
        };
        if let Some((low, high)) = bounds {
            taken.slot().set_bounds(low, high);
        }
        let timer = timer::create_with_reserve(os_thread, taken.key());
        let timer = timer.and_then(|timer| timer.start(self.interval).map(|()| timer));
        match timer {
            Ok(timer) => {
                // A thread that has ended meanwhile has neither.
                self.reason = self.reason.take().or(no_event);
                let source = Source::Handler(timer, taken);
                self.sampled.insert(thread, Sampled { source, os_thread });
                Ok(())
            }
            Err(error) => {
                drop(taken);
                self.free.push(index);
                Err(error.to_string())
            }
        }
    }

    /// Ends the sampling of a thread, and keeps its last samples.
    pub(super) fn end(&mut self, thread: ThreadId) {
        let Some(sampled) = self.sampled.remove(&thread) else {
            return;
        };
        let Sampled { source, os_thread } = sampled;
        let room = feed::WAITING.saturating_sub(self.waiting);
        let (records, lost) = match source {
            Source::Handler(timer, taken) => {
                drop(timer);
                let mut records = Vec::new();
                let mut lost = taken.drain(&mut records);
                if records.len() > room {
                    lost += intervals(&records);
                    records = Vec::new();
                }
                self.waiting += records.len();
                let (calls, spent) = taken.slot().costs();
                self.calls += calls;
                self.spent += spent;
                self.free.push(taken.index());
                (records, lost)
            }
            Source::Kernel(mut fed) => {
                self.waiting += fed.read(&mut self.scratch, room);
                self.fed = self.fed.saturating_sub(1);
                fed.take()
            }
        };
        match self.ended.last_mut() {
            Some(last) if records.is_empty() => last.lost += lost,
            None if records.is_empty() && lost == 0 => {}
            _ => self.ended.push(Batch {
                thread,
                os_thread,
                records,
                lost,
            }),
        }
    }

    /// Ends the sampling of all threads, and waits for signals that are on their way.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        let all = self.all();
        for (thread, _) in &all {
            self.end(*thread);
        }
        (self.alarm, self.scratch) = (None, Vec::new());
        // Older kernels deliver a signal after its timer was deleted.
        let patience = Instant::now() + Duration::from_millis(50);
        while all.iter().any(|(_, os_thread)| is_pending(*os_thread)) {
            if Instant::now() > patience {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Empties the rings of the kernel.
    pub(super) fn empty_rings(&mut self) {
        for sampled in self.sampled.values_mut() {
            if let Source::Kernel(fed) = &mut sampled.source {
                let room = feed::WAITING.saturating_sub(self.waiting);
                self.waiting += fed.read(&mut self.scratch, room);
            }
        }
    }

    /// The samples since the last call.
    pub(super) fn collect(&mut self, maps: &mut Maps) -> Vec<Batch> {
        self.empty_rings();
        let mut batches = std::mem::take(&mut self.ended);
        for (thread, sampled) in &mut self.sampled {
            let (records, lost) = match &mut sampled.source {
                Source::Handler(_, taken) => {
                    let mut records = Vec::new();
                    let lost = taken.drain(&mut records);
                    let slot = taken.slot();
                    if let Some((sp, own)) = slot.unknown_stack()
                        && let Some((low, high)) = stack_at(maps, sp, own)
                    {
                        slot.set_bounds(low, high);
                    }
                    self.waiting += records.len();
                    (records, lost)
                }
                Source::Kernel(fed) => fed.take(),
            };
            if lost > 0 || !records.is_empty() {
                batches.push(Batch {
                    thread: *thread,
                    os_thread: sampled.os_thread,
                    records,
                    lost,
                });
            }
        }
        batches
    }

    /// Has room again for as many words as those of a batch.
    pub(super) fn delivered(&mut self, batch: &Batch) {
        self.waiting = self.waiting.saturating_sub(batch.records.len());
    }

    /// Forgets samples that nobody delivers.
    pub(super) fn discard(&mut self) {
        (self.ended, self.waiting) = (Vec::new(), 0);
    }

    /// Whether the kernel samples a thread: its rings and the words that wait have less room than those of the handler.
    pub(super) fn is_fed(&self) -> bool {
        self.fed > 0
    }

    /// Ends the timers and slots of threads that ended without notice.
    pub(super) fn prune(&mut self) {
        let gone = |sampled: &Sampled| clock::of_thread(sampled.os_thread).is_none();
        let all: Vec<ThreadId> = self
            .sampled
            .iter()
            .filter(|(_, sampled)| gone(sampled))
            .map(|(thread, _)| *thread)
            .collect();
        all.into_iter().for_each(|thread| self.end(thread));
    }

    /// The sampled threads.
    pub(super) fn all(&self) -> Vec<(ThreadId, u32)> {
        let all = self.sampled.iter();
        all.map(|(thread, sampled)| (*thread, sampled.os_thread)).collect()
    }

    /// The calls of the handler, and the time in them.
    pub(super) fn costs(&self) -> (u64, Duration) {
        let (mut calls, mut spent) = (self.calls, self.spent);
        for sampled in self.sampled.values() {
            if let Source::Handler(_, taken) = &sampled.source {
                let (more_calls, more) = taken.slot().costs();
                calls += more_calls;
                spent += more;
            }
        }
        (calls, Duration::from_nanos(spent))
    }
}

/// How far the main thread's stack can still grow.
const GROWTH: usize = 64 << 20;

/// The bounds of the stack with this stack pointer. The C library keeps a thread's own structure at the end of its stack;
/// the main thread's stack is a mapping of its own.
fn stack_at(maps: &mut Maps, sp: usize, own: usize) -> Option<(usize, usize)> {
    let mapping = maps.at_now(sp)?;
    if &*mapping.path == "[stack]" {
        return Some((mapping.start.saturating_sub(GROWTH), mapping.end));
    }
    (sp < own && own < mapping.end).then_some((mapping.start, own & !7))
}

/// The intervals of these records.
fn intervals(mut words: &[u64]) -> u64 {
    let weights = iter::from_fn(|| Record::take(&mut words)).map(|record| record.header(Header::Weight) as u64);
    weights.sum()
}

fn is_pending(os_thread: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/self/task/{os_thread}/status")) else {
        return false;
    };
    let line = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.unwrap_or(0) >> (SIGNAL - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::mpsc;

    use super::super::signal::HEADER;
    use super::super::timer::OnItsWay;
    use super::*;

    const NEVER: Duration = Duration::from_secs(1 << 34);

    /// The slots are those of the process: each test has its own, from this index on.
    fn threads(first: usize) -> Threads {
        let mut threads = Threads {
            unused: first,
            ..Threads::default()
        };
        threads.open(NEVER);
        threads
    }

    fn sampled(threads: &mut Threads, number: usize) -> &Taken {
        let thread = ThreadId::from_runtime(number);
        threads.begin(thread, timer::this_thread());
        match threads.sampled.get(&thread) {
            Some(Sampled {
                source: Source::Handler(_, taken),
                ..
            }) => taken,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no such timers")]
    fn samples_of_ended_threads_are_limited() {
        let mut threads = threads(90);
        threads.waiting = feed::WAITING - HEADER;
        for (number, records) in [(1, 1), (2, 2), (3, 1)] {
            let taken = sampled(&mut threads, number);
            for _ in 0..records {
                let mut writer = taken.slot().write(taken.key()).unwrap();
                let words = [HEADER as u64, 5].into_iter().chain(iter::repeat(0));
                words.take(HEADER).for_each(|word| writer.push(word));
                writer.publish();
            }
            threads.end(ThreadId::from_runtime(number));
        }
        // The first one has taken the room.
        assert_eq!(threads.waiting, feed::WAITING);
        let batches = threads.collect(&mut Maps::default());
        let [batch] = &*batches else {
            panic!("{batches:?}");
        };
        assert_eq!((batch.records.len(), batch.lost), (HEADER, 15));
        threads.delivered(batch);
        assert_eq!(threads.waiting, feed::WAITING - HEADER);
        threads.close();
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no such timers")]
    fn the_end_waits_for_signals_that_are_on_their_way() {
        let (tell, told) = mpsc::channel();
        let is_taken = Arc::new(AtomicBool::new(false));
        let waiting = thread::spawn({
            let is_taken = Arc::clone(&is_taken);
            move || {
                let signal = OnItsWay::new();
                tell.send(timer::this_thread()).unwrap();
                thread::sleep(Duration::from_millis(20));
                is_taken.store(true, SeqCst);
                drop(signal);
            }
        });
        let mut threads = threads(97);
        threads.begin(ThreadId::from_runtime(1), told.recv().unwrap());
        threads.close();
        // The end has not waited in vain.
        assert!(is_taken.load(SeqCst));
        waiting.join().unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no such timers")]
    fn the_kernel_is_not_asked_again_after_it_has_refused_for_good() {
        // There are no such intervals.
        let mut threads = threads(95);
        threads.feed(Ok(Arc::new(Alarm::new().unwrap())));
        sampled(&mut threads, 1);
        assert!(threads.alarm.is_none() && threads.reason.is_some());
        threads.close();
    }
}
