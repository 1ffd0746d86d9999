//! What the library exports: the runtime asks it for a class, and the class for an object.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use uuid::Uuid;

use super::class::Class;
use super::object::{OBJECTS, Object};
use crate::native::{self, Com, cleared, unknown, value};
use crate::profiler;
use crate::runtime::uuid_of;
use clr_profiler_sys as sys;
use sys::{
    BOOL, GUID, HRESULT, IClassFactory, IClassFactory_Vtbl, IUnknown, IUnknown_Vtbl, Interface,
};

/// How many class factories exist, for [`can_unload_now`].
static FACTORIES: AtomicU32 = AtomicU32::new(0);

/// How many times the library is locked, for [`can_unload_now`].
static LOCKS: AtomicU32 = AtomicU32::new(0);

/// What a class factory makes; it is counted while it is there.
struct Factory(Class);

impl Factory {
    fn new(class: Class) -> Self {
        FACTORIES.fetch_add(1, Ordering::Relaxed);
        Self(class)
    }
}

impl Clone for Factory {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Factory {
    fn drop(&mut self) {
        FACTORIES.fetch_sub(1, Ordering::Relaxed);
    }
}

static FACTORY: IClassFactory_Vtbl = IClassFactory_Vtbl {
    base__: unknown::<Factory>(),
    CreateInstance: create_instance,
    LockServer: lock_server,
};

// SAFETY: the vtable is that of class factories, with functions for them.
unsafe impl Com for Factory {
    fn vtable(iid: &GUID) -> Option<*const IUnknown_Vtbl> {
        [IUnknown::IID, IClassFactory::IID]
            .contains(iid)
            .then_some(&FACTORY.base__)
    }
}

unsafe extern "system" fn create_instance(
    this: *mut c_void,
    outer: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller passes null or space for a pointer.
    unsafe { cleared(out) };
    if !outer.is_null() {
        return sys::CLASS_E_NOAGGREGATION;
    }
    // SAFETY: the caller holds a reference to the factory.
    let Factory(class) = unsafe { value::<Factory>(this) };
    let object = Object::create(*class);
    // SAFETY: the object is new and we own its one reference; the other two are as COM says.
    let answer = unsafe { Object::query(object, iid, out) };
    // SAFETY: ours is given up: either the caller has one now, or nobody.
    unsafe { Object::release(object) };
    answer
}

unsafe extern "system" fn lock_server(_this: *mut c_void, lock: BOOL) -> HRESULT {
    let count = |locks: u32| {
        if lock.as_bool() {
            locks.checked_add(1)
        } else {
            locks.checked_sub(1)
        }
    };
    match LOCKS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) {
        Ok(_) => sys::S_OK,
        Err(_) => sys::E_UNEXPECTED,
    }
}

/// `DllGetClassObject`: a class factory for the class with this id.
///
/// # Safety
///
/// As COM says: `clsid` and `iid` are null or point to GUIDs, `out` is null or points to space for
/// a pointer.
pub unsafe fn get_class_object(
    classes: &[Class],
    clsid: *const c_void,
    iid: *const c_void,
    out: *mut *mut c_void,
) -> i32 {
    // SAFETY: as the caller promises.
    let (clsid, slot) = unsafe { (clsid.cast::<GUID>().as_ref(), cleared(out)) };
    let (Some(clsid), Some(slot)) = (clsid, slot) else {
        return sys::E_POINTER.0;
    };
    let clsid = uuid_of(clsid);
    let Some(class) = classes.iter().find(|class| class.clsid == clsid) else {
        tell_unknown(&clsid, classes);
        return sys::CLASS_E_CLASSNOTAVAILABLE.0;
    };
    // SAFETY: null or a GUID, as the caller promises.
    let Some(iid) = (unsafe { iid.cast::<GUID>().as_ref() }) else {
        return sys::E_POINTER.0;
    };
    let Some(factory) = native::Object::new(Factory::new(*class), iid) else {
        return sys::E_NOINTERFACE.0;
    };
    // The reference goes to the caller.
    *slot = factory.as_raw();
    std::mem::forget(factory);
    sys::S_OK.0
}

/// Nothing else tells that the class id is a wrong one.
#[cold]
fn tell_unknown(clsid: &Uuid, classes: &[Class]) {
    let known: Vec<String> = classes
        .iter()
        .map(|class| format!("{{{}}}", class.clsid.hyphenated()))
        .collect();
    profiler::write(&format_args!(
        "no profiler runs, the program does: the library has no {{{}}}, it has {}",
        clsid.hyphenated(),
        known.join(", ")
    ));
}

/// `DllCanUnloadNow`: whether nobody uses the library any more.
#[must_use]
pub fn can_unload_now() -> i32 {
    let counts = [&FACTORIES, &LOCKS, &OBJECTS];
    if counts
        .iter()
        .all(|count| count.load(Ordering::Relaxed) == 0)
    {
        sys::S_OK.0
    } else {
        sys::S_FALSE.0
    }
}
