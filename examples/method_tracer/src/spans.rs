//! The spans of the program. Traced methods record them on their own threads; the writer's thread
//! takes them.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clr_profiler::{Error, Result};
use report::lock;

/// The limit for traced methods.
const METHODS: usize = 16_384;
/// Spans are sharded, so that threads seldom wait for each other.
const PARTS: usize = 64;
/// The limit for open spans: more are not traced.
const OPEN: usize = 65_536;
/// The limit for ended spans of a shard until they are taken: more are lost.
const ENDED: usize = 2_048;

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) id: u64,
    /// The id of the span that was current when it began; zero for none.
    pub(crate) parent: u64,
    /// The id of the first span of its trace.
    pub(crate) trace: u64,
    pub(crate) method: u32,
    pub(crate) thread: u32,
    /// Nanoseconds since the profiler began.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// A line for `this` and for each argument.
    pub(crate) arguments: String,
    pub(crate) outcome: Outcome,
    /// Whether the task completed after the method had returned.
    pub(crate) is_later: bool,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Open,
    Returned,
    /// The type of the exception, and its message in the next line.
    Threw(String),
    Cancelled,
}

/// The totals of a method's calls.
#[derive(Debug, Default)]
struct Count {
    calls: AtomicU64,
    errors: AtomicU64,
    total: AtomicU64,
    longest: AtomicU64,
}

/// The same, with the name.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    /// In nanoseconds.
    pub(crate) total: u64,
    pub(crate) longest: u64,
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

static BEGAN: LazyLock<(Instant, SystemTime)> =
    LazyLock::new(|| (Instant::now(), SystemTime::now()));
static SPANS: LazyLock<[Mutex<Part>; PARTS]> =
    LazyLock::new(|| std::array::from_fn(|_| Mutex::default()));
static NEXT: AtomicU64 = AtomicU64::new(1);
static OPEN_NOW: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static COUNTS: [Count; METHODS] = [const {
    Count {
        calls: AtomicU64::new(0),
        errors: AtomicU64::new(0),
        total: AtomicU64::new(0),
        longest: AtomicU64::new(0),
    }
}; METHODS];
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Gives a method a number.
pub(crate) fn number(name: &str) -> Result<u32> {
    let mut names = lock(&NAMES);
    if names.len() >= METHODS {
        return Err(Error::other(format!(
            "{METHODS} methods are traced already"
        )));
    }
    names.push(name.to_owned());
    Ok(names.len() as u32 - 1)
}

pub(crate) fn name(method: u32) -> String {
    lock(&NAMES)
        .get(method as usize)
        .cloned()
        .unwrap_or_default()
}

/// Nanoseconds since the profiler began.
pub(crate) fn now() -> u64 {
    BEGAN.0.elapsed().as_nanos() as u64
}

/// When the profiler began, in nanoseconds since 1970.
pub(crate) fn epoch() -> u64 {
    let since = BEGAN.1.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// A small number for each thread.
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

fn part(id: u64) -> MutexGuard<'static, Part> {
    lock(&SPANS[id as usize % PARTS])
}

/// Begins a span; zero if there are too many.
pub(crate) fn begin(method: u32, parent: u64, trace: u64, arguments: String) -> u64 {
    if OPEN_NOW.fetch_add(1, Ordering::Relaxed) >= OPEN {
        OPEN_NOW.fetch_sub(1, Ordering::Relaxed);
        LOST.fetch_add(1, Ordering::Relaxed);
        return 0;
    }
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let span = Span {
        id,
        parent,
        trace: if trace == 0 { id } else { trace },
        method,
        thread: thread(),
        start: now(),
        end: 0,
        arguments,
        outcome: Outcome::Open,
        is_later: false,
    };
    part(id).open.insert(id, span);
    id
}

/// Ends a span.
pub(crate) fn end(id: u64, outcome: Outcome, is_later: bool) {
    let end = now();
    let mut part = part(id);
    let Some(mut span) = part.open.remove(&id) else {
        return;
    };
    OPEN_NOW.fetch_sub(1, Ordering::Relaxed);
    if let Some(count) = COUNTS.get(span.method as usize) {
        let took = end - span.start;
        count.calls.fetch_add(1, Ordering::Relaxed);
        count.total.fetch_add(took, Ordering::Relaxed);
        count.longest.fetch_max(took, Ordering::Relaxed);
        if outcome != Outcome::Returned {
            count.errors.fetch_add(1, Ordering::Relaxed);
        }
    }
    if part.ended.len() >= ENDED {
        LOST.fetch_add(1, Ordering::Relaxed);
        return;
    }
    (span.end, span.outcome, span.is_later) = (end, outcome, is_later);
    part.ended.push(span);
}

/// Takes the ended spans.
pub(crate) fn take() -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for part in SPANS.iter() {
        // The program's threads keep the memory, and need not allocate it again.
        all.append(&mut lock(part).ended);
    }
    all.sort_by_key(|span| (span.start, span.id));
    all
}

/// The open spans, up to a limit: those that began first.
pub(crate) fn open(most: usize) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for part in SPANS.iter() {
        all.extend(lock(part).open.values().cloned());
    }
    all.sort_by_key(|span| (span.start, span.id));
    all.truncate(most);
    all
}

/// The number of spans that were not traced or not written.
pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// The totals of all traced methods; the longest time first.
pub(crate) fn rows() -> Vec<Row> {
    let names = lock(&NAMES).clone();
    let mut rows: Vec<Row> = names
        .into_iter()
        .zip(&COUNTS)
        .map(|(name, count)| Row {
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
