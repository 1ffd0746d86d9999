//! The memory that the dominators of a large heap take: the program and its graph are in the same process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler_tools::heap::{ClassTotals, Dominators, ObjectGraph};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count.
struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A list of nodes, each with an array of its own and a reference back if it is doubly linked. Takes no memory itself.
struct List {
    nodes: u32,
    is_double: bool,
    has_references: bool,
}

/// The largest memory before a list lost its references.
static MOST_BEFORE: AtomicUsize = AtomicUsize::new(0);

impl ObjectGraph for List {
    fn object_count(&self) -> u32 {
        self.nodes * 2
    }

    fn class_count(&self) -> usize {
        2
    }

    fn class_index(&self, object: u32) -> usize {
        usize::from(object >= self.nodes)
    }

    fn size(&self, _object: u32) -> u64 {
        24
    }

    fn target(&self, object: u32, reference: u32) -> Option<u32> {
        if object >= self.nodes || !self.has_references {
            return None;
        }
        match reference {
            0 => Some(object + self.nodes),
            1 => Some(object + 1).filter(|next| *next < self.nodes),
            2 if self.is_double => object.checked_sub(1),
            _ => None,
        }
    }

    fn strong_roots(&self) -> impl Iterator<Item = (usize, u32)> {
        [(0, 0)].into_iter()
    }

    fn clear_references(&mut self) {
        self.has_references = false;
        MOST_BEFORE.store(PEAK.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The result, and the largest memory meanwhile in bytes.
fn peak<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, PEAK.load(Ordering::Relaxed) - before)
}

// A single test, so that no other thread allocates at the same time.
#[test]
fn dominators_take_twenty_bytes_an_object_and_eight_for_each_reference_back() {
    const NODES: u32 = 500_000;
    for (is_double, most) in [(false, 20), (true, 24)] {
        let mut list = List {
            nodes: NODES,
            is_double,
            has_references: true,
        };
        let (totals, of_all) = peak(|| {
            let dominators = Dominators::of(&list);
            assert_eq!(dominators.retained(1), Some(u64::from(NODES - 1) * 48));
            dominators.by_class()
        });
        assert_eq!(totals[0].retained, u64::from(NODES) * 48);
        let base = LIVE.load(Ordering::Relaxed);
        let (same, of_totals) = peak(|| ClassTotals::of(&mut list));
        assert_eq!(same, totals);
        // As long as the graph has its references.
        let of_search = MOST_BEFORE.load(Ordering::Relaxed) - base;
        let objects = NODES as usize * 2;
        for peak in [of_all, of_totals, of_search] {
            println!("{} bytes an object", peak as f64 / objects as f64);
        }
        let room = objects / 20;
        assert!(of_all <= objects * most + room, "{of_all}");
        assert!(of_totals <= objects * most + room, "{of_totals}");
        assert!(of_search <= objects * (most - 8) + room, "{of_search}");
    }
}
