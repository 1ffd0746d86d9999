//! The real profiler's library.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, mem, ptr};

use clr_profiler_sys::{GUID, HRESULT};

type GetClassObject =
    unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> HRESULT;
type CanUnloadNow = unsafe extern "system" fn() -> HRESULT;

pub(crate) type GetDispenser =
    unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> HRESULT;

/// The exports of the real library.
pub(crate) struct Real {
    pub(crate) get_class_object: GetClassObject,
    pub(crate) can_unload_now: Option<CanUnloadNow>,
}

/// The library that the environment names, loaded once and forever.
pub(crate) fn real() -> Option<&'static Real> {
    static REAL: OnceLock<Option<Real>> = OnceLock::new();
    REAL.get_or_init(|| {
        keep_loaded();
        let path = env::var_os("CLR_PROFILER_RECORDED_LIBRARY")?;
        load(&CString::new(path.into_vec()).ok()?)
    })
    .as_ref()
}

fn load(path: &CStr) -> Option<Real> {
    // SAFETY: a profiler's library may run code of its own when it is loaded: the runtime would
    // have loaded it at this moment.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return None;
    }
    let symbol = |name: &CStr| {
        // SAFETY: the library was loaded, and is never unloaded.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // SAFETY: in every profiler's library the functions of these names have these types.
    unsafe {
        Some(Real {
            get_class_object: mem::transmute::<*mut c_void, GetClassObject>(symbol(
                c"DllGetClassObject",
            )?),
            can_unload_now: symbol(c"DllCanUnloadNow")
                .map(|address| mem::transmute::<*mut c_void, CanUnloadNow>(address)),
        })
    }
}

/// A function of the runtime, known after its first interface was passed in.
static RUNTIME: AtomicUsize = AtomicUsize::new(0);

/// Remembers the address range of the runtime, by one of its interfaces.
///
/// # Safety
///
/// `object` is null or a COM interface of the runtime.
pub(crate) unsafe fn runtime_has(object: *mut c_void) {
    if !object.is_null() {
        // SAFETY: as the caller promises: it begins with its vtable, whose slots are functions.
        let code = unsafe { **object.cast::<*const usize>() };
        RUNTIME.store(code, Ordering::Relaxed);
    }
}

/// `MetaDataGetDispenser` of the runtime.
pub(crate) fn dispenser_of_runtime() -> Option<GetDispenser> {
    let code: *const c_void = ptr::with_exposed_provenance(RUNTIME.load(Ordering::Relaxed));
    // SAFETY: any address may be passed; the name is the loader's. With RTLD_NOLOAD nothing is
    // loaded: the result is the runtime, which stays, or the program if the runtime is part of it.
    // The symbol of that name is a function of that type.
    unsafe {
        let mut about: libc::Dl_info = mem::zeroed();
        if libc::dladdr(code, &mut about) == 0 || about.dli_fname.is_null() {
            return None;
        }
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        let mut library = libc::dlopen(about.dli_fname, flags);
        if library.is_null() {
            library = libc::dlopen(ptr::null(), flags);
        }
        if library.is_null() {
            return None;
        }
        let symbol = libc::dlsym(library, c"MetaDataGetDispenser".as_ptr());
        libc::dlclose(library);
        mem::transmute::<*mut c_void, Option<GetDispenser>>(symbol)
    }
}

/// Keeps this library in memory: the runtime unloads it when a profiler has left, but handles and
/// threads of the profiler still know the proxies.
fn keep_loaded() {
    let mut about = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let here: *const c_void = (keep_loaded as fn()) as *const c_void;
    // SAFETY: any address may be passed; the name is the loader's, which lives as long as the
    // library. With RTLD_NOLOAD nothing is loaded, the flag is set on the loaded library.
    unsafe {
        if libc::dladdr(here, &mut about) != 0 && !about.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(about.dli_fname, flags);
        }
    }
}
