//! Decoding, editing and encoding bodies in reused memory allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::symbol::NoTokens;

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bodies that use every kind of allocated memory: labels, tables, prefixes, clauses, distances of
/// both sizes, and forms that are not the shortest.
fn bodies() -> Vec<Vec<u8>> {
    let far = format!("ldarg.0\nbrtrue out\n{}out: ret", "nop\n".repeat(200));
    let texts = [
        "ret",
        "again: ldarg.0\nbrtrue.s out\nldarg.1\nbrfalse again\nout: ret",
        "ldarg.0\nswitch (a, b, a, c)\na: ret\nb: nop\nc: ret",
        "ldarg.0\nvolatile. unaligned. 1 ldind.i4\npop\nldc.i8 77\npop\nldarg.s 9\npop\nret",
        "a: nop\nleave.s e\nb: pop\nleave.s e\ne: ret\n.try a to b catch 0x01000004 handler b to e",
        &far,
    ];
    let encoded = texts.map(|text| {
        let body: MethodBody = text.parse().unwrap();
        let mut out = Vec::new();
        body.encode(&mut NoTokens, &mut out).unwrap();
        out
    });
    encoded.into()
}

#[test]
fn what_has_memory_allocates_none() {
    let bodies = bodies();
    let mut prologue = Fragment::new();
    let end = prologue.label();
    prologue.ldc_i4(7).brtrue(end).nop().mark(end).nop();
    let epilogue = Fragment::new().ldc_i4(7).pop().clone();
    let mut body = MethodBody::new();
    let (mut buffers, mut out) = (EncodeBuffers::new(), Vec::new());
    let mut counts = [0; 3];
    for count in &mut counts {
        let before = ALLOCATIONS.get();
        for (bytes, is_lazy) in bodies
            .iter()
            .zip([false, true].iter().cycle())
            .chain(bodies.iter().zip([true, false].iter().cycle()))
        {
            match is_lazy {
                true => body.decode_lazily_into(bytes).unwrap(),
                false => body.decode_into(bytes).unwrap(),
            }
            body.prologue(if *is_lazy { &epilogue } else { &prologue })
                .unwrap();
            body.before_ret(&epilogue).unwrap();
            out.clear();
            body.encode_with(&mut buffers, &mut NoTokens, &mut out)
                .unwrap();
            assert!(out.len() > bytes.len());
        }
        *count = ALLOCATIONS.get() - before;
    }
    assert!(counts[0] > 0, "nothing is counted");
    assert_eq!(counts[1..], [0, 0]);
}
