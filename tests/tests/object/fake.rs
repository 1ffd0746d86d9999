//! A fake runtime: an `ICorProfilerInfo` of any version that counts calls and answers as configured.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use clr_profiler_sys as sys;
use sys::facts::{INTERFACES, InterfaceRow};
use sys::{GUID, HRESULT, IUnknown, Interface};

/// The action of `ForceGC` and `GetObjectSize2`: the fake runtime's ways to call back.
type Hook = Box<dyn Fn() + Send + Sync>;

/// A runtime that offers `ICorProfilerInfo` up to one version.
#[repr(C)]
pub(crate) struct FakeInfo {
    /// First, as in every COM object: the functions, by slot.
    vtable: Box<[usize]>,
    version: usize,
    /// The result of `GetRuntimeInformation`.
    major: u16,
    references: AtomicU32,
    /// The result of setting the event mask.
    answer_to_mask: AtomicI32,
    /// Each call of `SetEventMask` (no high half) and `SetEventMask2`.
    masks: Mutex<Vec<(u32, Option<u32>)>>,
    on_force_gc: Mutex<Option<Hook>>,
}

/// The versions of the interface, oldest first, by following the parents of the newest.
fn versions() -> Vec<&'static InterfaceRow> {
    let row_of = |name| {
        INTERFACES
            .iter()
            .copied()
            .flatten()
            .find(|row| row.name == name)
    };
    let mut rows: Vec<_> =
        std::iter::successors(row_of("ICorProfilerInfo15"), |row| row_of(row.parent)).collect();
    rows.reverse();
    rows
}

/// The beginning of a vtable, as that of an older interface.
fn older<V>(vtable: &mut [usize]) -> &mut V {
    assert!(size_of::<V>() <= size_of_val(vtable));
    // SAFETY: only called for vtables of the chain of `ICorProfilerInfo15`, each of which consists
    // of that of its parent and more function pointers; all slots contain functions already.
    unsafe { &mut *vtable.as_mut_ptr().cast::<V>() }
}

impl FakeInfo {
    /// The interfaces of .NET Core 3.1 and .NET 8, 9 and 10, with the version that each reports.
    pub(crate) const RUNTIMES: [(usize, u16); 4] = [(11, 4), (14, 8), (15, 9), (15, 10)];

    /// A runtime like .NET 8.
    pub(crate) fn new() -> Box<Self> {
        Self::offering(14, 8)
    }

    /// A runtime that offers `ICorProfilerInfo` up to this version, or none at all if it is 0.
    pub(crate) fn offering(version: usize, major: u16) -> Box<Self> {
        let newest = versions().pop().unwrap();
        // Each method says its slot; the last one of the newest interface is the last of all.
        let slots = newest.methods.last().unwrap().slot + 1;
        assert_eq!(slots * size_of::<usize>(), newest.vtable_size);
        let absent: unsafe extern "system" fn() -> HRESULT = not_implemented;
        let mut vtable = vec![absent as usize; slots].into_boxed_slice();

        let unknown = older::<sys::IUnknown_Vtbl>(&mut vtable);
        unknown.QueryInterface = query;
        unknown.AddRef = add_ref;
        unknown.Release = release;
        let first = older::<sys::ICorProfilerInfo_Vtbl>(&mut vtable);
        first.SetEventMask = set_event_mask;
        first.GetEventMask = get_event_mask;
        first.GetModuleInfo = get_module_info;
        first.GetClassFromObject = get_class_from_object;
        first.ForceGC = force_gc;
        older::<sys::ICorProfilerInfo3_Vtbl>(&mut vtable).GetRuntimeInformation =
            get_runtime_information;
        older::<sys::ICorProfilerInfo4_Vtbl>(&mut vtable).GetObjectSize2 = get_object_size2;
        let fifth = older::<sys::ICorProfilerInfo5_Vtbl>(&mut vtable);
        fifth.SetEventMask2 = set_event_mask2;
        fifth.GetEventMask2 = get_event_mask2;

        Box::new(Self {
            vtable,
            version,
            major,
            references: AtomicU32::new(1),
            answer_to_mask: AtomicI32::new(sys::S_OK.0),
            masks: Mutex::default(),
            on_force_gc: Mutex::default(),
        })
    }

    /// The argument of `Initialize`.
    pub(crate) fn as_raw(&self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// One reference is the test's own.
    pub(crate) fn references(&self) -> u32 {
        self.references.load(Ordering::SeqCst)
    }

    /// From now on, setting the event mask returns this.
    pub(crate) fn answer_to_mask(&self, answer: HRESULT) {
        self.answer_to_mask.store(answer.0, Ordering::SeqCst);
    }

    /// The masks that were set, each as its low and high half.
    pub(crate) fn masks(&self) -> Vec<(u32, Option<u32>)> {
        self.masks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// From now on `ForceGC` runs this, and so does `GetObjectSize2`, which is legal during a
    /// collection.
    pub(crate) fn on_force_gc(&self, hook: impl Fn() + Send + Sync + 'static) {
        *self
            .on_force_gc
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    }

    fn set_mask(&self, low: u32, high: Option<u32>) -> HRESULT {
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        masks.push((low, high));
        HRESULT(self.answer_to_mask.load(Ordering::SeqCst))
    }

    fn mask(&self) -> (u32, u32) {
        let masks = self.masks();
        masks
            .last()
            .map_or((0, 0), |(low, high)| (*low, high.unwrap_or(0)))
    }
}

/// The fake with this `this` pointer.
///
/// # Safety
///
/// `this` is the interface of a `FakeInfo` that lives: the test that created it outlives its calls.
unsafe fn fake<'a>(this: *mut c_void) -> &'a FakeInfo {
    // SAFETY: as the caller promises, and only shared references to it are ever made.
    unsafe { &*this.cast::<FakeInfo>() }
}

/// Every method that this fake does not implement.
///
/// Further arguments are ignored, which the calling convention allows on 64-bit platforms.
unsafe extern "system" fn not_implemented() -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn query(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the callback object passes a GUID and the address of a pointer, and holds a reference.
    let (fake, iid, out) = unsafe { (fake(this), &*iid, &mut *out) };
    // The versions begin with `ICorProfilerInfo`.
    let offered = &versions()[..fake.version];
    if *iid == IUnknown::IID || offered.iter().any(|row| row.iid == *iid) {
        fake.references.fetch_add(1, Ordering::SeqCst);
        *out = this;
        sys::S_OK
    } else {
        *out = ptr::null_mut();
        sys::E_NOINTERFACE
    }
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }
        .references
        .fetch_add(1, Ordering::SeqCst)
        + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // The test owns the fake and checks the count: nothing is freed here.
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }
        .references
        .fetch_sub(1, Ordering::SeqCst)
        - 1
}

unsafe extern "system" fn set_event_mask(this: *mut c_void, low: u32) -> HRESULT {
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }.set_mask(low, None)
}

unsafe extern "system" fn set_event_mask2(this: *mut c_void, low: u32, high: u32) -> HRESULT {
    // SAFETY: the caller holds a reference.
    unsafe { fake(this) }.set_mask(low, Some(high))
}

unsafe extern "system" fn get_event_mask(this: *mut c_void, low: *mut u32) -> HRESULT {
    // SAFETY: the caller holds a reference and passes the address of the mask.
    unsafe { *low = fake(this).mask().0 };
    sys::S_OK
}

unsafe extern "system" fn get_event_mask2(
    this: *mut c_void,
    low: *mut u32,
    high: *mut u32,
) -> HRESULT {
    // SAFETY: the caller holds a reference and passes the addresses of both halves.
    unsafe { (*low, *high) = fake(this).mask() };
    sys::S_OK
}

/// Copies as much of a text as there is room for, as the runtime does.
///
/// # Safety
///
/// `needed` points to a number, and `buffer` has `capacity` units.
unsafe fn give_text(text: &str, capacity: u32, needed: *mut u32, buffer: *mut u16) {
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    let fits = units.len().min(capacity as usize);
    // SAFETY: as the caller promises; `units` has at least as many units as fit.
    unsafe {
        *needed = units.len() as u32;
        buffer.copy_from_nonoverlapping(units.as_ptr(), fits);
    }
}

unsafe extern "system" fn get_module_info(
    _this: *mut c_void,
    module: usize,
    base: *mut *const u8,
    capacity: u32,
    needed: *mut u32,
    name: *mut u16,
    assembly: *mut usize,
) -> HRESULT {
    // SAFETY: the caller passes an address for each answer, and the capacity of the buffer.
    unsafe {
        *base = ptr::null();
        *assembly = 1;
        give_text(&format!("Module{module}.dll"), capacity, needed, name);
    }
    sys::S_OK
}

unsafe extern "system" fn get_class_from_object(
    _this: *mut c_void,
    object: usize,
    class: *mut usize,
) -> HRESULT {
    // SAFETY: the caller passes the address for the answer.
    unsafe { *class = object + 1 };
    sys::S_OK
}

unsafe extern "system" fn get_object_size2(
    this: *mut c_void,
    object: usize,
    size: *mut usize,
) -> HRESULT {
    // SAFETY: the caller passes the address for the answer.
    unsafe { *size = object * 2 };
    // SAFETY: the caller holds a reference.
    unsafe { force_gc(this) }
}

unsafe extern "system" fn force_gc(this: *mut c_void) -> HRESULT {
    // SAFETY: the caller holds a reference.
    let hook = &unsafe { fake(this) }.on_force_gc;
    if let Some(hook) = &*hook.lock().unwrap_or_else(PoisonError::into_inner) {
        hook();
    }
    sys::S_OK
}

unsafe extern "system" fn get_runtime_information(
    this: *mut c_void,
    instance: *mut u16,
    kind: *mut u32,
    major: *mut u16,
    minor: *mut u16,
    build: *mut u16,
    fix: *mut u16,
    capacity: u32,
    needed: *mut u32,
    version: *mut u16,
) -> HRESULT {
    // SAFETY: the caller holds a reference, and passes an address for each answer and the capacity of
    // the buffer.
    unsafe {
        (*instance, *kind) = (1, sys::COR_PRF_CORE_CLR);
        (*major, *minor, *build, *fix) = (fake(this).major, 0, 0, 0);
        give_text("fake", capacity, needed, version);
    }
    sys::S_OK
}
