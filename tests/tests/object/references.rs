//! Identity and reference counts of the callback object.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;
use std::sync::Barrier;
use std::thread;

use clr_profiler_sys as sys;
use sys::{GUID, IClassFactory, ICorProfilerCallback11, IUnknown, Interface};

use crate::class_factory::callback_interfaces;
use crate::fake::FakeInfo;
use crate::library::{
    COUNTS, HOOK_PANICS, LOW_EVENTS, Library, NULL, as_unknown, query, references, release,
};

/// Numbers without an obvious order.
struct Random(u64);

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Some(self.0)
    }
}

#[test]
fn every_interface_is_the_same_object() {
    let library = Library::load();
    let object = library.create(&NULL);
    for (number, iid) in callback_interfaces().iter().enumerate() {
        let mut out = ptr::null_mut();
        // SAFETY: a GUID and the address of a pointer.
        let answer = unsafe { query(&object, iid, &mut out) };
        assert_eq!(answer, sys::S_OK, "{iid:?}");
        assert_eq!(out, object.as_raw());
        assert_eq!(references(&object), number as u32 + 2);
    }
    let count = callback_interfaces().len() as u32;
    for left in (1..=count).rev() {
        // SAFETY: each of these references came from a query above.
        assert_eq!(unsafe { release(&object) }, left);
    }
    for stranger in [
        GUID::zeroed(),
        IClassFactory::IID,
        sys::ICorProfilerInfo::IID,
    ] {
        let mut out = ptr::without_provenance_mut::<c_void>(1);
        // SAFETY: a GUID and the address of a pointer.
        let answer = unsafe { query(&object, &stranger, &mut out) };
        assert_eq!((answer, out), (sys::E_NOINTERFACE, ptr::null_mut()));
    }
    assert_eq!(references(&object), 1);
    // Two objects of a class are distinct.
    let other = library.create(&NULL);
    assert_ne!(as_unknown(&other), as_unknown(&object));
    drop((object, other));
    assert!(library.can_unload());
}

#[test]
fn counts_are_exact_under_sixteen_threads() {
    const THREADS: u64 = 16;
    const STEPS: usize = 20_000;
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&LOW_EVENTS);
    // SAFETY: the fake lives until the end of the test.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    assert_eq!(info.references(), 2, "one is ours, one the profiler's");

    let interfaces = callback_interfaces();
    let barrier = Barrier::new(THREADS as usize);
    let kept: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (1..=THREADS)
            .map(|seed| {
                let (barrier, interfaces) = (&barrier, &interfaces);
                // A reference may be used on any thread: the test is about the object's own count.
                let raw = object.as_raw().expose_provenance();
                scope.spawn(move || {
                    let raw = ptr::with_exposed_provenance_mut::<c_void>(raw);
                    // SAFETY: `object` outlives the threads.
                    let object =
                        unsafe { ICorProfilerCallback11::from_raw_borrowed(&raw) }.unwrap();
                    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    let mut held = Vec::new();
                    barrier.wait();
                    for choice in random.by_ref().take(STEPS) {
                        let iid = &interfaces[choice as usize % interfaces.len()];
                        match choice >> 60 {
                            0..5 => held.push(as_unknown(object)),
                            5..9 => {
                                let mut out = ptr::null_mut();
                                // SAFETY: a GUID and the address of a pointer; success gives a
                                // reference that is ours.
                                held.push(unsafe {
                                    assert_eq!(query(object, iid, &mut out), sys::S_OK);
                                    IUnknown::from_raw(out)
                                });
                            }
                            9 => assert!(object.cast::<sys::ICorProfilerInfo>().is_err()),
                            _ => drop(held.pop()),
                        }
                    }
                    held.truncate(random.next().unwrap() as usize % 8);
                    held.into_iter()
                        .map(|kept| kept.into_raw().expose_provenance())
                        .collect()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| -> Vec<usize> { thread.join().unwrap() })
            .collect()
    });
    assert_eq!(references(&object) as usize, 1 + kept.len());

    // The thread that is last gives up the last reference.
    drop(object);
    assert!(!kept.is_empty() && !library.can_unload());
    assert_eq!(info.references(), 2);
    assert_eq!(library.take_log(), "version 14\n");
    thread::scope(|scope| {
        for reference in kept {
            scope.spawn(move || {
                let raw = ptr::with_exposed_provenance_mut(reference);
                // SAFETY: one of the threads above kept this reference for us.
                drop(unsafe { IUnknown::from_raw(raw) });
            });
        }
    });
    assert_eq!(library.take_log(), "dropped\n", "exactly once");
    assert_eq!(info.references(), 1);
    assert!(library.can_unload());
}

#[test]
fn objects_end_with_their_last_reference_wherever_they_are_in_life() {
    let library = Library::load();
    let info = FakeInfo::new();
    // Never initialised.
    drop(library.create(&LOW_EVENTS));
    assert_eq!(library.take_log(), "");
    // Initialised: the profiler is dropped with the last reference and not before.
    let object = library.create(&LOW_EVENTS);
    // SAFETY: the fake lives until the end of the test.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    let more: Vec<IUnknown> = (0..3).map(|_| as_unknown(&object)).collect();
    drop(object);
    assert_eq!(
        (library.take_log().as_str(), info.references()),
        ("version 14\n", 2)
    );
    drop(more);
    assert_eq!(
        (library.take_log().as_str(), info.references()),
        ("dropped\n", 1)
    );
    assert!(library.can_unload());
}

#[test]
fn a_profiler_that_panics_when_dropped_is_gone_all_the_same() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&HOOK_PANICS);
    // SAFETY: the fake lives until the end of the test.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    drop(object);
    assert_eq!(info.references(), 1);
    assert!(library.can_unload());
}

#[test]
fn after_shutdown_the_object_stays() {
    let library = Library::load_copy();
    // The object holds the fake forever.
    let info = Box::leak(FakeInfo::new());
    let object = library.create(&COUNTS);
    // SAFETY: the fake lives forever, and so does the object, which is the subject of this test.
    unsafe {
        assert_eq!(object.Initialize(info.as_raw()), sys::S_OK);
        assert_eq!(object.ThreadCreated(1), sys::S_OK);
        assert_eq!(object.Shutdown(), sys::S_OK);
        assert_eq!(library.take_log(), "shutdown 1\nthread_created 1\n");
        assert_eq!(object.Shutdown(), sys::S_OK, "a second time");
        let raw = object.as_raw();
        assert_eq!(references(&object), 1);
        drop(object);
        let late = ICorProfilerCallback11::from_raw_borrowed(&raw).unwrap();
        assert_eq!(late.ThreadDestroyed(1), sys::S_OK);
        assert_eq!(late.Shutdown(), sys::S_OK);
        // Late threads may still take references, and give them back.
        let more: BTreeSet<*mut c_void> = (0..3).map(|_| as_unknown(late).as_raw()).collect();
        assert_eq!(more, BTreeSet::from([raw]));
        assert_eq!(late.ThreadDestroyed(1), sys::S_OK);
        assert_eq!(
            late.Initialize(info.as_raw()),
            sys::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
        );
    }
    assert!(
        !library.take_log().contains("thread_destroyed"),
        "nothing reaches the profiler"
    );
    assert_eq!(info.references(), 2, "it holds as many as before");
    assert!(!library.can_unload());
}

#[test]
fn a_shutdown_may_come_while_others_give_up_their_references() {
    let library = Library::load_copy();
    let info = Box::leak(FakeInfo::new());
    for _ in 0..1_000 {
        let object = library.create(&NULL);
        // SAFETY: the fake lives forever.
        assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
        let before = info.references();
        let raw = object.as_raw();
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let theirs = as_unknown(&object).into_raw().expose_provenance();
            let barrier = &barrier;
            scope.spawn(move || {
                let raw = ptr::with_exposed_provenance_mut(theirs);
                barrier.wait();
                // SAFETY: the reference was taken for this thread.
                drop(unsafe { IUnknown::from_raw(raw) });
            });
            barrier.wait();
            // SAFETY: `object` is a reference.
            assert_eq!(unsafe { object.Shutdown() }, sys::S_OK);
            drop(object);
        });
        assert_eq!(
            info.references(),
            before,
            "an object that was shut down is kept"
        );
        // SAFETY: the object lives forever, as was just seen.
        let late = unsafe { ICorProfilerCallback11::from_raw_borrowed(&raw) }.unwrap();
        // SAFETY: any callback may be called at any time.
        assert_eq!(unsafe { late.ThreadCreated(1) }, sys::S_OK);
    }
}
