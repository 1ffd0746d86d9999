//! `Initialize` and `InitializeForAttach`: their results, and the state after a failure.

use std::ffi::c_void;
use std::ptr;

use clr_profiler_sys as sys;
use sys::{BOOL, HRESULT, ICorProfilerCallback11};

use crate::fake::FakeInfo;
use crate::library::{
    ASKS_IN_COLLECTION, CANCELS_ACTIVATION, COUNTS, FAILS_TO_START, LOW_EVENTS, Library,
    PANICS_AT_START, references,
};

/// The events of the callbacks that `LowEvents` overrides.
const LOW: u32 = sys::COR_PRF_MONITOR_MODULE_LOADS
    | sys::COR_PRF_MONITOR_THREADS
    | sys::COR_PRF_MONITOR_JIT_COMPILATION;

fn initialize(object: &ICorProfilerCallback11, info: &FakeInfo) -> HRESULT {
    // SAFETY: the fake lives during the call, and each test keeps it longer than the object.
    unsafe { object.Initialize(info.as_raw()) }
}

fn attach(object: &ICorProfilerCallback11, info: &FakeInfo, data: &[u8]) -> HRESULT {
    let start = data.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: as above, and the data has this length.
    unsafe { object.InitializeForAttach(info.as_raw(), start, data.len() as u32) }
}

fn module_load_finished(object: &ICorProfilerCallback11) -> HRESULT {
    // SAFETY: any callback may be called at any time.
    unsafe { object.ModuleLoadFinished(7, sys::S_OK) }
}

/// The events of the library itself: the unload of dynamic methods, if the runtime reports it.
fn high(version: usize) -> u32 {
    if version < 9 {
        0
    } else {
        sys::COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS
    }
}

#[test]
fn each_runtime_is_asked_for_the_events_once() {
    let library = Library::load();
    for (version, major) in FakeInfo::RUNTIMES {
        let info = FakeInfo::offering(version, major);
        let object = library.create(&LOW_EVENTS);
        assert_eq!(initialize(&object, &info), sys::S_OK);
        assert_eq!(info.masks(), [(LOW, Some(high(version)))]);
        assert_eq!(module_load_finished(&object), sys::S_OK);
        let log = format!("version {version}\nmodule 7 Module7.dll S_OK (0x00000000)\n");
        assert_eq!(library.take_log(), log);
        drop(object);
        assert_eq!(info.references(), 1);
        library.take_log();
    }
}

#[test]
fn old_runtimes_have_the_low_events() {
    let library = Library::load();
    for version in 1..=4 {
        let info = FakeInfo::offering(version, 2);
        let object = library.create(&LOW_EVENTS);
        assert_eq!(
            initialize(&object, &info),
            sys::S_OK,
            "ICorProfilerInfo{version}"
        );
        assert_eq!(info.masks(), [(LOW, None)]);
        drop(object);

        // The error of a flag in the high half says so.
        library.take_log();
        let object = library.create(&ASKS_IN_COLLECTION);
        assert_eq!(initialize(&object, &info), sys::E_NOTIMPL);
        let offered = match version {
            1 => "ICorProfilerInfo".to_owned(),
            _ => format!("ICorProfilerInfo{version}"),
        };
        let log = library.take_log();
        assert!(
            log.contains("SetEventMask2 needs ICorProfilerInfo5"),
            "{log}"
        );
        assert!(
            log.ends_with(&format!("this runtime offers {offered}\n")),
            "{log}"
        );
        assert_eq!(info.masks().len(), 1, "the runtime was not asked again");
        drop(object);
        assert_eq!(info.references(), 1);
    }
}

#[test]
fn what_is_no_runtime_is_refused() {
    let library = Library::load();
    let (stranger, info) = (FakeInfo::offering(0, 8), FakeInfo::new());
    let object = library.create(&LOW_EVENTS);
    // SAFETY: null is the tested argument; the fake lives.
    unsafe {
        assert_eq!(object.Initialize(ptr::null_mut()), sys::E_FAIL);
        assert_eq!(
            object.InitializeForAttach(ptr::null_mut(), ptr::null_mut(), 3),
            sys::E_FAIL
        );
    }
    assert_eq!(initialize(&object, &stranger), sys::E_NOINTERFACE);
    assert_eq!(stranger.references(), 1);
    assert_eq!(module_load_finished(&object), sys::S_OK);
    assert_eq!(library.take_log(), "", "the profiler was not made");
    // After that it can still start with a runtime.
    assert_eq!(initialize(&object, &info), sys::S_OK);
    assert_eq!(module_load_finished(&object), sys::S_OK);
    assert_eq!(library.take_log().lines().count(), 2);
    drop(object);
    assert_eq!(info.references(), 1);
    assert!(library.can_unload());
}

#[test]
fn a_profiler_that_does_not_start_keeps_nothing() {
    let library = Library::load();
    let cases = [
        (
            FAILS_TO_START,
            sys::E_FAIL,
            "initialize failed: the licence has run out\n",
        ),
        (
            PANICS_AT_START,
            sys::E_FAIL,
            "initialize panicked: no such luck (at ",
        ),
        (
            CANCELS_ACTIVATION,
            sys::CORPROF_E_PROFILER_CANCEL_ACTIVATION,
            "cancelled\n",
        ),
    ];
    for (class, answer, log) in cases {
        let info = FakeInfo::new();
        let object = library.create(&class);
        assert_eq!(initialize(&object, &info), answer);
        assert_eq!(info.references(), 1, "while the object lives on");
        let logged = library.take_log();
        assert!(
            logged.starts_with(log) && logged.lines().count() == 1,
            "{logged}"
        );
        assert_eq!(attach(&object, &info, &[]), answer);
        assert_eq!((info.references(), info.masks()), (1, vec![]));
        assert_eq!(module_load_finished(&object), sys::S_OK);
        assert_eq!(references(&object), 1);
        drop(object);
        assert!(library.can_unload());
        library.take_log();
    }
}

#[test]
fn a_second_start_is_refused_and_the_first_goes_on() {
    let library = Library::load();
    let (info, other) = (FakeInfo::new(), FakeInfo::new());
    let object = library.create(&LOW_EVENTS);
    assert_eq!(initialize(&object, &info), sys::S_OK);
    library.take_log();
    let again: [&dyn Fn() -> HRESULT; 3] = [
        &|| initialize(&object, &info),
        &|| initialize(&object, &other),
        &|| attach(&object, &other, &[]),
    ];
    for again in again {
        assert_eq!(again(), sys::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
        let log = library.take_log();
        assert!(
            log.ends_with("the profiler is already initialised\n"),
            "{log}"
        );
        assert_eq!(log.lines().count(), 1, "no other profiler was made: {log}");
    }
    assert_eq!((info.references(), other.references()), (2, 1));
    assert_eq!((info.masks().len(), other.masks().len()), (1, 0));
    assert_eq!(module_load_finished(&object), sys::S_OK);
    assert!(library.take_log().starts_with("module 7 "));
    drop(object);
    assert_eq!(
        (library.take_log().as_str(), info.references()),
        ("dropped\n", 1)
    );
}

#[test]
fn events_that_the_runtime_refuses_end_the_start() {
    let library = Library::load();
    for answer in [
        sys::CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE,
        sys::E_INVALIDARG,
    ] {
        let info = FakeInfo::new();
        info.answer_to_mask(answer);
        let object = library.create(&LOW_EVENTS);
        assert_eq!(initialize(&object, &info), answer);
        let log = library.take_log();
        assert!(
            log.contains("initialize failed: ICorProfilerInfo5::SetEventMask2"),
            "{log}"
        );
        assert_eq!(info.masks(), [(LOW, Some(high(9)))]);
        assert_eq!(module_load_finished(&object), sys::S_OK);
        assert_eq!(library.take_log(), "", "no callback reaches it");
        // Not even if the runtime changes its answer.
        info.answer_to_mask(sys::S_OK);
        assert_eq!(
            initialize(&object, &info),
            sys::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
        );
        drop(object);
        assert_eq!(info.references(), 1);
        assert!(library.take_log().ends_with("dropped\n"));
    }
    assert!(library.can_unload());
}

#[test]
fn a_success_code_that_is_not_zero_is_a_success() {
    let library = Library::load();
    let info = FakeInfo::new();
    info.answer_to_mask(sys::S_FALSE);
    let object = library.create(&LOW_EVENTS);
    assert_eq!(initialize(&object, &info), sys::S_OK);
}

#[test]
fn an_attached_profiler_gets_the_data_of_its_trigger() {
    let library = Library::load();
    let info = FakeInfo::new();
    let cases: [(*const u8, u32, &str); 3] = [
        ([1, 2, 3].as_ptr(), 3, "[1, 2, 3]"),
        (ptr::null(), 5, "[]"),
        (ptr::dangling(), 0, "[]"),
    ];
    for (data, length, shown) in cases {
        let object = library.create(&LOW_EVENTS);
        let data = data.cast_mut().cast();
        // SAFETY: the fake lives; the data is null or has this length.
        let answer = unsafe { object.InitializeForAttach(info.as_raw(), data, length) };
        assert_eq!(answer, sys::S_OK);
        assert_eq!(
            library.take_log(),
            format!("attached with {shown}\nversion 14\n")
        );
        drop(object);
        library.take_log();
    }
    assert_eq!(info.references(), 1);
}

#[test]
fn an_attached_profiler_cannot_have_every_event() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = library.create(&COUNTS);
    assert_eq!(
        attach(&object, &info, &[]),
        sys::CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER
    );
    let log = library.take_log();
    assert!(log.starts_with("initialize_for_attach failed: "), "{log}");
    assert!(log.contains("ENABLE_OBJECT_ALLOCATED"), "{log}");
    assert_eq!(info.masks(), [], "the runtime was not asked");
    drop(object);
    assert_eq!(info.references(), 1);
}

#[test]
fn a_profiler_is_a_main_one_unless_it_says_otherwise() {
    let library = Library::load();
    let object = library.create(&LOW_EVENTS);
    let mut answer = BOOL(7);
    // SAFETY: the address for the answer, or null.
    unsafe {
        assert_eq!(object.LoadAsNotificationOnly(&mut answer), sys::S_OK);
        assert_eq!(object.LoadAsNotificationOnly(ptr::null_mut()), sys::S_OK);
    }
    assert_eq!(answer, BOOL(0));
}
