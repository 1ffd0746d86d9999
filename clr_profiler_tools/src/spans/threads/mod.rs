//! The calls of each thread, on a stack and in a ring of its own.
//!
//! Compiled code calls [`begin`], [`end`] and the functions about contexts without a transition: none of them waits, allocates or panics.
//! A thread alone writes its stack and its ring, and reads nothing that others write. Other threads read them at any time, so all
//! fields are atomic, which costs nothing on the processors of today.
//!
//! The innermost span of the context is the top of the stack, if that is a span. A boundary is on the stack where the thread runs
//! code of another context: there only the execution context tells the innermost span.

mod local;
mod state;

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};

use super::clock::ticks;
use super::store::METHODS;
use crate::report::lock;

pub(crate) use state::take_here;
use state::{ALL, FREE, FramePointer, Kept, SUSPENDS, Thread, known, of_thread, own};
pub(super) use state::{Counted, DEFERRED, KEPT, PUBLISHED, Raw};

/// How much of a method's calls is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    Spans,
    Counts,
    /// Code that exists counts them, and new code has the original IL.
    Nothing,
}

/// These as numbers; no call has spans after [`close`].
const SPANS: u8 = 0;
const COUNTS: u8 = 1;
const NOTHING: u8 = 2;
const CLOSED: u8 = 3;

/// The results of [`end`].
const DONE: i32 = 0;
/// The helper has to end the span.
const OPEN: i32 = 1;
/// The helper has to restore the context.
const ENDED: i32 = 2;

/// The handles of the helper's delegates for the changes of the core library; zeros before it is loaded.
static CHANGES: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

/// A change of the core library, by its index in `CHANGES`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// The execution context is captured.
    Captures,
    /// The thread runs code of another context.
    Enters,
    /// It runs the code before again.
    Leaves,
    /// The program sets another context.
    Restores,
}

/// The recording of each method, as a number.
static PLAIN: [AtomicU8; METHODS] = [const { AtomicU8::new(0) }; METHODS];

/// The calls without a span of threads without a state.
static OTHERS: [AtomicU64; METHODS] = [const { AtomicU64::new(0) }; METHODS];

/// Begins a call, and returns its frame; zero if only the execution context tells its parent.
pub(crate) extern "C" fn begin(method: i32) -> isize {
    let method = method.cast_unsigned();
    let Some(thread) = known() else {
        return 0;
    };
    if is_plain(method) {
        return thread.count_plain(method).address();
    }
    let top = thread.top();
    let parent = top.id.load(Relaxed);
    if parent == 0 {
        return 0;
    }
    let trace = top.trace.load(Relaxed);
    thread.push(top, method, parent, trace).address()
}

/// Ends a call, unless the helper has to.
pub(crate) extern "C" fn end(address: isize, has_failed: i32) -> i32 {
    // SAFETY: compiled code passes the result of `begin` or `begin_in`.
    let frame = unsafe { FramePointer::of(address) };
    if frame.id.load(Relaxed) == 0 {
        return DONE;
    }
    let now = ticks();
    let flags = frame.flags.load(Relaxed);
    if has_failed != 0 || flags & !PUBLISHED != 0 {
        frame.end.store(now, Relaxed);
        return OPEN;
    }
    if let Some(thread) = known() {
        thread.record(frame, now);
        thread.pop(frame);
    }
    if flags == 0 { DONE } else { ENDED }
}

/// Counts a call of a method without spans.
pub(crate) extern "C" fn count(method: i32) {
    let method = method.cast_unsigned();
    match known() {
        Some(thread) => {
            thread.count_plain(method);
        }
        None => {
            if let Some(calls) = OTHERS.get(method as usize) {
                calls.fetch_add(1, Relaxed);
            }
        }
    }
}

/// The thread runs code of another context.
pub(crate) extern "C" fn enter() {
    if let Some(thread) = known() {
        thread.enter_context();
    }
}

/// It runs the code before again.
pub(crate) extern "C" fn leave() {
    if let Some(thread) = known() {
        thread.leave_context();
    }
}

/// The program has set another context.
pub(crate) extern "C" fn restore() {
    if let Some(thread) = known() {
        let top = thread.top();
        if top.id.load(Relaxed) != 0 || top.is_suspending() {
            thread.push_boundary(top);
        }
    }
}

/// The frame that the helper has to publish before the context is captured; zero for none.
pub(crate) extern "C" fn captures() -> isize {
    let Some(thread) = known() else {
        return 0;
    };
    let top = thread.top();
    // A deferred call is about to return: only the helper captures the context there.
    let is_meant = match top.id.load(Relaxed) {
        0 => top.is_suspending(),
        _ => top.flags.load(Relaxed) & DEFERRED == 0,
    };
    match is_meant {
        true => top.address(),
        false => 0,
    }
}

/// The address of the handle of a delegate.
pub(crate) fn change_cell(change: Change) -> usize {
    CHANGES.as_ptr().wrapping_add(change as usize) as usize
}

/// The helper is loaded, and these are the handles of its delegates, in the order of [`Change`].
pub(crate) fn set_changes(handles: [usize; 4]) {
    for (cell, handle) in CHANGES.iter().zip(handles) {
        cell.store(handle, Relaxed);
    }
}

/// Begins a call where the execution context has this span. Not for calls without a transition.
pub(crate) fn begin_in(method: u32, parent: u64, trace: u64) -> isize {
    let thread = own();
    if is_plain(method) {
        return thread.count_plain(method).address();
    }
    thread.heal(parent);
    let top = thread.top();
    let known = top.id.load(Relaxed);
    let (parent, trace) = match known {
        0 => (parent, trace),
        known => (known, top.trace.load(Relaxed)),
    };
    thread.push(top, method, parent, trace).address()
}

/// The innermost span where the execution context has this one; zero if the context tells it.
pub(crate) fn innermost(context: u64) -> isize {
    let thread = own();
    thread.heal(context);
    let top = thread.top();
    match top.id.load(Relaxed) {
        0 => 0,
        _ => top.address(),
    }
}

/// The span of a frame, with the end if the helper has to end it; nothing for a call without one.
pub(super) fn of(address: isize) -> Option<(Raw, u32)> {
    // SAFETY: the helper passes the result of `begin` or `begin_in`.
    let frame = unsafe { FramePointer::of(address) };
    let id = frame.id.load(Relaxed);
    let raw = Raw {
        id,
        parent: frame.parent.load(Relaxed),
        trace: frame.trace.load(Relaxed),
        start: frame.start.load(Relaxed),
        end: frame.end.load(Relaxed),
        method: frame.method.load(Relaxed),
        thread: own().number.load(Relaxed),
    };
    (id != 0).then(|| (raw, frame.flags.load(Relaxed)))
}

/// Marks the frame of a span.
pub(super) fn mark(address: isize, flags: u32) {
    // SAFETY: as in `of`, which has found a span.
    let frame = unsafe { FramePointer::of(address) };
    frame.flags.fetch_or(flags, Relaxed);
}

/// Ends the call of a span without a record.
pub(super) fn pop(address: isize) {
    // SAFETY: as in `mark`.
    own().pop(unsafe { FramePointer::of(address) });
}

/// Ends the call of a span with its record.
pub(super) fn record(address: isize, end: u64) {
    // SAFETY: as in `mark`.
    let frame = unsafe { FramePointer::of(address) };
    own().record(frame, end);
    own().pop(frame);
}

/// The innermost span and its trace where the execution context has this span, if it is on the stack.
pub(super) fn known_parent(context: u64) -> Option<(u64, u64)> {
    let thread = own();
    thread.heal(context);
    let top = thread.top();
    let known = (top.id.load(Relaxed), top.trace.load(Relaxed));
    (known.0 != 0).then_some(known)
}

/// The runtime suspends a method instead of keeping it on the stack. Its span is in the execution context from now on.
pub(super) fn suspends(context: u64, span: u64) {
    let thread = own();
    if let Some(boundary) = thread.push_boundary(thread.top()) {
        boundary.start.store(context, Relaxed);
        boundary.trace.store(span, Relaxed);
        boundary.flags.store(SUSPENDS, Relaxed);
    }
}

/// Such a method returns: its boundary ends, unless it was suspended meanwhile.
pub(super) fn suspends_no_more(span: u64) {
    let thread = own();
    let top = thread.top();
    if top.is_suspending() && top.trace.load(Relaxed) == span {
        thread.pop(top);
    }
}

/// A piece of an enumeration begins, whose span is among the open ones of the store. Returns its frame.
pub(super) fn resume(context: u64, (id, trace): (u64, u64), method: u32) -> isize {
    let thread = own();
    thread.heal(context);
    let span = Kept { id, trace, method };
    let frame = thread.push_kept(thread.top(), &span);
    frame.map_or(0, FramePointer::address)
}

/// The piece ends. Returns the marks of its frame.
pub(crate) fn waits(address: isize) -> u32 {
    if address == 0 {
        return 0;
    }
    // SAFETY: the helper passes the result of `resume`.
    let frame = unsafe { FramePointer::of(address) };
    let flags = frame.flags.load(Relaxed);
    own().pop(frame);
    flags
}

#[inline]
fn is_plain(method: u32) -> bool {
    let plain = PLAIN.get(method as usize);
    plain.is_none_or(|plain| plain.load(Relaxed) != 0)
}

/// The recording of a method.
pub(super) fn recording(method: u32) -> Recording {
    let plain = PLAIN.get(method as usize);
    match plain.map_or(0, |plain| plain.load(Relaxed)) {
        COUNTS => Recording::Counts,
        NOTHING => Recording::Nothing,
        _ => Recording::Spans,
    }
}

/// Calls of a method have no spans from now on.
pub(super) fn set_recording(method: u32, recording: Recording) {
    if let Some(plain) = PLAIN.get(method as usize) {
        let recording = match recording {
            Recording::Spans => SPANS,
            Recording::Counts => COUNTS,
            Recording::Nothing => NOTHING,
        };
        plain.store(recording, Relaxed);
    }
}

/// The runtime calls a method that it may suspend: whether that has no span, and is counted.
pub(super) fn counts_suspending(method: u32) -> bool {
    let is_plain = is_plain(method);
    if is_plain {
        own().count_plain(method);
    }
    is_plain
}

/// The number of calls without a span of each of these methods.
pub(super) fn plain_calls(methods: impl Iterator<Item = u32>) -> Vec<u64> {
    let threads = lock(&ALL).clone();
    let of = |method: u32| {
        let others = OTHERS.get(method as usize);
        let others = others.map_or(0, |calls| calls.load(Relaxed));
        let counts = threads
            .iter()
            .filter_map(|thread| thread.counts.get(method as usize));
        others + counts.map(|count| count.plain.load(Relaxed)).sum::<u64>()
    };
    methods.map(of).collect()
}

/// Adds the ended calls since the last time to `all`; returns how many were lost.
pub(super) fn take(all: &mut Vec<Raw>) -> u64 {
    // A thread that begins its first span does not wait for the rest.
    let threads = lock(&ALL).clone();
    let mut lost = 0;
    for thread in threads {
        let has_ended = thread.has_ended.load(Acquire) == 1;
        lost += thread.take(all);
        // Empty for good: the thread has left it.
        if has_ended {
            thread.has_ended.store(2, Relaxed);
            thread.set_top(thread.bottom());
            lock(&FREE).push(thread);
        }
    }
    lost
}

/// The open calls.
pub(super) fn open() -> Vec<Raw> {
    let mut all = Vec::new();
    for thread in lock(&ALL).clone() {
        if thread.has_ended.load(Relaxed) == 0 {
            thread.open(&mut all);
        }
    }
    all
}

/// Labels samples with the innermost span of the thread and its trace, which are zeros where only the execution context tells it.
#[cfg(all(
    feature = "profilers",
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu"
))]
pub(crate) fn label(
    sampler: clr_profiler::sampling::CpuSamplerBuilder,
) -> Option<clr_profiler::sampling::CpuSamplerBuilder> {
    // SAFETY: `innermost_span` reads the pointer of the thread, which is in the memory that a thread has from its start, and
    // atomic numbers of memory that is never freed. A frame is the top only when its numbers are written.
    let sampler = unsafe { sampler.label(innermost_span) };
    Some(sampler.label_waits(innermost_span_of))
}

/// Where the pointer of a thread can be in memory that is allocated at its first use, no handler may read it.
#[cfg(all(
    feature = "profilers",
    not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))
))]
pub(crate) fn label(
    _sampler: clr_profiler::sampling::CpuSamplerBuilder,
) -> Option<clr_profiler::sampling::CpuSamplerBuilder> {
    None
}

/// The innermost span of this thread and its trace, zeros where only the execution context tells it. Handlers of signals call it.
#[cfg_attr(
    not(feature = "profilers"),
    allow(dead_code, reason = "only samples have it")
)]
pub(crate) fn innermost_span() -> [u64; 2] {
    known().map_or([0, 0], span_of)
}

/// The same of a thread that is blocked in the system.
#[cfg_attr(
    not(all(
        feature = "profilers",
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu"
    )),
    allow(dead_code, reason = "only samples have it")
)]
fn innermost_span_of(os_thread: u32) -> [u64; 2] {
    of_thread(os_thread).map_or([0, 0], span_of)
}

fn span_of(thread: &Thread) -> [u64; 2] {
    let top = thread.top();
    match top.id.load(Relaxed) {
        0 => [0, 0],
        id => [id, top.trace.load(Relaxed)],
    }
}

/// The totals of the first `methods` methods.
pub(super) fn counted(methods: usize) -> Vec<Counted> {
    let threads = lock(&ALL).clone();
    let others = OTHERS.iter().take(methods).map(|calls| calls.load(Relaxed));
    let mut all: Vec<Counted> = others
        .map(|calls| Counted {
            calls,
            plain: calls,
            ..Counted::default()
        })
        .collect();
    for thread in threads {
        for (sum, count) in all.iter_mut().zip(thread.counts) {
            sum.calls += count.calls.load(Relaxed);
            sum.plain += count.plain.load(Relaxed);
            sum.total += count.total.load(Relaxed);
            sum.longest = sum.longest.max(count.longest.load(Relaxed));
        }
    }
    all
}

/// A new id.
pub(super) fn new_id() -> u64 {
    own().next_id()
}

/// No call has a span from now on.
pub(super) fn close() {
    for plain in &PLAIN {
        plain.store(CLOSED, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    const METHOD: u32 = 16_000;
    const NUMBER: i32 = METHOD.cast_signed();

    fn parent(frame: isize) -> u64 {
        of(frame).unwrap().0.parent
    }

    fn id(frame: isize) -> u64 {
        of(frame).unwrap().0.id
    }

    /// One test, because the rings are those of the process.
    #[test]
    fn calls_have_parents_up_to_boundaries_and_losses_are_counted() {
        let outer = begin_in(METHOD, 7, 3);
        let inner = begin(NUMBER);
        assert_eq!((parent(outer), parent(inner)), (7, id(outer)));
        assert_eq!(innermost_span(), [id(inner), 3]);
        assert_eq!(of(inner).unwrap().0.trace, 3);
        assert_eq!(captures(), inner);
        // Another context.
        enter();
        assert_eq!((begin(NUMBER), captures(), innermost(5)), (0, 0, 0));
        assert_eq!(innermost_span(), [0, 0]);
        let other = begin_in(METHOD, 5, 0);
        assert_eq!((parent(other), of(other).unwrap().0.trace), (5, id(other)));
        // A frame that is left open ends with the boundary.
        leave();
        assert_eq!(innermost(0), inner);
        // Boundaries that are not those of `enter` end with it, and `leave` alone does nothing.
        enter();
        suspends(5, 97);
        enter();
        leave();
        leave();
        leave();
        assert_eq!(innermost(0), inner);
        // The program sets a context, until the call ends.
        restore();
        restore();
        assert_eq!(begin(NUMBER), 0);
        mark(inner, PUBLISHED);
        assert_eq!(end(inner, 0), ENDED);
        assert_eq!(innermost(0), outer);
        // The runtime suspends a method.
        suspends(7, 99);
        let within = begin_in(METHOD, 99, 3);
        assert_eq!(parent(within), 99);
        assert_eq!(end(within, 0), DONE);
        let after = begin_in(METHOD, 7, 3);
        assert_eq!(parent(after), id(outer));
        assert_eq!(end(after, 1), OPEN);
        record(after, of(after).unwrap().0.end);
        suspends(7, 98);
        suspends_no_more(98);
        assert_eq!(innermost(7), outer);
        // Calls of which none has a span.
        set_recording(METHOD, Recording::Counts);
        let none = begin(NUMBER);
        assert!(none != 0 && of(none).is_none() && end(none, 1) == DONE);
        count(NUMBER);
        assert_eq!(plain_calls([METHOD].into_iter()), [2]);
        set_recording(METHOD, Recording::Spans);
        let open: Vec<u64> = super::open().iter().map(|raw| raw.id).collect();
        assert!(open.contains(&id(outer)));
        let outer_id = id(outer);
        assert_eq!(end(outer, 0), DONE);
        let mut all = Vec::new();
        assert_eq!(take(&mut all), 0);
        let ours = all.iter().filter(|raw| raw.method == METHOD);
        assert_eq!(ours.clone().count(), 4);
        assert!(
            ours.clone()
                .any(|raw| raw.id == outer_id && raw.end >= raw.start)
        );
        // More calls than records.
        const MANY: u64 = 40_000;
        let outer = begin_in(METHOD, 0, 0);
        for _ in 0..MANY {
            assert_eq!(end(begin(NUMBER), 0), DONE);
        }
        all.clear();
        let lost = take(&mut all);
        assert!(lost > 0 && lost + all.len() as u64 == MANY, "{lost}");
        // Deeper than the stack.
        let frames: Vec<isize> = (0..20_000).map(|_| begin(NUMBER)).collect();
        let known = frames.iter().filter(|frame| of(**frame).is_some()).count();
        // A boundary for which there is no room takes none away.
        enter();
        enter();
        leave();
        leave();
        assert_eq!(
            innermost(0),
            *frames.iter().rfind(|frame| of(**frame).is_some()).unwrap()
        );
        for frame in frames.iter().rev() {
            assert_eq!(end(*frame, 0), DONE);
        }
        all.clear();
        let lost = take(&mut all) as usize;
        assert!(known < 20_000 && lost == 20_000 - all.len(), "{lost}");
        assert_eq!(end(outer, 0), DONE);
        // A thread leaves its state to the next one.
        let run = || {
            thread::spawn(|| end(begin_in(METHOD, 0, 0), 0))
                .join()
                .unwrap()
        };
        assert_eq!(run(), DONE);
        all.clear();
        take(&mut all);
        assert_eq!(run(), DONE);
        take(&mut all);
        let threads: Vec<u32> = all.iter().rev().take(2).map(|raw| raw.thread).collect();
        assert_ne!(threads[0], threads[1]);
        // A ring that is half full wakes up whoever takes the records.
        const PATIENCE: Duration = Duration::from_secs(60);
        take_here();
        let began = Instant::now();
        thread::spawn(|| {
            for _ in 0..10_000 {
                end(begin_in(METHOD + 1, 0, 0), 0);
            }
        });
        thread::park_timeout(PATIENCE);
        assert!(began.elapsed() < PATIENCE / 2);
        all.clear();
        take(&mut all);
        assert!(all.iter().any(|raw| raw.method == METHOD + 1));
    }
}
