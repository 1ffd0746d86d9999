//! The memory that a signal handler shares with the thread that reads its samples.
//!
//! A [`Slot`] belongs to one sampled thread at a time. Slots are never freed, so that a late signal finds one; its
//! [`Key`] no longer fits then. The ring of a slot is written by the handler on the sampled thread alone, and read
//! under the lock of the sampler.

use std::hint;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use std::thread;
use std::time::Duration;

/// The words of a ring, a power of two: half a megabyte, of which the system provides the pages that are used.
pub(super) const RING: usize = 1 << 16;

/// The slots that are made at a time, and how often.
const CHUNK: usize = 64;
const CHUNKS: usize = 1024;

static SLOTS: [AtomicPtr<[Slot; CHUNK]>; CHUNKS] = [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS];

/// The value that a timer passes to the handler: a slot, and the thread for which it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    /// Different from the first 16 bits of an address, which another library's timer may pass.
    const MARK: u64 = 0xC1A5;

    /// That of a timer which never runs.
    pub(super) const UNUSED: Self = Self(Self::MARK << 48);

    fn new(index: usize, generation: u32) -> Self {
        Self(Self::MARK << 48 | u64::from(generation & 0xFF_FFFF) << 24 | index as u64)
    }

    pub(super) fn from_signal(value: u64) -> Option<Self> {
        (value >> 48 == Self::MARK).then_some(Self(value))
    }

    pub(super) fn to_signal(self) -> u64 {
        self.0
    }

    fn generation(self) -> u32 {
        (self.0 >> 24) as u32 & 0xFF_FFFF
    }

    fn index(self) -> usize {
        self.0 as usize & 0xFF_FFFF
    }
}

/// The state of a sampled thread.
#[derive(Debug)]
pub(super) struct Slot {
    /// Changes when the slot is taken and when it is given back.
    generation: AtomicU32,
    /// The handlers that may be using the ring: that of the slot's thread, and those of late signals, whose keys do not fit.
    busy: AtomicU32,
    ring: AtomicPtr<u64>,
    /// The words that were written, and those that were read, since the slot was taken.
    written: AtomicUsize,
    read: AtomicUsize,
    /// The bounds of the thread's stack; 0 if they are not known yet.
    low: AtomicUsize,
    high: AtomicUsize,
    /// The highest frame that frame pointers have led to.
    outermost: AtomicUsize,
    /// A stack pointer and the thread's own structure, by which unknown bounds are found.
    seen: AtomicUsize,
    own: AtomicUsize,
    /// The intervals that found no room in the ring.
    lost: AtomicU64,
    /// The nanoseconds that the handler took, and its calls.
    spent: AtomicU64,
    calls: AtomicU64,
}

impl Slot {
    const fn new() -> Self {
        Self {
            generation: AtomicU32::new(0),
            busy: AtomicU32::new(0),
            ring: AtomicPtr::new(ptr::null_mut()),
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            outermost: AtomicUsize::new(0),
            seen: AtomicUsize::new(0),
            own: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        }
    }

    /// The slot of a key, by the handler.
    pub(super) fn of(key: Key) -> Option<&'static Self> {
        let chunk = SLOTS.get(key.index() / CHUNK)?.load(Acquire);
        // SAFETY: the pointer is null or that of a chunk that `reserve` has leaked, so that it stays valid; all fields
        // of a slot are atomics.
        unsafe { chunk.as_ref() }?.get(key.index() % CHUNK)
    }

    /// Has the slots up to this index made; false if there are no more.
    fn reserve(index: usize) -> bool {
        let Some(place) = SLOTS.get(index / CHUNK) else {
            return false;
        };
        if place.load(Acquire).is_null() {
            let chunk = Box::into_raw(Box::new([const { Self::new() }; CHUNK]));
            if place
                .compare_exchange(ptr::null_mut(), chunk, SeqCst, Acquire)
                .is_err()
            {
                // SAFETY: the pointer is that of the box above, and was not published.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
        true
    }

    /// Begins a sample with a ring that cannot be unmapped before [`Writer`] is dropped.
    pub(super) fn write(&'static self, key: Key) -> Option<Writer> {
        self.busy.fetch_add(1, SeqCst);
        let ring = self.ring.load(SeqCst);
        let is_current = self.generation.load(SeqCst) & 0xFF_FFFF == key.generation();
        let writer = Writer {
            slot: self,
            ring,
            start: self.written.load(Relaxed),
            at: self.written.load(Relaxed),
            end: self.read.load(Acquire).wrapping_add(RING),
        };
        // From here on dropping the writer ends the use.
        (is_current && !ring.is_null()).then_some(writer)
    }

    /// The bounds of the thread's stack, low and high; 0 if they are not known.
    pub(super) fn bounds(&self) -> (usize, usize) {
        (self.low.load(Relaxed), self.high.load(Acquire))
    }

    /// Sets the bounds of the thread's stack. Its pages from the stack pointer to `high` stay mapped while it runs.
    pub(super) fn set_bounds(&self, low: usize, high: usize) {
        self.low.store(low, Relaxed);
        self.high.store(high, Release);
    }

    /// Whether frame pointers lead to the thread's outermost frame when they lead here, by the handler.
    pub(super) fn reaches(&self, frame: usize) -> bool {
        let outermost = self.outermost.load(Relaxed);
        self.outermost.store(outermost.max(frame), Relaxed);
        frame > 0 && frame >= outermost
    }

    /// Records a stack whose bounds are not known, by the handler.
    pub(super) fn see(&self, sp: usize, own: usize) {
        self.own.store(own, Relaxed);
        self.seen.store(sp, Release);
    }

    /// The stack pointer and the own structure of a thread whose bounds are not known.
    pub(super) fn unknown_stack(&self) -> Option<(usize, usize)> {
        let sp = self.seen.load(Acquire);
        let is_unknown = sp != 0 && self.high.load(Relaxed) == 0;
        is_unknown.then(|| (sp, self.own.load(Relaxed)))
    }

    /// Counts a call of the handler.
    pub(super) fn spend(&self, nanoseconds: u64) {
        self.spent.fetch_add(nanoseconds, Relaxed);
        self.calls.fetch_add(1, Relaxed);
    }

    /// The calls of the handler, and their nanoseconds.
    pub(super) fn costs(&self) -> (u64, u64) {
        (self.calls.load(Relaxed), self.spent.load(Relaxed))
    }

    /// Counts intervals whose sample found no room.
    pub(super) fn lose(&self, weight: u32) {
        self.lost.fetch_add(u64::from(weight), Relaxed);
    }
}

/// A sample that is being written.
pub(super) struct Writer {
    slot: &'static Slot,
    ring: *mut u64,
    start: usize,
    at: usize,
    end: usize,
}

impl Writer {
    /// The words that have room.
    pub(super) fn room(&self) -> usize {
        self.end.wrapping_sub(self.at)
    }

    pub(super) fn len(&self) -> usize {
        self.at.wrapping_sub(self.start)
    }

    /// Appends a word; a no-op without room.
    pub(super) fn push(&mut self, word: u64) {
        if self.room() > 0 {
            // SAFETY: the index is below the length of the ring, which is mapped until `busy` is 0. Nobody else
            // writes, and a reader reads this word only after `written` has passed it.
            unsafe { self.ring.add(self.at % RING).write(word) };
            self.at = self.at.wrapping_add(1);
        }
    }

    /// Replaces a word of this sample.
    pub(super) fn set(&mut self, index: usize, word: u64) {
        if index < self.len() {
            // SAFETY: as in `push`; the word is part of this sample, which was not published.
            unsafe {
                self.ring
                    .add(self.start.wrapping_add(index) % RING)
                    .write(word);
            }
        }
    }

    /// Publishes the sample.
    pub(super) fn publish(self) {
        self.slot.written.store(self.at, Release);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.slot.busy.fetch_sub(1, SeqCst);
    }
}

/// A slot that is taken for a thread, by the sampler: the only one that reads its ring.
#[derive(Debug)]
pub(super) struct Taken {
    slot: &'static Slot,
    key: Key,
}

impl Taken {
    /// Takes the slot of this index, which nobody else has.
    pub(super) fn take(index: usize) -> Option<Self> {
        if !Slot::reserve(index) {
            return None;
        }
        let slot = Slot::of(Key::new(index, 0))?;
        let ring = map()?;
        let generation = slot.generation.load(SeqCst).wrapping_add(1);
        for zero in [&slot.written, &slot.read, &slot.low, &slot.high] {
            zero.store(0, Relaxed);
        }
        for zero in [&slot.outermost, &slot.seen, &slot.own] {
            zero.store(0, Relaxed);
        }
        for zero in [&slot.lost, &slot.spent, &slot.calls] {
            zero.store(0, Relaxed);
        }
        slot.ring.store(ring, SeqCst);
        slot.generation.store(generation, SeqCst);
        Some(Self {
            slot,
            key: Key::new(index, generation),
        })
    }

    pub(super) fn slot(&self) -> &'static Slot {
        self.slot
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    pub(super) fn index(&self) -> usize {
        self.key.index()
    }

    /// Moves the samples so far to `out`: records, each with its length in words first. Returns the intervals that were
    /// lost.
    pub(super) fn drain(&self, out: &mut Vec<u64>) -> u64 {
        let ring = self.slot.ring.load(Relaxed);
        let (from, to) = (self.slot.read.load(Relaxed), self.slot.written.load(Acquire));
        let count = to.wrapping_sub(from);
        if !ring.is_null() && count <= RING {
            out.reserve(count);
            for offset in 0..count {
                // SAFETY: the index is below the length of the ring, which is mapped as long as this value exists.
                // The handler published the word and writes it again only after `read` has passed it.
                out.push(unsafe { ring.add(from.wrapping_add(offset) % RING).read() });
            }
        }
        self.slot.read.store(to, Release);
        self.slot.lost.swap(0, Relaxed)
    }
}

impl Drop for Taken {
    /// Unmaps the ring when no handler uses it any longer.
    fn drop(&mut self) {
        self.slot.generation.fetch_add(1, SeqCst);
        let ring = self.slot.ring.swap(ptr::null_mut(), SeqCst);
        let mut turns = 0_u32;
        while self.slot.busy.load(SeqCst) > 0 {
            turns += 1;
            match turns {
                0..100 => hint::spin_loop(),
                // The thread was interrupted in its handler, and has to run to leave it.
                _ => thread::sleep(Duration::from_micros(50)),
            }
        }
        // SAFETY: the pages are those of `map`. A handler that begins now finds another generation and no ring, and none
        // is under way: `busy` and `generation` are in one total order.
        unsafe { libc::munmap(ring.cast(), RING * size_of::<u64>()) };
    }
}

fn map() -> Option<*mut u64> {
    // SAFETY: new pages at an address of the system's choice.
    let ring = unsafe {
        libc::mmap(
            ptr::null_mut(),
            RING * size_of::<u64>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (ring != libc::MAP_FAILED).then_some(ring.cast())
}

/// The address of a copy of this code that can be executed.
#[cfg(test)]
pub(super) fn executable(code: &[u8]) -> usize {
    let pages = map().unwrap().cast::<u8>();
    // SAFETY: the pages are new, and have more bytes than the code.
    unsafe {
        ptr::copy_nonoverlapping(code.as_ptr(), pages, code.len());
        libc::mprotect(pages.cast(), RING * size_of::<u64>(), libc::PROT_READ | libc::PROT_EXEC);
    }
    pages.expose_provenance()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use super::*;

    fn write(taken: &Taken, words: &[u64]) -> bool {
        let Some(mut writer) = taken.slot().write(taken.key()) else {
            return false;
        };
        if writer.room() <= words.len() {
            return false;
        }
        writer.push(0);
        words.iter().for_each(|word| writer.push(*word));
        writer.set(0, writer.len() as u64);
        writer.publish();
        true
    }

    #[test]
    fn samples_pass_in_order_until_the_ring_is_full() {
        let taken = Taken::take(70).unwrap();
        let mut out = Vec::new();
        for round in 0..3 * RING as u64 / 4 {
            assert!(write(&taken, &[round, 1, 2]));
            if round % 1000 == 999 {
                taken.drain(&mut out);
            }
        }
        taken.drain(&mut out);
        assert_eq!(out.len(), 3 * RING);
        let is_right = |(round, sample): (usize, &[u64])| *sample == [4, round as u64, 1, 2];
        assert!(out.chunks(4).enumerate().all(is_right));
        let filled = (0..).take_while(|_| write(&taken, &[7; 99])).count();
        assert_eq!(filled, (RING - 1) / 100);
        taken.slot().lose(3);
        assert_eq!((taken.drain(&mut out), taken.drain(&mut out)), (3, 0));
        assert!(write(&taken, &[1]));
    }

    #[test]
    fn a_key_of_an_ended_thread_fits_no_more() {
        let taken = Taken::take(71).unwrap();
        let key = taken.key();
        assert!(is_open(key));
        drop(taken);
        assert!(!is_open(key));
        let again = Taken::take(71).unwrap();
        assert_ne!(again.key(), key);
        assert!(!is_open(key) && is_open(again.key()));
        assert_eq!(Key::from_signal(key.to_signal()), Some(key));
        assert_eq!(Key::from_signal(0x7fff_1234_5678), None);
        assert!(Taken::take(CHUNK * CHUNKS).is_none());
    }

    /// The ring of a sample that is being written stays mapped when a signal of an ended thread comes meanwhile.
    #[test]
    fn a_late_signal_does_not_end_the_use_of_another_handler() {
        let taken = Taken::take(73).unwrap();
        let late = taken.key();
        drop(taken);
        let taken = Taken::take(73).unwrap();
        let slot = taken.slot();
        let writer = slot.write(taken.key()).unwrap();
        assert!(!is_open(late));
        assert_eq!(slot.busy.load(SeqCst), 1);
        drop(writer);
        assert_eq!(slot.busy.load(SeqCst), 0);
    }

    #[test]
    fn the_ring_of_a_sample_stays_mapped_until_it_is_written() {
        let taken = Taken::take(74).unwrap();
        let mut writer = taken.slot().write(taken.key()).unwrap();
        let (tell, told) = mpsc::channel();
        let ends = thread::spawn(move || {
            drop(taken);
            tell.send(()).unwrap();
        });
        assert!(told.recv_timeout(Duration::from_millis(100)).is_err());
        writer.push(7);
        drop(writer);
        told.recv_timeout(Duration::from_secs(60)).unwrap();
        ends.join().unwrap();
    }

    fn is_open(key: Key) -> bool {
        Slot::of(key).unwrap().write(key).is_some()
    }

    #[test]
    fn a_slot_is_given_back_while_handlers_use_it() {
        let (stop, key) = (AtomicBool::new(false), AtomicU64::new(0));
        let (stop, key) = (&stop, &key);
        thread::scope(|scope| {
            // One handler at a time: the slot belongs to one thread.
            scope.spawn(move || {
                while !stop.load(Relaxed) {
                    let Some(key) = Key::from_signal(key.load(Relaxed)) else {
                        continue;
                    };
                    if let Some(mut writer) = Slot::of(key).unwrap().write(key) {
                        (0..50).for_each(|word| writer.push(word));
                        writer.publish();
                    }
                }
            });
            let mut out = Vec::new();
            for _ in 0..2000 {
                let taken = Taken::take(72).unwrap();
                key.store(taken.key().to_signal(), Relaxed);
                hint::spin_loop();
                taken.drain(&mut out);
                out.clear();
            }
            stop.store(true, Relaxed);
        });
    }
}
