//! Managed threads: the ids of threads that have ended.
//!
//! The runtime soon reuses the numbers of ended threads, so an id contains the [`Generation`] of its
//! number, which counts its earlier threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::TargetState;
use super::in_flight::InFlight;
use super::map::{Map, Retired, Writer};
use crate::locks::lock;

/// Distinguishes the threads that have had the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Generation(u32);

/// The generation of numbers without a known earlier thread.
static FIRST: AtomicU32 = AtomicU32::new(1);
/// For each number of an ended thread: twice its generation, plus one while no thread has the number.
static ENDED: Map = Map::new();
static WRITER: Mutex<Writer> = Mutex::new(Writer::new());

/// The distance between the generations of consecutive profilers.
const PROFILER: u32 = 1 << 20;

/// The generation of a thread that the runtime names now.
#[inline]
pub(crate) fn generation(thread: usize) -> Generation {
    match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => Generation(value >> 1),
        None => Generation(FIRST.load(Ordering::SeqCst)),
    }
}

/// The state of a thread. The caller is in a call in flight that is recorded as using it.
#[inline]
pub(crate) fn state(thread: usize, generation: Generation) -> TargetState {
    let is_there = match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => value == generation.0 << 1,
        None => generation.0 == FIRST.load(Ordering::SeqCst),
    };
    if is_there {
        TargetState::Live
    } else {
        TargetState::Gone
    }
}

/// Records the start of a thread: if its number is that of an ended one, it now belongs to the new one.
pub(crate) fn begins(thread: usize) {
    let mut writer = lock(&WRITER);
    let ended = ENDED.get(thread, &InFlight::begin());
    if let Some(value) = ended.filter(|value| value & 1 == 1) {
        ENDED.set(&mut writer, thread, value + 1);
    }
}

/// Records the end of a thread: its id is refused from now on. The caller waits for the calls that may not
/// have seen this.
pub(crate) fn ends(thread: usize) {
    let mut writer = lock(&WRITER);
    let value = match ENDED.get(thread, &InFlight::begin()) {
        Some(value) => value | 1,
        None => FIRST.load(Ordering::SeqCst) << 1 | 1,
    };
    ENDED.set(&mut writer, thread, value);
}

/// The bytes of all records.
pub(super) fn held_bytes() -> usize {
    ENDED.held_bytes(&lock(&WRITER))
}

/// Takes memory that only calls in flight may still read.
pub(super) fn take_retired() -> Retired {
    lock(&WRITER).take_retired()
}

/// Keeps memory for whose readers nobody has waited.
pub(super) fn keep_retired(retired: Retired) {
    lock(&WRITER).keep_retired(retired);
}

/// Clears all records for a new profiler.
pub(super) fn begin() {
    let mut writer = lock(&WRITER);
    FIRST.fetch_add(PROFILER, Ordering::SeqCst);
    for (thread, _) in ENDED.all(&writer) {
        ENDED.set(&mut writer, thread, 0);
    }
}
