//! The callback object driven through its vtable, as the runtime does it: reference counts are
//! exact, whatever number of threads holds references.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clr_profiler_launcher::find_library_beside;
use clr_profiler_sys as sys;
use libloading::Library;
use sys::{
    GUID, HRESULT, IClassFactory, ICorProfilerCallback, ICorProfilerCallback2,
    ICorProfilerCallback11, IUnknown, Interface, InterfaceFacts,
};

/// The tests share what the library counts.
static ALONE: Mutex<()> = Mutex::new(());

const NULL_PROFILER: GUID = GUID::from_u128(0xC0DE0000_0000_4000_8000_000000000001);
const FAILS_TO_START: GUID = GUID::from_u128(0xC0DE0000_0000_4000_8000_000000000003);

/// The slots of `ICorProfilerInfo5`, with those of the interfaces before it.
const SLOTS: usize = size_of::<sys::ICorProfilerInfo5_Vtbl>() / size_of::<usize>();

/// An `ICorProfilerInfo5` that counts its references and takes every event mask.
#[repr(C)]
struct FakeInfo {
    vtable: [usize; SLOTS],
    // The interface pointer points here.
    object: *const [usize; SLOTS],
    references: AtomicU32,
}

impl FakeInfo {
    fn new() -> Box<Self> {
        let mut vtable =
            [not_implemented as unsafe extern "system" fn() -> HRESULT as usize; SLOTS];
        vtable[0] = query as unsafe extern "system" fn(_, _, _) -> _ as usize;
        vtable[1] = add_ref as unsafe extern "system" fn(_) -> _ as usize;
        vtable[2] = release as unsafe extern "system" fn(_) -> _ as usize;
        for (methods, name) in [
            (sys::ICorProfilerInfo3::METHODS, "GetRuntimeInformation"),
            (sys::ICorProfilerInfo5::METHODS, "SetEventMask2"),
        ] {
            let method = methods.iter().find(|method| method.name == name).unwrap();
            vtable[method.slot] = succeed as unsafe extern "system" fn() -> HRESULT as usize;
        }
        let mut fake = Box::new(Self {
            vtable,
            object: ptr::null(),
            references: AtomicU32::new(1),
        });
        fake.object = &raw const fake.vtable;
        fake
    }

    fn interface(&self) -> *mut c_void {
        (&raw const self.object).cast_mut().cast()
    }

    fn references(&self) -> u32 {
        self.references.load(Ordering::SeqCst)
    }
}

/// The fake behind its interface pointer.
///
/// # Safety
///
/// `this` is the interface pointer of a `FakeInfo` that lives.
unsafe fn fake<'a>(this: *mut c_void) -> &'a AtomicU32 {
    let distance =
        std::mem::offset_of!(FakeInfo, references) - std::mem::offset_of!(FakeInfo, object);
    // SAFETY: both fields are parts of the same `FakeInfo`, this far apart.
    unsafe { &*this.byte_add(distance).cast::<AtomicU32>() }
}

unsafe extern "system" fn query(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    let known = [
        IUnknown::IID,
        sys::ICorProfilerInfo::IID,
        sys::ICorProfilerInfo2::IID,
        sys::ICorProfilerInfo3::IID,
        sys::ICorProfilerInfo4::IID,
        sys::ICorProfilerInfo5::IID,
    ];
    // SAFETY: COM's rules: a GUID and a place for a pointer.
    let (iid, out) = unsafe { (&*iid, &mut *out) };
    if known.contains(iid) {
        // SAFETY: the caller holds a reference.
        unsafe { add_ref(this) };
        *out = this;
        sys::S_OK
    } else {
        *out = ptr::null_mut();
        sys::E_NOINTERFACE
    }
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }.fetch_add(1, Ordering::SeqCst) + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }.fetch_sub(1, Ordering::SeqCst) - 1
}

// Further arguments are ignored, which the calling convention allows.
unsafe extern "system" fn not_implemented() -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn succeed() -> HRESULT {
    sys::S_OK
}

type GetClassObject = unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> i32;
type CanUnloadNow = extern "system" fn() -> i32;

fn library() -> Library {
    let test = std::env::current_exe().unwrap();
    let path = find_library_beside(test, "scenario_profilers").unwrap();
    // SAFETY: it is our own library, whose initialisers do nothing.
    unsafe { Library::new(path) }.unwrap()
}

fn class_factory(library: &Library, clsid: &GUID) -> Result<IClassFactory, i32> {
    // SAFETY: the export has this signature.
    let get = unsafe { library.get::<GetClassObject>(b"DllGetClassObject") }.unwrap();
    let mut out = ptr::without_provenance_mut(1);
    // SAFETY: two GUIDs and a place for a pointer.
    let answer = unsafe { get(clsid, &IClassFactory::IID, &mut out) };
    if answer == sys::S_OK.0 {
        // SAFETY: success gives a reference to the interface that was asked for.
        Ok(unsafe { IClassFactory::from_raw(out) })
    } else {
        assert!(out.is_null(), "a failure leaves no pointer behind");
        Err(answer)
    }
}

fn create(factory: &IClassFactory) -> ICorProfilerCallback2 {
    let mut out = ptr::null_mut();
    // SAFETY: no aggregation, a GUID and a place for a pointer.
    let answer =
        unsafe { factory.CreateInstance(ptr::null_mut(), &ICorProfilerCallback2::IID, &mut out) };
    assert_eq!(answer, sys::S_OK);
    // SAFETY: success gives a reference to the interface that was asked for.
    unsafe { ICorProfilerCallback2::from_raw(out) }
}

/// How many references an object has: one is taken and given back.
fn references(object: &impl Interface) -> u32 {
    let mut unknown = ptr::null_mut();
    // SAFETY: a GUID and a place for a pointer.
    let answer = unsafe { object.query(&IUnknown::IID, &mut unknown) };
    assert_eq!(answer, sys::S_OK);
    // SAFETY: the reference is given back by this very call.
    unsafe {
        let vtable = *unknown.cast::<*const sys::IUnknown_Vtbl>();
        ((*vtable).Release)(unknown)
    }
}

fn can_unload(library: &Library) -> bool {
    // SAFETY: the export has this signature.
    let can = unsafe { library.get::<CanUnloadNow>(b"DllCanUnloadNow") }.unwrap();
    can() == sys::S_OK.0
}

#[test]
fn references_are_exact_under_sixteen_threads() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let library = library();
    assert!(can_unload(&library));
    let factory = class_factory(&library, &NULL_PROFILER).unwrap();
    let object = create(&factory);
    assert_eq!((references(&factory), references(&object)), (1, 1));
    let info = FakeInfo::new();
    // SAFETY: the fake lives until the end of the test.
    assert_eq!(unsafe { object.Initialize(info.interface()) }, sys::S_OK);
    assert_eq!(info.references(), 2, "one for us, one for the profiler");

    let raw = object.as_raw() as usize;
    thread::scope(|scope| {
        for number in 0..16_u32 {
            scope.spawn(move || {
                let raw = raw as *mut c_void;
                // SAFETY: `object` outlives the threads.
                let shared = unsafe { ICorProfilerCallback2::from_raw_borrowed(&raw) }.unwrap();
                let mut held = Vec::new();
                for step in 0..20_000_u32 {
                    match (step.wrapping_mul(2_654_435_761) >> 16).wrapping_add(number) % 4 {
                        0 => held.push(shared.cast::<IUnknown>().unwrap()),
                        1 => held.push(
                            shared
                                .cast::<ICorProfilerCallback11>()
                                .unwrap()
                                .cast()
                                .unwrap(),
                        ),
                        2 => drop(held.pop()),
                        _ => assert!(shared.cast::<sys::ICorProfilerInfo>().is_err()),
                    }
                }
            });
        }
    });
    assert_eq!(references(&object), 1);
    assert!(!can_unload(&library));
    drop(object);
    assert_eq!(
        info.references(),
        1,
        "the object is gone, and with it its reference"
    );
    assert!(!can_unload(&library), "there is still the factory");
    drop(factory);
    assert!(can_unload(&library));
}

#[test]
fn a_profiler_that_fails_to_start_keeps_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let library = library();
    let object = create(&class_factory(&library, &FAILS_TO_START).unwrap());
    let info = FakeInfo::new();
    // SAFETY: the fake lives until the end of the test.
    assert_eq!(unsafe { object.Initialize(info.interface()) }, sys::E_FAIL);
    assert_eq!(info.references(), 1);
    // SAFETY: any callback may come at any time.
    unsafe {
        assert_eq!(object.JITCompilationStarted(1, true.into()), sys::S_OK);
        assert_eq!(object.Initialize(ptr::null_mut()), sys::E_FAIL);
    }
    drop(object);
    assert!(can_unload(&library));
}

#[test]
fn after_shutdown_the_object_stays() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let library = library();
    let object = create(&class_factory(&library, &NULL_PROFILER).unwrap());
    let info = FakeInfo::new();
    // SAFETY: the fake lives until the end of the test; and the object, by what is tested here,
    // for ever.
    unsafe {
        assert_eq!(object.Initialize(info.interface()), sys::S_OK);
        assert_eq!(object.Shutdown(), sys::S_OK);
        let raw = object.as_raw();
        drop(object);
        let late = ICorProfilerCallback::from_raw_borrowed(&raw).unwrap();
        assert_eq!(late.ModuleLoadFinished(1, sys::S_OK), sys::S_OK);
        assert_eq!(late.Shutdown(), sys::S_OK);
    }
    assert_eq!(info.references(), 2, "it still holds what it held");
    assert!(!can_unload(&library));
    // It holds the fake for ever, and so must this test.
    Box::leak(info);
}

#[test]
fn what_is_not_there_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let library = library();
    let unknown = GUID::from_u128(0x1234);
    assert_eq!(
        class_factory(&library, &unknown).err(),
        Some(sys::CLASS_E_CLASSNOTAVAILABLE.0)
    );
    let factory = class_factory(&library, &NULL_PROFILER).unwrap();
    let mut out = ptr::without_provenance_mut(1);
    // SAFETY: aggregation is refused before the outer object is looked at.
    unsafe {
        let outer = factory.as_raw();
        let answer = factory.CreateInstance(outer, &IUnknown::IID, &mut out);
        assert_eq!(answer, sys::CLASS_E_NOAGGREGATION);
        assert!(out.is_null());
        let answer = factory.CreateInstance(ptr::null_mut(), &IClassFactory::IID, &mut out);
        assert_eq!(answer, sys::E_NOINTERFACE);
        assert!(out.is_null());
    }
}
