//! The memory that readers allocate for hostile signatures and method bodies is bounded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::signature::{LocalsSig, MAX_DEPTH, MethodSig, TypeSpecSig};

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

// A single test, so that no other thread allocates at the same time.
#[test]
fn memory_is_bounded_by_the_length_of_what_is_read() {
    signatures();
    bodies();
}

const LENGTH: usize = 1 << 20;
const PER_BYTE: usize = 128;

fn signatures() {
    // Each level of nested generics declares as many arguments as there are bytes left.
    let mut nested = Vec::new();
    for _ in 0..MAX_DEPTH - 1 {
        nested.extend([0x15, 0x12, 0x05]);
        let left = LENGTH - nested.len() - 4;
        nested.extend(wide(u32::try_from(left).unwrap()));
    }
    nested.resize(LENGTH, 0x08);
    let peak = peak_of(|| assert!(TypeSpecSig::parse(&nested).is_err()));
    assert!(peak <= PER_BYTE * LENGTH, "nested: {peak}");

    // The same, refused directly after the deepest level.
    let mut broken = nested.clone();
    let behind = (MAX_DEPTH - 1) * 7;
    broken[behind..].fill(0x00);
    let peak = peak_of(|| assert!(TypeSpecSig::parse(&broken).is_err()));
    assert!(peak <= 256 * 1024, "broken: {peak}");

    // A declaration of 2^29 - 1 parameters.
    let huge = [&[0x00][..], &wide(0x1fff_ffff), &[0x01; 64]].concat();
    let peak = peak_of(|| assert!(MethodSig::parse(&huge).is_err()));
    assert_eq!(peak, 0, "huge");

    // The maximum number of locals, and as many small function pointers as fit.
    let mut locals = [&[0x07][..], &wide(0xfffe)].concat();
    for _ in 0..0xfffe {
        locals.extend([0x1b, 0x00, 0x00, 0x01]);
    }
    let peak = peak_of(|| assert!(LocalsSig::parse(&locals).is_ok()));
    assert!(peak <= PER_BYTE * locals.len(), "locals: {peak}");
}

/// A fat header that declares a size of the code, and sections after it if there are any.
fn fat(code_size: u32, sections: bool) -> Vec<u8> {
    let flags: u16 = if sections { 0x300b } else { 0x3003 };
    let mut header = flags.to_le_bytes().to_vec();
    header.extend(8_u16.to_le_bytes());
    header.extend(code_size.to_le_bytes());
    header.extend(0_u32.to_le_bytes());
    header
}

fn bodies() {
    let with_code = |code: &[u8]| [fat(code.len() as u32, false), code.to_vec()].concat();
    let switch = |targets: u32, given: usize| {
        let mut code = vec![0x45];
        code.extend(targets.to_le_bytes());
        for _ in 0..given {
            // Each target is the switch.
            code.extend((-5 - 4 * given as i32).to_le_bytes());
        }
        code.push(0x2a);
        code
    };

    // As many instructions, prefixes, branches, labels and targets as fit.
    let dense: [(&str, Vec<u8>); 5] = [
        ("nop", vec![0x00; LENGTH]),
        ("volatile. ldind.i1", [0xfe, 0x13, 0x46].repeat(LENGTH / 3)),
        ("br.s to the next", [0x2b, 0x00].repeat(LENGTH / 2)),
        ("br.s to itself", [0x2b, 0xfe].repeat(LENGTH / 2)),
        ("switch", switch(LENGTH as u32 / 4, LENGTH / 4)),
    ];
    for (name, mut code) in dense {
        code.push(0x2a);
        let bytes = with_code(&code);
        let peak = peak_of(|| assert!(MethodBody::decode(&bytes).is_ok(), "{name}"));
        assert!(peak <= PER_BYTE * bytes.len(), "{name}: {peak}");
    }

    // As many clauses as fit into small and fat sections.
    let mut clauses = [fat(1, true), vec![0x2a, 0, 0, 0]].concat();
    while clauses.len() < LENGTH {
        let more = if clauses.len() + 252 < LENGTH {
            0x80
        } else {
            0
        };
        clauses.extend([0x01 | more, 244, 0, 0]);
        for _ in 0..20 {
            clauses.extend([2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]);
        }
    }
    let peak = peak_of(|| drop(MethodBody::decode(&clauses)));
    assert!(peak <= PER_BYTE * clauses.len(), "clauses: {peak}");
    assert!(peak > clauses.len(), "the clauses are read: {peak}");

    // Declarations of much more than there is.
    let claims = [
        ("code", [fat(u32::MAX, false), vec![0x2a; 64]].concat()),
        ("targets", with_code(&switch(u32::MAX, 8))),
        (
            "section",
            [fat(1, true), vec![0x2a, 0, 0, 0, 0x41, 0xff, 0xff, 0xff]].concat(),
        ),
    ];
    for (name, bytes) in claims {
        let peak = peak_of(|| assert!(MethodBody::decode(&bytes).is_err(), "{name}"));
        assert!(peak <= PER_BYTE * bytes.len(), "{name}: {peak}");
    }
}
