//! The events of rewritten methods: they begin, return, throw, end, with their results.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::rewrite::NativeCall;

use scenario_support::log;

/// An event of a method.
#[derive(Clone, Copy)]
enum Event {
    Begun,
    Returned,
    Threw,
    Ended,
}

/// The counts of a method's events, in the order of [`Event`].
type Counts = [AtomicU64; 4];

/// More than the number of methods: a compiler has some 40,000.
const METHODS: usize = 1 << 16;

static COUNTS: [Counts; METHODS] = [const { [const { AtomicU64::new(0) }; 4] }; METHODS];

/// The numbers of the methods by their full names.
static NUMBERS: Mutex<BTreeMap<String, i32>> = Mutex::new(BTreeMap::new());

/// Results by kind: null, values, references.
static LOOKED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Invalid numbers, from wrong code.
static WRONG: AtomicU64 = AtomicU64::new(0);

/// The number by which a method reports its events.
pub(super) fn number(name: &str) -> i32 {
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let next = numbers.len() as i32;
    *numbers.entry(name.to_owned()).or_insert(next)
}

fn count(number: i32, event: Event) {
    let counts = usize::try_from(number).ok().and_then(|at| COUNTS.get(at));
    let counter = counts.map_or(&WRONG, |counts| &counts[event as usize]);
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn begun() -> NativeCall {
    NativeCall::new(|number: i32| count(number, Event::Begun))
}

pub(super) fn returned() -> NativeCall {
    NativeCall::new(|number: i32| count(number, Event::Returned))
}

pub(super) fn threw() -> NativeCall {
    NativeCall::new(|number: i32| count(number, Event::Threw))
}

pub(super) fn ended() -> NativeCall {
    NativeCall::new(|number: i32| count(number, Event::Ended))
}

/// Records the helper's description of a result, and the method's number.
pub(super) fn looked() -> NativeCall {
    NativeCall::new(|kind: i32, number: i32| {
        let counter = usize::try_from(kind).ok().and_then(|at| LOOKED.get(at));
        counter.unwrap_or(&WRONG).fetch_add(1, Ordering::Relaxed);
        count(number, Event::Returned);
    })
}

fn read(counts: &Counts) -> [u64; 4] {
    std::array::from_fn(|at| counts[at].load(Ordering::Relaxed))
}

/// Logs the sums, and inconsistent counts.
pub(super) fn report(are_balanced: impl Fn([u64; 4]) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(2);
    // Threads of the pool may still be about to leave a method.
    while COUNTS.iter().any(|counts| !are_balanced(read(counts))) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    let numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut sums, mut called) = ([0; 4], 0);
    for (name, number) in numbers.iter() {
        let counts = read(&COUNTS[*number as usize]);
        called += u64::from(counts[Event::Begun as usize] > 0);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
        if !are_balanced(counts) {
            log::line(format_args!("unbalanced {counts:?} {name}"));
        }
    }
    let [begun, returned, threw, ended] = sums;
    log::line(format_args!("called {called}"));
    log::line(format_args!("begun {begun}"));
    log::line(format_args!("returned {returned}"));
    log::line(format_args!("threw {threw}"));
    log::line(format_args!("ended {ended}"));
    for (kind, counter) in ["null", "values", "references"].iter().zip(&LOOKED) {
        log::line(format_args!("{kind} {}", counter.load(Ordering::Relaxed)));
    }
    log::line(format_args!("wrong {}", WRONG.load(Ordering::Relaxed)));
}
