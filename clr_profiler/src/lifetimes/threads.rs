//! Managed threads: which ids stand for threads that have ended.
//!
//! The runtime gives the numbers of ended threads to new ones at once, so that an id counts the ends that
//! its number has seen, as a [`Generation`].

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::State;
use super::in_flight::{InFlight, Waited};
use super::map::{Map, Writer};
use crate::locks::lock;

/// How many threads have had a number before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Generation(u32);

/// The generation of numbers that no thread is known to have had before.
static FIRST: AtomicU32 = AtomicU32::new(1);
/// For each number that an ended thread has had its generation, twice; and one more while it is nobody's.
static ENDED: Map = Map::new();
static WRITER: Mutex<Writer> = Mutex::new(Writer::new());

/// How far the generations of profilers that run one after the other are apart.
const PROFILER: u32 = 1 << 20;

/// The generation of a thread that the runtime names now.
#[inline]
pub(crate) fn generation(thread: usize) -> Generation {
    match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => Generation(value >> 1),
        None => Generation(FIRST.load(Ordering::SeqCst)),
    }
}

/// What can be said of a thread. For a call that has begun, and is known to ask about it.
#[inline]
pub(crate) fn state(thread: usize, generation: Generation) -> State {
    let is_there = match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => value == generation.0 << 1,
        None => generation.0 == FIRST.load(Ordering::SeqCst),
    };
    if is_there { State::There } else { State::Gone }
}

/// A thread begins: its number is that of a new one, if it was that of another.
pub(crate) fn begins(thread: usize) {
    let mut writer = lock(&WRITER);
    let ended = ENDED.get(thread, &InFlight::begin());
    if let Some(value) = ended.filter(|value| value & 1 == 1) {
        ENDED.set(&mut writer, thread, value + 1);
    }
}

/// A thread ends: its id is refused from now on. The calls that have not seen that are to be waited for.
pub(crate) fn ends(thread: usize) {
    let mut writer = lock(&WRITER);
    let value = match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => value | 1,
        None => FIRST.load(Ordering::SeqCst) << 1 | 1,
    };
    ENDED.set(&mut writer, thread, value);
}

/// Frees memory that nobody reads from any more.
pub(crate) fn free_retired(waited: &Waited) {
    lock(&WRITER).free_retired(waited);
}

/// A profiler begins that knows nothing of threads that ended before.
pub(super) fn begin() {
    let mut writer = lock(&WRITER);
    FIRST.fetch_add(PROFILER, Ordering::SeqCst);
    for (thread, _) in ENDED.all(&writer) {
        ENDED.set(&mut writer, thread, 0);
    }
}
