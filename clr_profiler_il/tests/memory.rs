//! Memory: what a hostile signature can make the reader allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler_il::signature::{LocalsSig, MAX_DEPTH, MethodSig, TypeSpecSig};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn peak_of(read: impl FnOnce()) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    read();
    PEAK.load(Ordering::Relaxed) - before
}

/// A number in the widest form.
fn wide(value: u32) -> [u8; 4] {
    (value | 0xc000_0000).to_be_bytes()
}

// One test, so that no other thread allocates meanwhile.
#[test]
fn memory_is_bounded_by_the_length_of_the_blob() {
    const LENGTH: usize = 1 << 20;
    const PER_BYTE: usize = 128;

    // Each level of nested generics claims as many arguments as there are bytes left.
    let mut nested = Vec::new();
    for _ in 0..MAX_DEPTH - 1 {
        nested.extend([0x15, 0x12, 0x05]);
        let left = LENGTH - nested.len() - 4;
        nested.extend(wide(u32::try_from(left).unwrap()));
    }
    nested.resize(LENGTH, 0x08);
    let peak = peak_of(|| assert!(TypeSpecSig::parse(&nested).is_err()));
    assert!(peak <= PER_BYTE * LENGTH, "nested: {peak}");

    // The same, refused at once behind the deepest level.
    let mut broken = nested.clone();
    let behind = (MAX_DEPTH - 1) * 7;
    broken[behind..].fill(0x00);
    let peak = peak_of(|| assert!(TypeSpecSig::parse(&broken).is_err()));
    assert!(peak <= 256 * 1024, "broken: {peak}");

    // A claim of 2^29 - 1 parameters.
    let huge = [&[0x00][..], &wide(0x1fff_ffff), &[0x01; 64]].concat();
    let peak = peak_of(|| assert!(MethodSig::parse(&huge).is_err()));
    assert_eq!(peak, 0, "huge");

    // As many locals as there can be, and as many small function pointers as fit.
    let mut locals = [&[0x07][..], &wide(0xfffe)].concat();
    for _ in 0..0xfffe {
        locals.extend([0x1b, 0x00, 0x00, 0x01]);
    }
    let peak = peak_of(|| assert!(LocalsSig::parse(&locals).is_ok()));
    assert!(peak <= PER_BYTE * locals.len(), "locals: {peak}");
}
