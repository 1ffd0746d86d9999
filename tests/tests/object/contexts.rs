//! Legal calls by context: during a collection, and in nested callbacks.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clr_profiler_sys as sys;
use sys::{GUID, ICorProfilerCallback11, Interface};

use crate::fake::FakeInfo;
use crate::library::{ASKS_IN_COLLECTION, Library, REENTERS};

fn started(library: &Library, class: &GUID, info: &FakeInfo) -> ICorProfilerCallback11 {
    let object = library.create(class);
    // SAFETY: each test keeps its fake longer than the object.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    object
}

/// Has the fake runtime call back during a forced collection.
fn call_back(
    info: &FakeInfo,
    object: &ICorProfilerCallback11,
    call: impl Fn(&ICorProfilerCallback11) + Send + Sync + 'static,
) {
    let raw = object.as_raw().expose_provenance();
    info.on_force_gc(move || {
        let raw = ptr::with_exposed_provenance_mut(raw);
        // SAFETY: the runtime calls back while it holds the object.
        call(unsafe { ICorProfilerCallback11::from_raw_borrowed(&raw) }.unwrap());
    });
}

#[test]
fn a_collection_allows_what_its_scope_offers_and_refuses_the_rest() {
    let library = Library::load();
    let info = FakeInfo::new();
    let asked = Arc::new(AtomicBool::new(false));
    info.on_force_gc({
        let asked = asked.clone();
        move || asked.store(true, Ordering::SeqCst)
    });
    let object = started(&library, &ASKS_IN_COLLECTION, &info);
    // SAFETY: any callback may be called at any time.
    unsafe {
        let answer = object.GarbageCollectionStarted(0, ptr::null(), sys::COR_PRF_GC_INDUCED);
        assert_eq!(answer, sys::S_OK);
        let log = library.take_log();
        let refusal = "garbage_collection_started failed: ICorProfilerInfo::ForceGC was not called: \
                       the runtime is suspended for a garbage collection; make the call in a \
                       later callback\n";
        assert!(log.ends_with(refusal), "{log}");
        assert!(
            !asked.load(Ordering::SeqCst),
            "the runtime must not be asked"
        );
        // Other threads may call: they are not in this callback.
        assert!(log.contains("another thread true\n"), "{log}");

        let answer = object.FinalizeableObjectQueued(sys::COR_PRF_FINALIZER_CRITICAL, 0x30);
        assert_eq!(answer, sys::S_OK);
        assert_eq!(library.take_log(), "queued true class 49 size 96\n");

        // The scope ends with its callback, however that ends.
        assert_eq!(object.GarbageCollectionFinished(), sys::S_OK);
        assert!(library.take_log().contains("panicked: in a collection"));
        assert_eq!(object.ModuleLoadFinished(1, sys::S_OK), sys::S_OK);
        assert_eq!(library.take_log(), "after it Module1.dll\n");
    }
}

#[test]
fn a_callback_within_a_collection_is_in_the_collection() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &ASKS_IN_COLLECTION, &info);
    call_back(&info, &object, |object| {
        // SAFETY: any callback may be called at any time.
        let answer = unsafe { object.ModuleLoadFinished(1, sys::S_OK) };
        assert_eq!(answer, sys::S_OK);
    });
    // SAFETY: as above.
    unsafe {
        assert_eq!(object.FinalizeableObjectQueued(0, 0x30), sys::S_OK);
        let log = library.take_log();
        let refusal = "module_load_finished failed: ICorProfilerInfo::GetModuleInfo was not called: \
                       the runtime is suspended";
        assert!(log.starts_with(refusal), "{log}");
        assert!(log.ends_with("queued false class 49 size 96\n"), "{log}");
        // The same callback may call when it is not nested.
        assert_eq!(object.ModuleLoadFinished(1, sys::S_OK), sys::S_OK);
        assert_eq!(library.take_log(), "after it Module1.dll\n");
    }
}

#[test]
fn a_callback_may_come_within_a_callback() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &REENTERS, &info);
    call_back(&info, &object, |object| {
        // SAFETY: any callback may be called at any time.
        unsafe {
            assert_eq!(
                object.GarbageCollectionStarted(0, ptr::null(), 0),
                sys::S_OK
            );
            assert_eq!(object.GarbageCollectionFinished(), sys::S_OK);
        }
    });
    for thread in 1..3 {
        // SAFETY: as above.
        assert_eq!(unsafe { object.ThreadCreated(thread) }, sys::S_OK);
        let log = library.take_log();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 4, "{log}");
        assert_eq!(lines[0], format!("thread {thread} began"));
        assert_eq!(lines[1], "inner GcScope { .. }");
        // The inner panic ends the inner callback alone.
        assert!(lines[2].starts_with("garbage_collection_finished panicked: inner panic (at "));
        assert_eq!(lines[3], format!("thread {thread} Ok(()) Module1.dll"));
    }
}

#[test]
fn a_callback_that_the_shutdown_overtakes_has_not_failed() {
    let library = Library::load_copy();
    let info = FakeInfo::new();
    let object = started(&library, &REENTERS, &info);
    call_back(&info, &object, |object| {
        // SAFETY: the shutdown may come while callbacks are under way.
        assert_eq!(unsafe { object.Shutdown() }, sys::S_OK);
    });
    // SAFETY: as above.
    assert_eq!(unsafe { object.ThreadCreated(1) }, sys::S_OK);
    // Its next call is refused, and its error is not reported.
    assert_eq!(library.take_log(), "thread 1 began\n");
}
