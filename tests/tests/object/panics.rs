//! Panics on many threads at once, and panics in unexpected places.

use std::sync::Barrier;
use std::thread;

use clr_profiler_sys as sys;
use sys::{ICorProfilerCallback11, Interface};

use crate::fake::FakeInfo;
use crate::library::{HOOK_PANICS, Library, PANICS, PANICS_UNTIL_RETIRED};

const THREADS: usize = 16;
const CALLS: usize = 50;

/// Calls back on sixteen threads at once; every answer must be `S_OK`.
fn call_from_all_threads(object: &ICorProfilerCallback11) {
    let raw = object.as_raw().expose_provenance();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let barrier = &barrier;
            scope.spawn(move || {
                let raw = std::ptr::with_exposed_provenance_mut(raw);
                // SAFETY: `object` outlives the threads.
                let object = unsafe { ICorProfilerCallback11::from_raw_borrowed(&raw) }.unwrap();
                barrier.wait();
                for _ in 0..CALLS {
                    // SAFETY: any callback may be called at any time.
                    assert_eq!(unsafe { object.ThreadCreated(number) }, sys::S_OK);
                }
            });
        }
    });
}

#[test]
fn each_of_many_panics_at_once_is_told() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&PANICS);
    // SAFETY: the fake outlives the object.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    call_from_all_threads(&object);
    let log = library.take_log();
    assert_eq!(log.lines().count(), THREADS * CALLS);
    let told = "thread_created panicked: in thread_created (at ";
    assert!(log.lines().all(|line| line.starts_with(told)), "{log}");
    drop(object);
    assert_eq!(info.references(), 1);
    assert!(library.can_unload());
}

#[test]
fn a_profiler_is_retired_once() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&PANICS_UNTIL_RETIRED);
    // SAFETY: the fake outlives the object.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    call_from_all_threads(&object);
    let log = library.take_log();
    let disabled = log
        .lines()
        .filter(|line| line.contains("gets no more callbacks"))
        .count();
    assert_eq!(disabled, 1, "{log}");
    // Three calls disable it; other threads may have been in a call then, each in one.
    let calls = log
        .lines()
        .filter(|line| line.starts_with("called "))
        .count();
    assert!((3..3 + THREADS).contains(&calls), "{log}");
    call_from_all_threads(&object);
    assert_eq!(library.take_log(), "");
    // SAFETY: any callback may be called at any time.
    let answer = unsafe { object.ModuleLoadFinished(1, sys::S_OK) };
    assert_eq!(answer, sys::S_OK);
    assert_eq!(library.take_log(), "", "neither another one");
    drop(object);
    assert!(library.can_unload());
}

#[test]
fn the_hook_that_is_told_may_panic_itself() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&HOOK_PANICS);
    // SAFETY: the fake outlives the object; any callback may be called at any time.
    unsafe {
        assert_eq!(object.Initialize(info.as_raw()), sys::S_OK);
        assert_eq!(object.ThreadCreated(1), sys::S_OK);
        assert_eq!(library.take_log(), "thread_created failed: no thread\n");
        assert_eq!(object.ThreadDestroyed(1), sys::S_OK);
        assert!(
            library
                .take_log()
                .starts_with("thread_destroyed panicked: no thread (at ")
        );
    }
    drop(object);
    assert!(library.can_unload());
}
