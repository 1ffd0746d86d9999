//! The spans of the program. Traced methods record them on their own threads; a thread of the tool
//! takes them.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
#[cfg(target_os = "linux")]
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
#[cfg(target_os = "linux")]
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};
use std::time::{SystemTime, UNIX_EPOCH};

use clr_profiler::{Error, Result};

use super::clock::{Clock, ticks};
use super::said::{Read, Said};
use super::threads::{self, Raw};
use super::totals::Count;
use crate::conventions::Details;
use crate::report::lock;

/// The limit for traced methods.
pub(super) const METHODS: usize = 16_384;
/// Spans are sharded, so that threads seldom wait for each other.
const PARTS: usize = 64;
/// The limit for open spans: more are not traced.
const OPEN: usize = 65_536;
/// The limit for ended spans of a shard until they are taken: more are lost.
const ENDED: usize = 2_048;
/// The limit for ended spans from the rings of threads.
const DRAINED: usize = 131_072;
/// The limit for named threads.
const THREADS: usize = 16_384;

/// A call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Span {
    /// Its number, which is not zero.
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
    /// The text of the result; empty if it was not recorded.
    pub result: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the task completed after the method had returned.
    pub is_later: bool,
    /// The details by rules; only of spans that were taken.
    pub details: Option<Box<Details>>,
    /// The values that were read for it.
    pub(super) read: Option<Box<Read>>,
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

impl From<Raw> for Span {
    /// A call that has returned.
    fn from(raw: Raw) -> Self {
        Self {
            id: raw.id,
            parent: raw.parent,
            trace: raw.trace,
            method: raw.method,
            thread: raw.thread,
            start: raw.start,
            end: raw.end,
            arguments: String::new(),
            result: String::new(),
            outcome: Outcome::Returned,
            is_later: false,
            details: None,
            read: None,
        }
    }
}

/// The spans here have ticks as times.
#[derive(Default)]
pub(super) struct Part {
    pub(super) open: HashMap<u64, Span, BuildHasherDefault<ById>>,
    ended: Vec<Span>,
}

/// The records that were taken out of the rings of threads.
#[derive(Default)]
pub(super) struct Drained {
    records: Vec<Raw>,
    /// The number of records of each method since it was asked for.
    pub(super) seen: Vec<u64>,
    /// The number of records that were overwritten since then.
    pub(super) lost: u64,
}

/// A weak hash: ids are consecutive numbers, which need little mixing.
#[derive(Default)]
pub(super) struct ById(u64);

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
    /// The names of `this` and of the parameters, of methods whose arguments are recorded.
    parameters: HashMap<u32, Arc<[String]>>,
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
    began: SystemTime,
    /// The thread on which they were made.
    first: ThreadId,
    pub(super) clock: Clock,
    parts: Box<[Mutex<Part>]>,
    /// Whether these are the spans that compiled code begins and ends.
    pub(super) has_threads: bool,
    /// Those from the rings of threads.
    pub(super) drained: Mutex<Drained>,
    open_now: AtomicUsize,
    lost: AtomicU64,
    pub(super) is_closed: AtomicBool,
    pub(super) counts: Box<[Count]>,
    names: Mutex<Names>,
    /// The rules by which spans say more than their methods.
    pub(super) said: Said,
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
pub(super) fn thread_number() -> u32 {
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
#[cfg(target_os = "linux")]
fn is_main_thread(_first: ThreadId) -> bool {
    let own = fs::read_link("/proc/thread-self");
    own.is_ok_and(|own| own.ends_with(process::id().to_string()))
}

/// Whether this is the thread with which the process began. A profiler that is started with the program begins on it, one
/// that is attached on a thread without methods.
#[cfg(not(target_os = "linux"))]
fn is_main_thread(first: ThreadId) -> bool {
    thread::current().id() == first
}

impl Spans {
    /// No spans; time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            began: SystemTime::now(),
            first: thread::current().id(),
            clock: Clock::new(),
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
            has_threads: false,
            drained: Mutex::default(),
            open_now: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            counts: (0..METHODS).map(|_| Count::default()).collect(),
            names: Mutex::default(),
            said: Said::default(),
            threads: Mutex::default(),
        }
    }

    /// The spans that compiled code begins and ends: one for the process.
    pub(crate) fn of_threads() -> Self {
        Self {
            has_threads: true,
            ..Self::new()
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

    /// The number of methods with a number.
    pub(super) fn methods(&self) -> usize {
        lock(&self.names).names.len()
    }

    /// The names of all methods with a number, in the order of the numbers.
    pub(super) fn names(&self) -> Vec<String> {
        lock(&self.names).names.clone()
    }

    /// The name of a method; empty for a number that no method has.
    #[must_use]
    pub fn name(&self, method: u32) -> String {
        let all = lock(&self.names);
        all.names.get(method as usize).cloned().unwrap_or_default()
    }

    /// Names the lines of `arguments` in the spans of a method, unless they have names.
    pub(crate) fn name_arguments(&self, method: u32, names: Vec<String>) {
        let mut all = lock(&self.names);
        all.parameters.entry(method).or_insert_with(|| names.into());
    }

    /// The names of the lines of `arguments`.
    pub(crate) fn argument_names(&self, method: u32) -> Option<Arc<[String]>> {
        lock(&self.names).parameters.get(&method).cloned()
    }

    /// Names the calling thread, in place of an earlier name.
    pub fn name_thread(&self, name: &str) {
        let thread = thread_number();
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
        self.clock.now()
    }

    /// When the spans were made, in nanoseconds since 1970.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        let since = self.began.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    }

    pub(super) fn part(&self, id: u64) -> MutexGuard<'_, Part> {
        lock(&self.parts[id as usize % PARTS])
    }

    /// Begins a span on this thread, and returns its id; zero if there are too many, or none begins anymore.
    ///
    /// `parent` and `trace` are ids of the span that is current and of the first span of its trace; zero for none.
    pub fn begin(&self, method: u32, parent: u64, trace: u64, arguments: String) -> u64 {
        if self.is_closed.load(Ordering::Relaxed) {
            return 0;
        }
        let id = threads::new_id();
        let thread = thread_number();
        self.name_main(thread);
        let span = Span {
            id,
            parent,
            trace: if trace == 0 { id } else { trace },
            method,
            thread,
            start: ticks(),
            end: 0,
            arguments,
            result: String::new(),
            outcome: Outcome::Open,
            is_later: false,
            details: None,
            read: None,
        };
        if self.keep(span) { id } else { 0 }
    }

    /// Adds an open span, unless there are too many: then it is lost.
    pub(super) fn keep(&self, span: Span) -> bool {
        if self.open_now.fetch_add(1, Ordering::Relaxed) >= OPEN {
            self.open_now.fetch_sub(1, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.part(span.id).open.insert(span.id, span);
        true
    }

    /// Names the main thread when it begins its first span.
    pub(super) fn name_main(&self, thread: u32) {
        thread_local! {
            static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
        }
        if !IS_KNOWN.replace(true) && is_main_thread(self.first) {
            let mut threads = lock(&self.threads);
            threads
                .entry(thread)
                .or_insert_with(|| ("main".to_owned(), true));
        }
    }

    /// Ends a span. `is_later` says that its method has returned before, or could wait without returning.
    pub fn end(&self, id: u64, outcome: Outcome, is_later: bool) {
        self.end_at(ticks(), id, outcome, is_later);
    }

    /// Ends a span that was open at `end`. An outcome that is known already is the one that counts, if it returns now.
    pub(super) fn end_at(&self, end: u64, id: u64, outcome: Outcome, is_later: bool) {
        let mut part = self.part(id);
        let Some(mut span) = part.open.remove(&id) else {
            return;
        };
        self.open_now.fetch_sub(1, Ordering::Relaxed);
        if span.outcome == Outcome::Open || outcome != Outcome::Returned {
            span.outcome = outcome;
        }
        (span.end, span.is_later) = (end, is_later);
        self.add(&mut part, span);
    }

    /// Adds a span that has ended.
    pub(super) fn ended(&self, span: Span) {
        let mut part = self.part(span.id);
        self.add(&mut part, span);
    }

    fn add(&self, part: &mut Part, span: Span) {
        self.count(span.method, span.start, span.end, &span.outcome);
        if part.ended.len() >= ENDED {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        part.ended.push(span);
    }

    /// Sets the result of an open span, to a text for its method.
    pub(crate) fn set_result(&self, id: u64, text: impl FnOnce(u32) -> String) {
        if let Some(span) = self.part(id).open.get_mut(&id) {
            span.result = text(span.method);
        }
    }

    /// Records the outcome of an open span before it ends.
    pub(super) fn completes(&self, id: u64, outcome: Outcome) {
        if let Some(span) = self.part(id).open.get_mut(&id) {
            span.outcome = outcome;
        }
    }

    /// No span begins from now on. Those that are open can end.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        if self.has_threads {
            threads::close();
        }
    }

    /// Takes the records of the threads out of their rings, which they overwrite, and returns their number. At most 131,072 wait here.
    pub(crate) fn drain(&self) -> usize {
        if !self.has_threads {
            return 0;
        }
        let mut drained = lock(&self.drained);
        let Drained {
            records,
            seen,
            lost: overwritten,
        } = &mut *drained;
        let known = records.len();
        let mut lost = threads::take(records);
        *overwritten += lost;
        for record in records.iter().skip(known) {
            let method = record.method as usize;
            if seen.len() <= method {
                seen.resize(method + 1, 0);
            }
            seen[method] += 1;
        }
        let taken = records.len() - known;
        let surplus = records.len().saturating_sub(DRAINED);
        // The newest stay, as in the rings and the files.
        records.drain(..surplus);
        lost += surplus as u64;
        drop(drained);
        self.lost.fetch_add(lost, Ordering::Relaxed);
        taken
    }

    /// Takes the ended spans, in the order in which they began.
    #[must_use]
    pub fn take(&self) -> Vec<Span> {
        self.drain();
        let raw = std::mem::take(&mut lock(&self.drained).records);
        let mut all: Vec<Span> = Vec::with_capacity(raw.len());
        all.extend(raw.into_iter().map(Span::from));
        for part in &self.parts {
            // The program's threads keep the memory, and need not allocate it again.
            all.append(&mut lock(part).ended);
        }
        let clock = self.clock.converter();
        for span in &mut all {
            span.start = clock.nanoseconds(span.start);
            span.end = clock.nanoseconds(span.end);
        }
        drop(clock);
        self.add_details(&mut all);
        all.sort_unstable_by_key(|span| (span.start, span.id));
        all
    }

    /// The open spans, up to a limit: those that began first.
    #[must_use]
    pub fn open(&self, most: usize) -> Vec<Span> {
        let mut all: Vec<Span> = Vec::new();
        for part in &self.parts {
            all.extend(lock(part).open.values().cloned());
        }
        if self.has_threads {
            let open = threads::open().into_iter().map(|raw| Span {
                outcome: Outcome::Open,
                ..Span::from(raw)
            });
            all.extend(open);
        }
        let clock = self.clock.converter();
        for span in &mut all {
            // The outcome of a task counts when its method returns.
            span.outcome = Outcome::Open;
            span.start = clock.nanoseconds(span.start);
        }
        drop(clock);
        all.sort_by_key(|span| (span.start, span.id));
        all.truncate(most);
        self.add_details(&mut all);
        all
    }

    /// The number of calls without a span: there were too many at once.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
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
