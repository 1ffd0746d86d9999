//! The spans of the program. Traced methods record them on their own threads; the writer's thread
//! takes them.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clr_profiler::{Error, Result};

use crate::report::lock;

/// The limit for traced methods.
const METHODS: usize = 16_384;
/// Spans are sharded, so that threads seldom wait for each other.
const PARTS: usize = 64;
/// The limit for open spans: more are not traced.
const OPEN: usize = 65_536;
/// The limit for ended spans of a shard until they are taken: more are lost.
const ENDED: usize = 2_048;
/// The limit for named threads.
const THREADS: usize = 16_384;

/// A call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Span {
    /// Its number, from 1.
    pub id: u64,
    /// The id of the span that was current when it began; zero for none.
    pub parent: u64,
    /// The id of the first span of its trace.
    pub trace: u64,
    /// The number of the method.
    pub method: u32,
    /// The number of the thread on which it began, from 1.
    pub thread: u32,
    /// Nanoseconds since the [`Spans`] were made.
    pub start: u64,
    /// As `start`; zero while it is open.
    pub end: u64,
    /// A line for `this` and for each argument.
    pub arguments: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the task completed after the method had returned.
    pub is_later: bool,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It has not ended.
    Open,
    /// The method returned, or its task completed.
    Returned,
    /// The type of the exception, and its message in the next line.
    Threw(String),
    /// Its task was cancelled.
    Cancelled,
}

/// The totals of a method's calls, as they grow.
#[derive(Debug, Default)]
struct Count {
    calls: AtomicU64,
    errors: AtomicU64,
    total: AtomicU64,
    longest: AtomicU64,
}

/// The totals of the calls of a method that have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodTotals {
    /// The name of the method.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that did not return.
    pub errors: u64,
    /// The time of all calls in nanoseconds.
    pub total: u64,
    /// The time of the longest call in nanoseconds.
    pub longest: u64,
}

#[derive(Default)]
struct Part {
    open: HashMap<u64, Span, BuildHasherDefault<ById>>,
    ended: Vec<Span>,
}

/// A weak hash: ids are consecutive numbers, which need little mixing.
#[derive(Default)]
struct ById(u64);

impl Hasher for ById {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, id: u64) {
        self.0 = (id / PARTS as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The names of the methods, and their numbers.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// The spans of a program: threads begin and end them, and a thread of the tool takes those that have ended.
///
/// At most 65,536 are open at a time, and 131,072 ended ones wait to be taken. More are lost, and [counted](Self::lost). All
/// functions may be called on any thread, in callbacks and by functions that rewritten code calls; none of them blocks for long.
///
/// ```
/// use clr_profiler_tools::spans::{Outcome, Spans};
///
/// let spans = Spans::new();
/// let method = spans.number("Shop.Store.Sell(string, int)")?;
/// let outer = spans.begin(method, 0, 0, String::new());
/// let inner = spans.begin(method, outer, outer, "\"pear\"".to_owned());
/// spans.end(inner, Outcome::Returned, false);
/// let ended = spans.take();
/// assert_eq!((ended.len(), ended[0].parent), (1, outer));
/// assert_eq!(spans.totals()[0].calls, 1);
/// # Ok::<(), clr_profiler::Error>(())
/// ```
pub struct Spans {
    began: (Instant, SystemTime),
    parts: Box<[Mutex<Part>]>,
    next: AtomicU64,
    open_now: AtomicUsize,
    lost: AtomicU64,
    is_closed: AtomicBool,
    counts: Box<[Count]>,
    names: Mutex<Names>,
    /// The names of threads by number, and whether one has changed since they were taken.
    threads: Mutex<HashMap<u32, (String, bool)>>,
}

impl Default for Spans {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans")
            .field("open", &self.open_now)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

/// The number of this thread, from 1. The runtime's ids are those of objects, which are used again.
fn thread() -> u32 {
    static THREADS: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static OWN: Cell<u32> = const { Cell::new(0) };
    }
    if OWN.get() == 0 {
        OWN.set(THREADS.fetch_add(1, Ordering::Relaxed));
    }
    OWN.get()
}

/// Whether this is the thread with which the process began.
fn is_main_thread() -> bool {
    let own = fs::read_link("/proc/thread-self");
    own.is_ok_and(|own| own.ends_with(process::id().to_string()))
}

impl Spans {
    /// No spans; time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            began: (Instant::now(), SystemTime::now()),
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            next: AtomicU64::new(1),
            open_now: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            counts: (0..METHODS).map(|_| Count::default()).collect(),
            names: Mutex::default(),
            threads: Mutex::default(),
        }
    }

    /// The number of the method of this name, which gets one.
    ///
    /// # Errors
    ///
    /// 16,384 methods have one.
    pub fn number(&self, name: &str) -> Result<u32> {
        let mut all = lock(&self.names);
        if let Some(number) = all.numbers.get(name) {
            return Ok(*number);
        }
        if all.names.len() >= METHODS {
            return Err(Error::other(format!(
                "{METHODS} methods are traced already"
            )));
        }
        let number = all.names.len() as u32;
        all.names.push(name.to_owned());
        all.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    /// The name of a method; empty for a number that no method has.
    #[must_use]
    pub fn name(&self, method: u32) -> String {
        let all = lock(&self.names);
        all.names.get(method as usize).cloned().unwrap_or_default()
    }

    /// Names the calling thread, in place of an earlier name.
    pub fn name_thread(&self, name: &str) {
        let thread = thread();
        let mut threads = lock(&self.threads);
        if threads.len() < THREADS || threads.contains_key(&thread) {
            threads.insert(thread, (name.to_owned(), true));
        }
    }

    /// The threads that were named since the last call, by number.
    #[must_use]
    pub fn take_thread_names(&self) -> Vec<(u32, String)> {
        let mut threads = lock(&self.threads);
        let mut new: Vec<_> = threads
            .iter_mut()
            .filter(|(_, (_, is_new))| *is_new)
            .map(|(thread, (name, is_new))| {
                *is_new = false;
                (*thread, name.clone())
            })
            .collect();
        new.sort();
        new
    }

    /// Nanoseconds since the spans were made.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.began.0.elapsed().as_nanos() as u64
    }

    /// When the spans were made, in nanoseconds since 1970.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        let since = self.began.1.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    }

    fn part(&self, id: u64) -> MutexGuard<'_, Part> {
        lock(&self.parts[id as usize % PARTS])
    }

    /// Begins a span on this thread, and returns its id; zero if there are too many, or none begins anymore.
    ///
    /// `parent` and `trace` are ids of the span that is current and of the first span of its trace; zero for none.
    pub fn begin(&self, method: u32, parent: u64, trace: u64, arguments: String) -> u64 {
        if self.is_closed.load(Ordering::Relaxed) {
            return 0;
        }
        if self.open_now.fetch_add(1, Ordering::Relaxed) >= OPEN {
            self.open_now.fetch_sub(1, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
            return 0;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let thread = thread();
        self.first_of(thread);
        let span = Span {
            id,
            parent,
            trace: if trace == 0 { id } else { trace },
            method,
            thread,
            start: self.now(),
            end: 0,
            arguments,
            outcome: Outcome::Open,
            is_later: false,
        };
        self.part(id).open.insert(id, span);
        id
    }

    /// Names the main thread when it begins its first span.
    fn first_of(&self, thread: u32) {
        thread_local! {
            static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
        }
        if !IS_KNOWN.replace(true) && is_main_thread() {
            let mut threads = lock(&self.threads);
            threads
                .entry(thread)
                .or_insert_with(|| ("main".to_owned(), true));
        }
    }

    /// Ends a span. `is_later` says that its method has returned before, or could wait without returning.
    pub fn end(&self, id: u64, outcome: Outcome, is_later: bool) {
        let end = self.now();
        let mut part = self.part(id);
        let Some(mut span) = part.open.remove(&id) else {
            return;
        };
        self.open_now.fetch_sub(1, Ordering::Relaxed);
        if let Some(count) = self.counts.get(span.method as usize) {
            let took = end - span.start;
            count.calls.fetch_add(1, Ordering::Relaxed);
            count.total.fetch_add(took, Ordering::Relaxed);
            count.longest.fetch_max(took, Ordering::Relaxed);
            if outcome != Outcome::Returned {
                count.errors.fetch_add(1, Ordering::Relaxed);
            }
        }
        if part.ended.len() >= ENDED {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        (span.end, span.outcome, span.is_later) = (end, outcome, is_later);
        part.ended.push(span);
    }

    /// No span begins from now on. Those that are open can end.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Takes the ended spans, in the order in which they began.
    #[must_use]
    pub fn take(&self) -> Vec<Span> {
        let mut all: Vec<Span> = Vec::new();
        for part in &self.parts {
            // The program's threads keep the memory, and need not allocate it again.
            all.append(&mut lock(part).ended);
        }
        all.sort_by_key(|span| (span.start, span.id));
        all
    }

    /// The open spans, up to a limit: those that began first.
    #[must_use]
    pub fn open(&self, most: usize) -> Vec<Span> {
        let mut all: Vec<Span> = Vec::new();
        for part in &self.parts {
            all.extend(lock(part).open.values().cloned());
        }
        all.sort_by_key(|span| (span.start, span.id));
        all.truncate(most);
        all
    }

    /// The number of calls without a span: there were too many at once.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// The totals of all methods with a number; the longest time first.
    #[must_use]
    pub fn totals(&self) -> Vec<MethodTotals> {
        let names = lock(&self.names).names.clone();
        let mut rows: Vec<MethodTotals> = names
            .into_iter()
            .zip(&self.counts)
            .map(|(name, count)| MethodTotals {
                name,
                calls: count.calls.load(Ordering::Relaxed),
                errors: count.errors.load(Ordering::Relaxed),
                total: count.total.load(Ordering::Relaxed),
                longest: count.longest.load(Ordering::Relaxed),
            })
            .collect();
        rows.sort_by(|one, other| other.total.cmp(&one.total).then(one.name.cmp(&other.name)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_parents_outcomes_and_totals() {
        let spans = Spans::new();
        let [outer, inner] = ["A.Outer()", "A.Inner()"].map(|name| spans.number(name).unwrap());
        assert_eq!(spans.number("A.Inner()").unwrap(), inner);
        let first = spans.begin(outer, 0, 0, String::new());
        let second = spans.begin(inner, first, first, "1".to_owned());
        spans.end(second, Outcome::Cancelled, true);
        let [span] = &spans.take()[..] else {
            panic!("one has ended");
        };
        assert_eq!((span.parent, span.trace), (first, first));
        assert_eq!((&span.outcome, span.is_later), (&Outcome::Cancelled, true));
        assert_eq!(spans.open(10).len(), 1);
        // It has ended already.
        spans.end(second, Outcome::Returned, false);
        spans.close();
        assert_eq!(spans.begin(inner, 0, 0, String::new()), 0);
        spans.end(first, Outcome::Returned, false);
        let totals = spans.totals();
        assert!(totals.iter().all(|row| row.calls == 1));
        assert_eq!(totals.iter().map(|row| row.errors).sum::<u64>(), 1);
        assert_eq!(spans.lost(), 0);
    }

    #[test]
    fn names_of_threads_are_taken_when_they_change() {
        let spans = Spans::new();
        spans.name_thread("first");
        let [(number, name)] = &spans.take_thread_names()[..] else {
            panic!("one was named");
        };
        assert_eq!(name, "first");
        assert_eq!(spans.take_thread_names(), []);
        spans.name_thread("second");
        assert_eq!(spans.take_thread_names(), [(*number, "second".to_owned())]);
    }
}
