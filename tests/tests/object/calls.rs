//! Callbacks at the wrong time, and with empty arguments.

use std::ffi::c_void;
use std::ptr;

use clr_profiler::events::Callback;
use clr_profiler_sys as sys;
use sys::facts::INTERFACES;
use sys::{BOOL, GUID, HRESULT, ICorProfilerCallback11, Interface};

use crate::fake::FakeInfo;
use crate::library::{ASKS_IN_COLLECTION, COUNTS, FAILS, LOW_EVENTS, Library, PANICS};

/// A callback with as many arguments as the longest one.
type AnyCallback = unsafe extern "system" fn(
    *mut c_void,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> HRESULT;

/// The callbacks that are not about the profiler's own life, each with its slot.
fn callbacks() -> impl Iterator<Item = (Callback, usize)> {
    let methods = INTERFACES.iter().copied().flatten().flat_map(|row| {
        row.methods
            .iter()
            .map(move |method| (format!("{}::{}", row.name, method.name), method))
    });
    let methods: Vec<_> = methods.collect();
    let callbacks = Callback::ALL.iter().filter(|callback| {
        use Callback::*;
        !matches!(
            callback,
            Initialize | InitializeForAttach | Shutdown | LoadAsNotificationOnly
        )
    });
    callbacks.map(move |callback| {
        let found = methods
            .iter()
            .find(|(name, _)| name == callback.native_name());
        let (_, method) = found.unwrap();
        assert!(method.parameters.len() <= 12);
        (*callback, method.slot)
    })
}

/// Calls every callback with zeros: ids of nothing, null pointers, lengths of zero.
fn call_everything_with_nothing(object: &ICorProfilerCallback11) {
    let raw = object.as_raw();
    for (callback, slot) in callbacks() {
        // SAFETY: the slot holds a function of the object's vtable. All its arguments are integers
        // or pointers, for which zeros can be passed, and further arguments do no harm by the
        // calling convention of 64-bit platforms.
        let answer = unsafe {
            let vtable = *raw.cast::<*const AnyCallback>();
            (*vtable.add(slot))(raw, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        };
        let expected = match callback {
            Callback::GetReJITParameters => sys::S_FALSE,
            _ => sys::S_OK,
        };
        assert_eq!(answer, expected, "{callback:?}");
    }
}

fn started(library: &Library, class: &GUID, info: &FakeInfo) -> ICorProfilerCallback11 {
    let object = library.create(class);
    // SAFETY: each test keeps its fake longer than the object.
    assert_eq!(unsafe { object.Initialize(info.as_raw()) }, sys::S_OK);
    library.take_log();
    object
}

#[test]
fn before_the_start_nothing_reaches_the_profiler() {
    let library = Library::load();
    for class in [LOW_EVENTS, ASKS_IN_COLLECTION, PANICS] {
        let object = library.create(&class);
        call_everything_with_nothing(&object);
        assert_eq!(library.take_log(), "");
    }
    assert!(library.can_unload());
}

#[test]
fn every_callback_reaches_its_method_and_after_shutdown_none() {
    let library = Library::load_copy();
    let info = Box::leak(FakeInfo::new());
    let object = started(&library, &COUNTS, info);
    call_everything_with_nothing(&object);
    call_everything_with_nothing(&object);
    // SAFETY: any callback may be called at any time.
    assert_eq!(unsafe { object.Shutdown() }, sys::S_OK);
    let log = library.take_log();
    let mut counted: Vec<&str> = log.lines().collect();
    // These three are not called without the method or the interface that they are about.
    let without: Vec<&str> = [
        "get_assembly_references",
        "get_rejit_parameters",
        "rejit_error",
    ]
    .into_iter()
    .filter(|name| {
        counted
            .iter()
            .any(|line| line.starts_with(&format!("{name} failed: ")))
    })
    .collect();
    assert_eq!(without.len(), 3, "{log}");
    counted.retain(|line| !line.contains(" failed: "));
    let mut expected: Vec<String> = callbacks()
        .filter(|(callback, _)| !without.contains(&callback.name()))
        .map(|(callback, _)| format!("{} 2", callback.name()))
        .chain(["shutdown 1".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(counted, expected);

    call_everything_with_nothing(&object);
    // SAFETY: as above.
    assert_eq!(unsafe { object.Shutdown() }, sys::S_OK);
    assert_eq!(library.take_log(), "");
}

#[test]
fn whatever_fails_the_runtime_hears_nothing_of_it() {
    let library = Library::load();
    let info = FakeInfo::new();
    for (class, problem) in [(FAILS, " failed: as always"), (PANICS, " panicked: in ")] {
        let object = started(&library, &class, &info);
        call_everything_with_nothing(&object);
        let mut log = library.take_log();
        // The fake runtime is .NET 8, where the library itself handles the unload of a module.
        let lines = log.split_inclusive('\n');
        log = lines
            .filter(|line| !line.contains("`clr_profiler`"))
            .collect();
        let told = log.lines().filter(|line| line.contains(problem)).count();
        // Three are not reached.
        assert_eq!(told + 3, callbacks().count(), "{log}");
        assert_eq!(log.lines().count(), callbacks().count(), "each once: {log}");
    }
    assert_eq!(info.references(), 1);
}

#[test]
fn a_question_is_answered_with_true_unless_the_profiler_says_no() {
    let library = Library::load();
    let info = FakeInfo::new();
    let ask = |object: &ICorProfilerCallback11, caller, callee| {
        let mut answers = [false.into(), true.into()];
        for answer in &mut answers {
            // SAFETY: the address for the answer.
            let hresult = unsafe { object.JITInlining(caller, callee, answer) };
            assert_eq!(hresult, sys::S_OK);
        }
        // SAFETY: null is the tested argument.
        let hresult = unsafe { object.JITInlining(caller, callee, ptr::null_mut()) };
        assert_eq!(hresult, sys::S_OK);
        answers.map(BOOL::as_bool)
    };
    let object = started(&library, &LOW_EVENTS, &info);
    assert_eq!(ask(&object, 1, 2), [true; 2]);
    assert_eq!(ask(&object, 1, 1), [false; 2]);
    assert_eq!(
        ask(&library.create(&LOW_EVENTS), 1, 1),
        [true; 2],
        "not started"
    );
    for class in [FAILS, PANICS] {
        let object = started(&library, &class, &info);
        assert_eq!(ask(&object, 1, 1), [true; 2]);
        let mut use_it = BOOL(0);
        // SAFETY: the address for the answer, or null.
        unsafe {
            let answer = object.JITCachedFunctionSearchStarted(1, &mut use_it);
            assert_eq!((answer, use_it.as_bool()), (sys::S_OK, true));
            let answer = object.JITCachedFunctionSearchStarted(1, ptr::null_mut());
            assert_eq!(answer, sys::S_OK);
        }
    }
}

#[test]
fn arrays_may_be_missing_or_empty() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &ASKS_IN_COLLECTION, &info);
    let (old, new, lengths) = ([0x10, 0x50], [0x20, 0x60], [8, 1 << 33]);
    let none = ptr::null();
    // SAFETY: each pointer is null or has as many elements as its length says.
    unsafe {
        let answer = object.MovedReferences2(2, old.as_ptr(), new.as_ptr(), lengths.as_ptr());
        assert_eq!(answer, sys::S_OK);
        let moved = library.take_log();
        assert!(moved.contains("length: 8 }") && moved.contains("length: 8589934592 }"));
        // All missing, some missing, none there.
        for (count, old, new, lengths) in [
            (5, none, none, none),
            (2, old.as_ptr(), none, lengths.as_ptr()),
            (2, none, new.as_ptr(), lengths.as_ptr()),
            (0, old.as_ptr(), new.as_ptr(), lengths.as_ptr()),
            (0, ptr::dangling(), ptr::dangling(), ptr::dangling()),
        ] {
            assert_eq!(object.MovedReferences2(count, old, new, lengths), sys::S_OK);
            assert_eq!(library.take_log(), "moved []\n");
        }
        let without_lengths = object.MovedReferences2(2, old.as_ptr(), new.as_ptr(), none);
        assert_eq!(without_lengths, sys::S_OK);
        assert_eq!(library.take_log().matches("length: 0 }").count(), 2);

        let (kinds, flags) = ([0, 1], [1, 0]);
        let roots = |count, objects, kinds, flags, ids| {
            assert_eq!(
                object.RootReferences2(count, objects, kinds, flags, ids),
                sys::S_OK
            );
            library.take_log()
        };
        let all = roots(
            2,
            old.as_ptr(),
            kinds.as_ptr(),
            flags.as_ptr(),
            new.as_ptr(),
        );
        assert_eq!(all, "roots 2\n");
        assert_eq!(roots(9, none, ptr::null(), ptr::null(), none), "roots 0\n");
        assert_eq!(
            roots(2, old.as_ptr(), ptr::null(), flags.as_ptr(), none),
            "roots 0\n"
        );
        assert_eq!(roots(0, none, ptr::null(), ptr::null(), none), "roots 0\n");
    }
}

#[test]
fn generations_may_be_missing_or_negative() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &ASKS_IN_COLLECTION, &info);
    let collected = [BOOL(1), BOOL(0), BOOL(-1)];
    for (count, generations, shown) in [
        (3, collected.as_ptr(), "GenerationSet(5)"),
        (0, collected.as_ptr(), "GenerationSet(0)"),
        (-1, collected.as_ptr(), "GenerationSet(0)"),
        (3, ptr::null(), "GenerationSet(0)"),
        (i32::MIN, ptr::null(), "GenerationSet(0)"),
    ] {
        // SAFETY: the pointer is null or has that many elements.
        let answer = unsafe { object.GarbageCollectionStarted(count, generations, 77) };
        assert_eq!(answer, sys::S_OK);
        let log = library.take_log();
        assert!(
            log.starts_with(&format!("started {shown} Unknown(77)\n")),
            "{log}"
        );
    }
}

#[test]
fn names_may_be_missing_or_broken() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &LOW_EVENTS, &info);
    // Not every name is terminated by a zero, and not every name is valid UTF-16.
    let name = [0x57, 0xD800, 0x6B];
    for (length, name, shown) in [
        (3, name.as_ptr(), "\"W\u{FFFD}k\""),
        (1, name.as_ptr(), "\"W\""),
        (0, name.as_ptr(), "\"\""),
        (5, ptr::null(), "\"\""),
    ] {
        // SAFETY: the pointer is null or has that many units.
        let answer = unsafe { object.ThreadNameChanged(3, length, name) };
        assert_eq!(answer, sys::S_OK);
        assert_eq!(library.take_log(), format!("thread 3 {shown}\n"));
    }
}

#[test]
fn what_must_not_be_missing_is_told_to_the_author() {
    let library = Library::load();
    let info = FakeInfo::new();
    let object = started(&library, &FAILS, &info);
    let path = [0x61, 0];
    let (method, field) = (0x0600_0001, 0x0400_0001);
    // SAFETY: null, or text that is terminated by a zero.
    unsafe {
        for path in [ptr::null(), path.as_ptr()] {
            assert_eq!(
                object.GetAssemblyReferences(path, ptr::null_mut()),
                sys::S_OK
            );
            let log = library.take_log();
            assert!(
                log.contains("no ICorProfilerAssemblyReferenceProvider"),
                "{log}"
            );
        }
        let answer = object.GetReJITParameters(1, method, ptr::null_mut());
        assert_eq!(answer, sys::S_FALSE);
        let log = library.take_log();
        assert!(log.contains("no ICorProfilerFunctionControl"), "{log}");
        // A token of another kind is not a method.
        assert_eq!(
            object.GetReJITParameters(1, field, ptr::null_mut()),
            sys::S_FALSE
        );
        assert!(
            library
                .take_log()
                .starts_with("get_rejit_parameters failed: ")
        );
        assert_eq!(object.ReJITError(1, field, 0, sys::E_FAIL), sys::S_OK);
        assert!(library.take_log().starts_with("rejit_error failed: "));
    }
}
