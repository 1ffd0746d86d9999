//! The sampled threads: a timer and a slot for each.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::maps::Maps;
use super::signal::SIGNAL;
use super::slot::Taken;
use super::timer::{self, Timer};
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

/// The fields are dropped in this order: the timer ends first.
#[derive(Debug)]
struct Sampled {
    timer: Timer,
    taken: Taken,
    os_thread: u32,
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
    /// The last samples of threads that have ended.
    ended: Vec<Batch>,
    pub(super) seen: u64,
    /// The threads that got no timer, and the first error.
    pub(super) refused: u64,
    pub(super) refusal: Option<String>,
    /// The calls of the handler, and their nanoseconds, for threads that have ended.
    calls: u64,
    spent: u64,
}

impl Threads {
    pub(super) fn open(&mut self, interval: Duration) {
        self.is_open = true;
        self.interval = interval;
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
        let index = self.free.pop().unwrap_or_else(|| {
            self.unused += 1;
            self.unused - 1
        });
        let Some(taken) = Taken::take(index) else {
            self.free.push(index);
            return Err("there is no memory for samples".to_owned());
        };
        // Of another thread the bounds are found with its first sample.
        if os_thread == timer::this_thread()
            && let Some((low, high)) = timer::own_stack()
        {
            taken.slot().set_bounds(low, high);
        }
        let timer = timer::create_with_reserve(os_thread, taken.key());
        let timer = timer.and_then(|timer| timer.start(self.interval).map(|()| timer));
        match timer {
            Ok(timer) => {
                let sampled = Sampled {
                    timer,
                    taken,
                    os_thread,
                };
                self.sampled.insert(thread, sampled);
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
        let Sampled {
            timer,
            taken,
            os_thread,
        } = sampled;
        drop(timer);
        let mut records = Vec::new();
        let lost = taken.drain(&mut records);
        let (calls, spent) = taken.slot().costs();
        self.calls += calls;
        self.spent += spent;
        self.free.push(taken.index());
        drop(taken);
        if lost > 0 || !records.is_empty() {
            self.ended.push(Batch {
                thread,
                os_thread,
                records,
                lost,
            });
        }
    }

    /// Ends the sampling of all threads, and waits for signals that are on their way.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        let all = self.all();
        for (thread, _) in &all {
            self.end(*thread);
        }
        // Older kernels deliver a signal after its timer was deleted.
        let patience = Instant::now() + Duration::from_millis(50);
        while all.iter().any(|(_, os_thread)| is_pending(*os_thread)) {
            if Instant::now() > patience {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The samples since the last call.
    pub(super) fn collect(&mut self, maps: &mut Maps) -> Vec<Batch> {
        let mut batches = std::mem::take(&mut self.ended);
        for (thread, sampled) in &self.sampled {
            let mut records = Vec::new();
            let lost = sampled.taken.drain(&mut records);
            let slot = sampled.taken.slot();
            if let Some((sp, own)) = slot.unknown_stack()
                && let Some((low, high)) = stack_at(maps, sp, own)
            {
                slot.set_bounds(low, high);
            }
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
            let (more_calls, more) = sampled.taken.slot().costs();
            calls += more_calls;
            spent += more;
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

fn is_pending(os_thread: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/self/task/{os_thread}/status")) else {
        return false;
    };
    let line = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.unwrap_or(0) >> (SIGNAL - 1) & 1 == 1
}
