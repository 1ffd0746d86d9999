//! The state of a thread: its stack and its ring.

use std::cell::Cell;
use std::ops::Deref;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::thread;

use super::local;
use crate::report::lock;
use crate::spans::clock::ticks;
use crate::spans::store::{METHODS, thread_number};

use Ordering::{Acquire, Relaxed, Release};

/// The records of a ring: a thread that spends a twentieth of its time on spans fills it in 10 ms.
const RING: u64 = 16_384;
/// The limit for the open calls of a thread.
const DEPTH: usize = 16_384;
/// The number of ids that a thread takes at once.
const BLOCK: u64 = 4_096;

/// The execution context has the span as the innermost one.
pub(crate) const PUBLISHED: u32 = 1;
/// The store has the span among the open ones.
pub(crate) const KEPT: u32 = 2;
/// The span ends later than the call.
pub(crate) const DEFERRED: u32 = 4;
/// A boundary below a method that the runtime suspends: it has the span of the context before, as its start, and that of
/// the method as its trace.
pub(super) const SUSPENDS: u32 = 8;
/// A boundary of code that runs in another context, until this thread leaves it.
const ENTERED: u32 = 16;

/// An open call, or a boundary, which has the id 0. The helper reads the fields by their offsets.
#[repr(C)]
pub(super) struct Frame {
    pub(super) id: AtomicU64,
    pub(super) trace: AtomicU64,
    pub(super) flags: AtomicU32,
    pub(super) method: AtomicU32,
    pub(super) parent: AtomicU64,
    pub(super) start: AtomicU64,
    /// Set when the helper has to end the span.
    pub(super) end: AtomicU64,
}

/// The address of a frame: of `NO_CALL`, or of one in the frames of a thread, which are never freed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FramePointer(*const Frame);

impl Deref for FramePointer {
    type Target = Frame;

    #[inline]
    fn deref(&self) -> &Frame {
        // SAFETY: as the type says; all fields are atomic.
        unsafe { &*self.0 }
    }
}

impl FramePointer {
    /// The frame of an address.
    ///
    /// # Safety
    ///
    /// It is one of [`address`](Self::address).
    #[inline]
    pub(super) unsafe fn of(address: isize) -> Self {
        Self(address as *const Frame)
    }

    pub(super) fn address(self) -> isize {
        self.0 as isize
    }

    /// Whether it is a boundary below a method that the runtime suspends.
    pub(super) fn is_suspending(self) -> bool {
        self.id.load(Relaxed) == 0 && self.flags.load(Relaxed) & SUSPENDS != 0
    }
}

/// A call that has ended.
#[repr(C)]
struct Record {
    id: AtomicU64,
    parent: AtomicU64,
    trace: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    method: AtomicU64,
}

const _: () = assert!(size_of::<Record>() == 48 && size_of::<Frame>() == 48);

/// The totals of a method's calls on a thread.
#[repr(C)]
#[derive(Default)]
pub(super) struct Count {
    pub(super) calls: AtomicU64,
    /// Calls without a span.
    pub(super) plain: AtomicU64,
    pub(super) total: AtomicU64,
    pub(super) longest: AtomicU64,
}

/// The totals of a method's calls, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::spans) struct Counted {
    pub(in crate::spans) calls: u64,
    pub(in crate::spans) plain: u64,
    pub(in crate::spans) total: u64,
    pub(in crate::spans) longest: u64,
}

/// A span that the store has.
pub(super) struct Kept {
    pub(super) id: u64,
    pub(super) trace: u64,
    pub(super) method: u32,
}

/// A span in ticks, from a ring or a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::spans) struct Raw {
    pub(in crate::spans) id: u64,
    pub(in crate::spans) parent: u64,
    pub(in crate::spans) trace: u64,
    pub(in crate::spans) start: u64,
    pub(in crate::spans) end: u64,
    pub(in crate::spans) method: u32,
    pub(in crate::spans) thread: u32,
}

/// The state of a thread. It is never freed: another thread gets it when this one has ended.
pub(super) struct Thread {
    top: AtomicPtr<Frame>,
    /// The id before the next one.
    id: AtomicU64,
    /// The number of records that were ever written.
    head: AtomicU64,
    /// The number of calls for which there was no room.
    lost: AtomicU64,
    pub(super) number: AtomicU32,
    /// The system's id.
    os_thread: AtomicU32,
    pub(super) has_ended: AtomicU8,
    /// The number of contexts that were entered when there was no room for a boundary.
    unmarked: AtomicU32,
    frames: &'static [Frame],
    ring: &'static [Record],
    pub(super) counts: &'static [Count],
    /// How many records were taken, and how many calls without room were told.
    taken: Mutex<(u64, u64)>,
}

/// All of them, and those of ended threads.
pub(super) static ALL: Mutex<Vec<&'static Thread>> = Mutex::new(Vec::new());
pub(super) static FREE: Mutex<Vec<&'static Thread>> = Mutex::new(Vec::new());

/// The next block of ids; the first one would have the id 0.
static BLOCKS: AtomicU64 = AtomicU64::new(1);

/// The frame of all calls without a span. Nothing writes it.
static NO_CALL: Frame = Frame {
    id: AtomicU64::new(0),
    trace: AtomicU64::new(0),
    flags: AtomicU32::new(0),
    method: AtomicU32::new(0),
    parent: AtomicU64::new(0),
    start: AtomicU64::new(0),
    end: AtomicU64::new(0),
};

/// The state of this thread, if it has one.
#[inline]
pub(super) fn known() -> Option<&'static Thread> {
    // SAFETY: null, or a state that is never freed.
    unsafe { local::get().as_ref() }
}

/// The state of this thread, which gets one.
pub(super) fn own() -> &'static Thread {
    known().unwrap_or_else(Thread::enter)
}

/// Memory for atomic numbers, which the system gives when it is first written.
fn zeroed<T>(length: usize) -> &'static [T] {
    let words = length * size_of::<T>() / size_of::<u64>();
    let words: &'static mut [u64] = vec![0; words].leak();
    // SAFETY: `T` is `Frame`, `Record` or `Count`, which consist of atomic numbers, for which zero is valid, with the alignment
    // and a multiple of the size of `u64`. Nothing else uses the memory, which is never freed.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), length) }
}

/// The system's id of this thread, where others are found by it.
#[cfg(target_os = "linux")]
fn os_thread() -> u32 {
    // SAFETY: the call only returns a number.
    unsafe { libc::gettid() }.cast_unsigned()
}

#[cfg(not(target_os = "linux"))]
fn os_thread() -> u32 {
    0
}

/// The state of another thread, by the system's id. Its top may change at any time.
pub(super) fn of_thread(os_thread: u32) -> Option<&'static Thread> {
    let all = lock(&ALL);
    let mut there = all
        .iter()
        .filter(|thread| thread.has_ended.load(Acquire) == 0);
    there
        .find(|thread| thread.os_thread.load(Relaxed) == os_thread)
        .copied()
}

/// Ends the use of a state with its thread.
struct Exit(Cell<Option<&'static Thread>>);

impl Drop for Exit {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            local::set(ptr::null());
            thread.has_ended.store(1, Release);
        }
    }
}

thread_local! {
    static EXIT: Exit = const { Exit(Cell::new(None)) };
}

/// The thread that takes the records; null for none.
static TAKER: AtomicPtr<thread::Thread> = AtomicPtr::new(ptr::null_mut());

/// This thread takes the records from now on: it is [unparked](thread::Thread::unpark) when a ring is half full.
pub(crate) fn take_here() {
    // Never freed: threads may be waking up the one before.
    TAKER.store(Box::into_raw(Box::new(thread::current())), Release);
}

/// Wakes up the thread that takes the records. It does not wait or allocate: if the thread is parked, this is one call of the system that
/// takes some microseconds, once in half a ring. Code that calls [`end`](super::end) without a transition cannot be suspended meanwhile,
/// which a collection of garbage waits for, as it waits for all threads to reach a safe point.
#[cold]
#[inline(never)]
fn wake() {
    // SAFETY: null, or a value that is never freed.
    if let Some(taker) = unsafe { TAKER.load(Acquire).as_ref() } {
        taker.unpark();
    }
}

impl Thread {
    #[cold]
    fn enter() -> &'static Self {
        let known = lock(&FREE).pop();
        let thread = known.unwrap_or_else(|| {
            // Others may look at the top as soon as they find the state.
            let frames: &'static [Frame] = zeroed(DEPTH);
            let thread: &'static Self = Box::leak(Box::new(Self {
                top: AtomicPtr::new(frames.as_ptr().cast_mut()),
                id: AtomicU64::new(BLOCK - 1),
                head: AtomicU64::new(0),
                lost: AtomicU64::new(0),
                number: AtomicU32::new(0),
                os_thread: AtomicU32::new(0),
                has_ended: AtomicU8::new(2),
                unmarked: AtomicU32::new(0),
                frames,
                ring: zeroed(RING as usize),
                counts: zeroed(METHODS),
                taken: Mutex::default(),
            }));
            lock(&ALL).push(thread);
            thread
        });
        thread.number.store(thread_number(), Relaxed);
        thread.take_os_thread();
        // The boundary at the bottom.
        thread.set_top(thread.bottom());
        thread.unmarked.store(0, Relaxed);
        thread.has_ended.store(0, Relaxed);
        local::set(thread);
        // A thread that is ending keeps the state for good.
        let _ = EXIT.try_with(|exit| exit.0.set(Some(thread)));
        thread
    }

    /// Notes the system's id of this thread, which that of an ended one may have been.
    fn take_os_thread(&self) {
        let id = os_thread();
        for other in lock(&ALL).iter() {
            let _ = other.os_thread.compare_exchange(id, 0, Relaxed, Relaxed);
        }
        self.os_thread.store(id, Relaxed);
    }

    #[inline]
    pub(super) fn set_top(&self, frame: FramePointer) {
        self.top.store(frame.0.cast_mut(), Release);
    }

    #[inline]
    pub(super) fn top(&self) -> FramePointer {
        // One of `frames`, from the start on.
        FramePointer(self.top.load(Acquire))
    }

    pub(super) fn bottom(&self) -> FramePointer {
        FramePointer(self.frames.as_ptr())
    }

    /// The frame above the top, if there is room.
    #[inline]
    fn above(&self, top: FramePointer) -> Option<FramePointer> {
        let next = top.0.wrapping_add(1);
        (next != self.frames.as_ptr_range().end).then_some(FramePointer(next))
    }

    #[inline]
    pub(super) fn next_id(&self) -> u64 {
        let mut id = self.id.load(Relaxed) + 1;
        if id.is_multiple_of(BLOCK) {
            id = BLOCKS.fetch_add(1, Relaxed) * BLOCK + 1;
        }
        self.id.store(id, Relaxed);
        id
    }

    /// Adds a call above the top.
    #[inline]
    pub(super) fn push(
        &self,
        top: FramePointer,
        method: u32,
        parent: u64,
        trace: u64,
    ) -> FramePointer {
        let Some(frame) = self.above(top) else {
            return self.lose(method);
        };
        let id = self.next_id();
        // Others see no id with the rest of another call.
        frame.id.store(0, Relaxed);
        fence(Release);
        frame
            .trace
            .store(if trace == 0 { id } else { trace }, Relaxed);
        frame.flags.store(0, Relaxed);
        frame.method.store(method, Relaxed);
        frame.parent.store(parent, Relaxed);
        frame.start.store(ticks(), Relaxed);
        frame.id.store(id, Release);
        self.set_top(frame);
        frame
    }

    /// Adds a span above the top that the store has among the open ones, if there is room.
    pub(super) fn push_kept(&self, top: FramePointer, span: &Kept) -> Option<FramePointer> {
        let frame = self.above(top)?;
        frame.id.store(0, Relaxed);
        fence(Release);
        frame.trace.store(span.trace, Relaxed);
        frame.flags.store(KEPT, Relaxed);
        frame.method.store(span.method, Relaxed);
        frame.id.store(span.id, Release);
        self.set_top(frame);
        Some(frame)
    }

    #[cold]
    fn lose(&self, method: u32) -> FramePointer {
        self.lost.store(self.lost.load(Relaxed) + 1, Relaxed);
        self.count_plain(method)
    }

    /// Counts a call without a span.
    #[inline]
    pub(super) fn count_plain(&self, method: u32) -> FramePointer {
        if let Some(count) = self.counts.get(method as usize) {
            count.calls.store(count.calls.load(Relaxed) + 1, Relaxed);
            count.plain.store(count.plain.load(Relaxed) + 1, Relaxed);
        }
        FramePointer(&raw const NO_CALL)
    }

    /// Adds a boundary above the top, if there is room.
    #[inline]
    pub(super) fn push_boundary(&self, top: FramePointer) -> Option<FramePointer> {
        let frame = self.above(top)?;
        frame.id.store(0, Relaxed);
        frame.flags.store(0, Relaxed);
        self.set_top(frame);
        Some(frame)
    }

    /// Code of another context begins.
    pub(super) fn enter_context(&self) {
        match self.push_boundary(self.top()) {
            Some(boundary) => boundary.flags.store(ENTERED, Relaxed),
            None => {
                let unmarked = self.unmarked.load(Relaxed);
                self.unmarked.store(unmarked + 1, Relaxed);
            }
        }
    }

    /// The code of the context that was entered last ends: its boundary is removed, with the frames above it. There is none if the
    /// thread had no state, or the helper was not loaded, when it was entered; then the contexts around it have none, either.
    pub(super) fn leave_context(&self) {
        let unmarked = self.unmarked.load(Relaxed);
        if unmarked > 0 {
            self.unmarked.store(unmarked - 1, Relaxed);
            return;
        }
        let mut frame = self.top();
        while frame != self.bottom() {
            if frame.id.load(Relaxed) == 0 && frame.flags.load(Relaxed) & ENTERED != 0 {
                self.pop(frame);
                return;
            }
            frame = FramePointer(frame.0.wrapping_sub(1));
        }
    }

    /// Removes a frame, and those above it.
    #[inline]
    pub(super) fn pop(&self, frame: FramePointer) {
        self.set_top(FramePointer(frame.0.wrapping_sub(1)));
    }

    #[inline]
    pub(super) fn record(&self, frame: FramePointer, end: u64) {
        let head = self.head.load(Relaxed);
        let start = frame.start.load(Relaxed);
        let method = frame.method.load(Relaxed);
        if let Some(record) = self.ring.get((head % RING) as usize) {
            // Before the fields of the record that is overwritten: see `take`.
            fence(Release);
            record.id.store(frame.id.load(Relaxed), Relaxed);
            record.parent.store(frame.parent.load(Relaxed), Relaxed);
            record.trace.store(frame.trace.load(Relaxed), Relaxed);
            record.start.store(start, Relaxed);
            record.end.store(end, Relaxed);
            record.method.store(method.into(), Relaxed);
            self.head.store(head + 1, Release);
            if (head + 1).is_multiple_of(RING / 2) {
                wake();
            }
        }
        if let Some(count) = self.counts.get(method as usize) {
            let took = end.saturating_sub(start);
            count.calls.store(count.calls.load(Relaxed) + 1, Relaxed);
            count.total.store(count.total.load(Relaxed) + took, Relaxed);
            if took > count.longest.load(Relaxed) {
                count.longest.store(took, Relaxed);
            }
        }
    }

    /// Adds the records since the last time to `all`; returns how many were overwritten.
    pub(super) fn take(&self, all: &mut Vec<Raw>) -> u64 {
        let mut taken = lock(&self.taken);
        let head = self.head.load(Acquire);
        let first = taken.0.max(head.saturating_sub(RING));
        let thread = self.number.load(Relaxed);
        let begin = all.len();
        for at in first..head {
            let Some(record) = self.ring.get((at % RING) as usize) else {
                continue;
            };
            all.push(Raw {
                id: record.id.load(Relaxed),
                parent: record.parent.load(Relaxed),
                trace: record.trace.load(Relaxed),
                start: record.start.load(Relaxed),
                end: record.end.load(Relaxed),
                method: record.method.load(Relaxed) as u32,
                thread,
            });
        }
        // Whoever has read a field of a later record sees the head that was stored before it.
        fence(Acquire);
        let later = self.head.load(Relaxed);
        let valid = (later + 1).saturating_sub(RING).clamp(first, head);
        all.drain(begin..begin + (valid - first) as usize);
        let told = self.lost.load(Relaxed);
        let lost = valid - taken.0 + (told - taken.1);
        *taken = (head, told);
        lost
    }

    /// Adds the open calls to `all`, except those that the store has.
    pub(super) fn open(&self, all: &mut Vec<Raw>) {
        let top = self.top.load(Acquire);
        for frame in self.frames.iter().skip(1) {
            if ptr::from_ref(frame) > top {
                break;
            }
            let id = frame.id.load(Acquire);
            let raw = Raw {
                id,
                parent: frame.parent.load(Relaxed),
                trace: frame.trace.load(Relaxed),
                start: frame.start.load(Relaxed),
                end: 0,
                method: frame.method.load(Relaxed),
                thread: self.number.load(Relaxed),
            };
            let flags = frame.flags.load(Relaxed);
            fence(Acquire);
            if id != 0 && flags & KEPT == 0 && frame.id.load(Relaxed) == id {
                all.push(raw);
            }
        }
    }

    /// Removes the boundaries below suspended methods whose context has ended, if the current one is that of before.
    pub(super) fn heal(&self, context: u64) {
        let mut lowest = None;
        let mut frame = self.top();
        while frame.is_suspending() {
            if frame.start.load(Relaxed) == context {
                lowest = Some(frame);
            }
            // The boundary at the bottom is not one of these.
            frame = FramePointer(frame.0.wrapping_sub(1));
        }
        if let Some(lowest) = lowest {
            self.pop(lowest);
        }
    }
}
