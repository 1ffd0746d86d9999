//! The exports of the library, and its class factories.

use std::ffi::c_void;
use std::ptr;

use clr_profiler_sys as sys;
use sys::facts::INTERFACES;
use sys::{GUID, HRESULT, IClassFactory, IUnknown, Interface};

use crate::library::{LOW_EVENTS, Library, NULL, as_unknown, query, references, release};

const STRANGER: GUID = GUID::from_u128(0x1234);

/// A dangling pointer, never followed: a failure must replace it.
fn garbage() -> *mut c_void {
    ptr::without_provenance_mut(1)
}

/// The interfaces of the callback object with the oldest first: `IUnknown` and eleven more.
pub(crate) fn callback_interfaces() -> Vec<GUID> {
    let rows = INTERFACES.iter().copied().flatten();
    let callbacks = rows.filter(|row| row.name.starts_with("ICorProfilerCallback"));
    let iids: Vec<GUID> = [IUnknown::IID]
        .into_iter()
        .chain(callbacks.map(|row| row.iid))
        .collect();
    assert_eq!(iids.len(), 12);
    iids
}

#[test]
fn a_class_that_is_not_there_is_refused() {
    let library = Library::load();
    for class in [STRANGER, GUID::zeroed(), IUnknown::IID] {
        let mut out = garbage();
        // SAFETY: two GUIDs and the address of a pointer.
        let answer = unsafe { library.get_class_object(&class, &IClassFactory::IID, &mut out) };
        assert_eq!(
            (answer, out),
            (sys::CLASS_E_CLASSNOTAVAILABLE, ptr::null_mut())
        );
    }
    assert!(library.can_unload());
}

#[test]
fn a_factory_has_its_two_interfaces_and_no_other() {
    let library = Library::load();
    let get = |iid: &GUID| {
        let mut out = garbage();
        // SAFETY: two GUIDs and the address of a pointer.
        let answer = unsafe { library.get_class_object(&NULL, iid, &mut out) };
        (answer, out)
    };
    let (answer, factory) = get(&IUnknown::IID);
    assert_eq!(answer, sys::S_OK);
    // SAFETY: success gives a reference to the requested interface.
    let factory = unsafe { IUnknown::from_raw(factory) };
    assert_eq!(references(&factory), 1);
    let same: IClassFactory = factory.cast().unwrap();
    assert_eq!(same.as_raw(), factory.as_raw());
    assert_eq!(references(&factory), 2);
    drop(same);

    for stranger in [STRANGER, sys::ICorProfilerCallback::IID] {
        assert_eq!(get(&stranger), (sys::E_NOINTERFACE, ptr::null_mut()));
        let mut out = garbage();
        // SAFETY: a GUID and the address of a pointer.
        let answer = unsafe { query(&factory, &stranger, &mut out) };
        assert_eq!((answer, out), (sys::E_NOINTERFACE, ptr::null_mut()));
    }
    assert_eq!(references(&factory), 1);
    drop(factory);
    assert!(library.can_unload(), "a factory that was refused is gone");
}

#[test]
fn null_pointers_are_refused() {
    let library = Library::load();
    let iid = &IClassFactory::IID;
    let none: *mut c_void = ptr::null_mut();
    // On a refusal the output, if there is one, is null.
    let refused = |ask: &dyn Fn(*mut *mut c_void) -> HRESULT| {
        let mut out = garbage();
        assert_eq!((ask(&mut out), out), (sys::E_POINTER, ptr::null_mut()));
    };
    let factory = library.factory(&NULL);
    let object = library.create(&NULL);
    // SAFETY: null, or GUIDs and the address of a pointer.
    unsafe {
        refused(&|out| library.get_class_object(ptr::null(), iid, out));
        refused(&|out| library.get_class_object(&NULL, ptr::null(), out));
        refused(&|out| query(&factory, ptr::null(), out));
        refused(&|out| query(&object, ptr::null(), out));
        refused(&|out| factory.CreateInstance(none, ptr::null(), out));
        for answer in [
            library.get_class_object(&NULL, iid, ptr::null_mut()),
            query(&factory, iid, none.cast()),
            query(&object, &IUnknown::IID, none.cast()),
            factory.CreateInstance(none, &IUnknown::IID, none.cast()),
        ] {
            assert_eq!(answer, sys::E_POINTER);
        }
    }
    assert_eq!((references(&factory), references(&object)), (1, 1));
    drop((factory, object));
    assert!(library.can_unload());
}

#[test]
fn an_object_is_made_as_each_of_its_interfaces() {
    let library = Library::load();
    let factory = library.factory(&NULL);
    let create = |iid: &GUID| {
        let mut out = garbage();
        // SAFETY: no aggregation, a GUID and the address of a pointer.
        let answer = unsafe { factory.CreateInstance(ptr::null_mut(), iid, &mut out) };
        (answer, out)
    };
    for iid in callback_interfaces() {
        let (answer, object) = create(&iid);
        assert_eq!(answer, sys::S_OK, "{iid:?}");
        // SAFETY: success gives a reference to an interface, and each begins with `IUnknown`.
        let object = unsafe { IUnknown::from_raw(object) };
        assert_eq!(references(&object), 1);
    }
    for stranger in [STRANGER, IClassFactory::IID, sys::ICorProfilerInfo::IID] {
        assert_eq!(create(&stranger), (sys::E_NOINTERFACE, ptr::null_mut()));
    }
    assert_eq!(references(&factory), 1);
    drop(factory);
    assert!(library.can_unload(), "objects without a reference are gone");
}

#[test]
fn aggregation_is_refused() {
    let library = Library::load();
    let factory = library.factory(&NULL);
    let outer = library.create(&NULL);
    for iid in [IUnknown::IID, sys::ICorProfilerCallback::IID] {
        let mut out = garbage();
        // SAFETY: the outer object lives; a GUID and the address of a pointer.
        let answer = unsafe { factory.CreateInstance(outer.as_raw(), &iid, &mut out) };
        assert_eq!((answer, out), (sys::CLASS_E_NOAGGREGATION, ptr::null_mut()));
    }
    // SAFETY: the same without an address of a pointer.
    let answer = unsafe { factory.CreateInstance(outer.as_raw(), &IUnknown::IID, ptr::null_mut()) };
    assert_eq!(answer, sys::CLASS_E_NOAGGREGATION);
    assert_eq!(references(&outer), 1, "the outer object was not touched");
    drop((factory, outer));
    assert!(library.can_unload());
}

#[test]
fn the_library_stays_while_something_of_it_lives() {
    let library = Library::load();
    assert!(library.can_unload());
    let factory = library.factory(&NULL);
    assert!(!library.can_unload(), "a factory");
    let first = library.create(&NULL);
    let second = library.create(&LOW_EVENTS);
    drop(factory);
    assert!(!library.can_unload(), "two objects without a factory");
    drop(first);
    let again = as_unknown(&second);
    drop(second);
    assert!(!library.can_unload(), "one reference to one object");
    drop(again);
    assert!(library.can_unload());
}

#[test]
fn a_locked_server_stays() {
    let library = Library::load();
    let lock = |factory: &IClassFactory, lock: bool| -> HRESULT {
        // SAFETY: its only argument is a flag.
        unsafe { factory.LockServer(lock.into()) }
    };
    let factory = library.factory(&NULL);
    assert_eq!(lock(&factory, true), sys::S_OK);
    assert_eq!(lock(&factory, true), sys::S_OK);
    drop(factory);
    assert!(!library.can_unload(), "two locks");
    let factory = library.factory(&LOW_EVENTS);
    assert_eq!(lock(&factory, false), sys::S_OK);
    drop(factory);
    assert!(!library.can_unload(), "one lock");
    let factory = library.factory(&NULL);
    assert_eq!(lock(&factory, false), sys::S_OK);
    assert!(!library.can_unload(), "the factory itself");
    // An excess unlock does not make the library forget its live objects.
    assert_eq!(lock(&factory, false), sys::E_UNEXPECTED);
    assert!(!library.can_unload(), "the factory itself");
    drop(factory);
    assert!(library.can_unload());
}

#[test]
fn a_factory_counts_its_references() {
    let library = Library::load();
    let factory = library.factory(&NULL);
    let more: Vec<IUnknown> = (0..5).map(|_| as_unknown(&factory)).collect();
    assert_eq!(references(&factory), 6);
    drop(more);
    assert_eq!(references(&factory), 1);
    let raw = factory.as_raw();
    // SAFETY: a GUID and the address of a pointer; the reference is given back.
    unsafe {
        let mut out = garbage();
        assert_eq!(query(&factory, &IUnknown::IID, &mut out), sys::S_OK);
        assert_eq!(out, raw);
        assert_eq!(release(&factory), 1);
    }
    drop(factory);
    assert!(library.can_unload());
}
