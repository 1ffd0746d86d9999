//! The exports of the library: the runtime requests a class, and from the class an object.

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

/// The number of class factories, for [`can_unload_now`].
static FACTORIES: AtomicU32 = AtomicU32::new(0);

/// The number of locks on the library, for [`can_unload_now`].
static LOCKS: AtomicU32 = AtomicU32::new(0);

/// The class of a class factory. Counts the factories.
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

// SAFETY: the vtable is that of class factories, and its functions take one.
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
    // SAFETY: the object is new and this function owns its only reference; the other arguments follow the
    // rules of COM.
    let answer = unsafe { Object::query(object, iid, out) };
    // SAFETY: this function's own reference is released; the caller has another one, or there is none.
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

/// `DllGetClassObject`: returns a class factory for the class with this id.
///
/// # Safety
///
/// The rules of COM: `clsid` and `iid` are null or point to GUIDs, `out` is null or points to space for a
/// pointer.
pub unsafe fn get_class_object(
    classes: &[Class],
    clsid: *const c_void,
    iid: *const c_void,
    out: *mut *mut c_void,
) -> i32 {
    // SAFETY: the caller guarantees these pointers.
    let (clsid, slot) = unsafe { (clsid.cast::<GUID>().as_ref(), cleared(out)) };
    let (Some(clsid), Some(slot)) = (clsid, slot) else {
        return sys::E_POINTER.0;
    };
    let clsid = uuid_of(clsid);
    let Some(class) = classes.iter().find(|class| class.clsid == clsid) else {
        report_unknown(&clsid, classes);
        return sys::CLASS_E_CLASSNOTAVAILABLE.0;
    };
    // SAFETY: the caller guarantees null or a GUID.
    let Some(iid) = (unsafe { iid.cast::<GUID>().as_ref() }) else {
        return sys::E_POINTER.0;
    };
    let Some(factory) = native::Object::new(Factory::new(*class), iid) else {
        return sys::E_NOINTERFACE.0;
    };
    // The reference passes to the caller.
    *slot = factory.as_raw();
    std::mem::forget(factory);
    sys::S_OK.0
}

/// Reports a wrong class id, which nothing else reports.
#[cold]
fn report_unknown(clsid: &Uuid, classes: &[Class]) {
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

/// `DllCanUnloadNow`: whether the library is no longer used.
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
