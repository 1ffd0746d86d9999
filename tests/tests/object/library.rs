//! The library of the scenarios, loaded and called as the runtime does it.

use std::ffi::c_void;
use std::fs::File;
use std::io::{Read, Seek};
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::{env, fs, process, ptr, thread};

use clr_profiler_launcher::find_library_next_to;
use clr_profiler_sys as sys;
use sys::{
    GUID, HRESULT, IClassFactory, ICorProfilerCallback11, IUnknown, IUnknown_Vtbl, Interface,
};

pub(crate) const NULL: GUID = clsid("Null");
pub(crate) const FAILS_TO_START: GUID = clsid("FailsToStart");
pub(crate) const PANICS_AT_START: GUID = clsid("PanicsAtStart");
pub(crate) const CANCELS_ACTIVATION: GUID = clsid("CancelsActivation");
pub(crate) const COUNTS: GUID = clsid("Counts");
pub(crate) const FAILS: GUID = clsid("Fails");
pub(crate) const PANICS: GUID = clsid("Panics");
pub(crate) const PANICS_UNTIL_RETIRED: GUID = clsid("PanicsUntilRetired");
pub(crate) const LOW_EVENTS: GUID = clsid("LowEvents");
pub(crate) const ASKS_IN_COLLECTION: GUID = clsid("AsksInCollection");
pub(crate) const REENTERS: GUID = clsid("Reenters");
pub(crate) const HOOK_PANICS: GUID = clsid("HookPanics");

const fn clsid(name: &str) -> GUID {
    GUID::from_u128(scenario_support::clsid(name).as_u128())
}

type GetClassObject =
    unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> HRESULT;
type CanUnloadNow = extern "system" fn() -> HRESULT;

/// The exports of the library.
#[derive(Clone, Copy)]
struct Exports {
    get_class_object: GetClassObject,
    can_unload_now: CanUnloadNow,
}

impl Exports {
    fn of(path: &Path) -> Self {
        // An object that was shut down lives forever, and so must its code.
        // SAFETY: it is our own library, whose initialisers do nothing.
        let code = ManuallyDrop::new(unsafe { libloading::Library::new(path) }.unwrap());
        // SAFETY: the exports have these signatures, and the code stays loaded.
        unsafe {
            Self {
                get_class_object: *code.get(b"DllGetClassObject").unwrap(),
                can_unload_now: *code.get(b"DllCanUnloadNow").unwrap(),
            }
        }
    }

    /// For the loader, another file is another library, which counts objects of its own.
    fn of_copy() -> Self {
        // The loader distinguishes libraries by their paths, even by those of deleted files.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let copy = temporary(&format!("{number}.so"));
        fs::copy(built(), &copy).unwrap();
        let exports = Self::of(&copy);
        fs::remove_file(&copy).unwrap();
        exports
    }
}

/// The library, for one test at a time, which alone sees its counts and its log.
pub(crate) struct Library {
    exports: Exports,
    log: &'static File,
    /// Whether one of its objects lives forever.
    is_spoiled: bool,
    _alone: MutexGuard<'static, ()>,
}

impl Library {
    /// The library for a test after which none of its objects lives.
    pub(crate) fn load() -> Self {
        static SHARED: Mutex<Option<Exports>> = Mutex::new(None);
        let (alone, log) = Self::alone();
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut exports = *shared.get_or_insert_with(|| Exports::of(&built()));
        if (exports.can_unload_now)() != sys::S_OK {
            // Another test has failed and left an object.
            exports = Exports::of_copy();
            *shared = Some(exports);
        }
        Self::new(exports, log, false, alone)
    }

    /// A copy of the library for a test that shuts a profiler down: it lives forever.
    pub(crate) fn load_copy() -> Self {
        let (alone, log) = Self::alone();
        Self::new(Exports::of_copy(), log, true, alone)
    }

    fn new(
        exports: Exports,
        log: &'static File,
        is_spoiled: bool,
        alone: MutexGuard<'static, ()>,
    ) -> Self {
        let library = Self {
            exports,
            log,
            is_spoiled,
            _alone: alone,
        };
        library.take_log();
        library
    }

    /// The right to use the library, and the log, which all copies of it share.
    fn alone() -> (MutexGuard<'static, ()>, &'static File) {
        static ALONE: Mutex<()> = Mutex::new(());
        static LOG: OnceLock<File> = OnceLock::new();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let log = LOG.get_or_init(|| {
            let path = temporary("log");
            let mut options = File::options();
            let log = options
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)
                .unwrap();
            // Nothing remains, whenever this process ends: the file exists while it is open.
            fs::remove_file(path).unwrap();
            // SAFETY: every test of this process passes here before it does anything else;
            // concurrent reads of the environment go through `std`, which locks it.
            unsafe {
                env::set_var("SCENARIO_LOG", format!("/dev/fd/{}", log.as_raw_fd()));
                env::remove_var("CLR_PROFILER_DIAGNOSTICS");
            }
            log
        });
        (alone, log)
    }

    /// Calls `DllGetClassObject`.
    ///
    /// # Safety
    ///
    /// Each pointer is null or valid for its parameter.
    pub(crate) unsafe fn get_class_object(
        &self,
        class: *const GUID,
        iid: *const GUID,
        out: *mut *mut c_void,
    ) -> HRESULT {
        // SAFETY: as the caller promises.
        unsafe { (self.exports.get_class_object)(class, iid, out) }
    }

    pub(crate) fn factory(&self, class: &GUID) -> IClassFactory {
        let mut out = ptr::null_mut();
        // SAFETY: two GUIDs and the address of a pointer.
        let answer = unsafe { self.get_class_object(class, &IClassFactory::IID, &mut out) };
        assert_eq!(answer, sys::S_OK);
        // SAFETY: success gives a reference to the requested interface.
        unsafe { IClassFactory::from_raw(out) }
    }

    /// An object of this class, to which the caller has the only reference.
    pub(crate) fn create(&self, class: &GUID) -> ICorProfilerCallback11 {
        let factory = self.factory(class);
        let iid = &ICorProfilerCallback11::IID;
        let mut out = ptr::null_mut();
        // SAFETY: no aggregation, a GUID and the address of a pointer.
        let answer = unsafe { factory.CreateInstance(ptr::null_mut(), iid, &mut out) };
        assert_eq!(answer, sys::S_OK);
        // SAFETY: success gives a reference to the requested interface.
        unsafe { ICorProfilerCallback11::from_raw(out) }
    }

    /// The result of `DllCanUnloadNow`: whether no object of the library lives.
    pub(crate) fn can_unload(&self) -> bool {
        match (self.exports.can_unload_now)() {
            sys::S_OK => true,
            sys::S_FALSE => false,
            other => panic!("DllCanUnloadNow answered {other:?}"),
        }
    }

    /// The lines that the profilers have written since the last call.
    pub(crate) fn take_log(&self) -> String {
        let (mut log, mut text) = (self.log, String::new());
        log.rewind().unwrap();
        log.read_to_string(&mut text).unwrap();
        // The profilers append: their next write starts at the beginning.
        log.set_len(0).unwrap();
        text
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert_ne!(self.can_unload(), self.is_spoiled, "an object is left");
        }
    }
}

/// The path of a file of this process only.
fn temporary(kind: &str) -> PathBuf {
    let name = format!("object-{}.{kind}", process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn built() -> PathBuf {
    find_library_next_to(env::current_exe().unwrap(), "scenarios").unwrap()
}

/// The functions that every interface has.
fn unknown(object: &impl Interface) -> (&IUnknown_Vtbl, *mut c_void) {
    let raw = object.as_raw();
    // SAFETY: an interface pointer points to a pointer to a vtable that begins with that of
    // `IUnknown`, and both live while `object` is borrowed.
    (unsafe { &**raw.cast::<*const IUnknown_Vtbl>() }, raw)
}

/// The reference count of an object: one reference is taken and given back.
pub(crate) fn references(object: &impl Interface) -> u32 {
    let (vtable, raw) = unknown(object);
    // SAFETY: `object` is a reference, so the object lives; the reference that is given back is the
    // one that was taken.
    unsafe {
        let with_ours = (vtable.AddRef)(raw);
        let left = (vtable.Release)(raw);
        assert_eq!(left + 1, with_ours);
        left
    }
}

/// Calls `QueryInterface`.
///
/// # Safety
///
/// `iid` and `out` are null or valid. The caller then owns the reference in `out`.
pub(crate) unsafe fn query(
    object: &impl Interface,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    let (vtable, raw) = unknown(object);
    // SAFETY: `object` is a reference; the others are as the caller promises.
    unsafe { (vtable.QueryInterface)(raw, iid, out) }
}

/// Gives back a reference from `query`; returns the remaining count.
///
/// # Safety
///
/// The caller owns a reference to `object` in addition to the one that it passes.
pub(crate) unsafe fn release(object: &impl Interface) -> u32 {
    let (vtable, raw) = unknown(object);
    // SAFETY: as the caller promises.
    unsafe { (vtable.Release)(raw) }
}

/// Another reference to `object`.
pub(crate) fn as_unknown(object: &impl Interface) -> IUnknown {
    object.cast().unwrap()
}
