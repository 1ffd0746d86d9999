//! Asks a native library for a class factory, as the runtime does.

use std::ffi::c_void;
use std::path::Path;

use libloading::Library;

use crate::Clsid;

type DllGetClassObject =
    unsafe extern "system" fn(*const Clsid, *const Clsid, *mut *mut c_void) -> i32;

/// The first three entries of every COM object's table.
#[repr(C)]
struct Unknown {
    query_interface: unsafe extern "system" fn(*mut c_void, *const Clsid, *mut *mut c_void) -> i32,
    add_ref: unsafe extern "system" fn(*mut c_void) -> u32,
    release: unsafe extern "system" fn(*mut c_void) -> u32,
}

/// The result of asking the library.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The loader refuses it, with this message.
    NotLoaded(String),
    /// It has no `DllGetClassObject`.
    NoExport,
    /// `DllGetClassObject` returned this; whether it also gave an object.
    Answered { hresult: i32, object: bool },
}

/// Loads the library and asks for the class factory of `clsid`, which is released at once.
pub(crate) fn ask(path: &Path, clsid: &Clsid) -> Answer {
    // SAFETY: loading runs the library's initialisers. The caller asks for exactly this library to be
    // loaded into a process, and the runtime will run the same code when it loads it.
    let library = match unsafe { load(path) } {
        Ok(library) => library,
        Err(error) => return Answer::NotLoaded(words(&error)),
    };
    // It stays loaded: a profiler may have started threads or registered thread-local
    // destructors, and unmapping code that these still run would crash this process.
    let library = std::mem::ManuallyDrop::new(library);
    // SAFETY: this is the signature that the COM rules fix for an export of this name; a library
    // whose export differs could not be loaded by the runtime either.
    let Ok(function) = (unsafe { library.get::<DllGetClassObject>(b"DllGetClassObject\0") }) else {
        return Answer::NoExport;
    };
    let mut object: *mut c_void = std::ptr::null_mut();
    // SAFETY: both ids live through the call and have the layout of GUID (repr(C) of the same
    // fields); the out pointer is writable; the library is never unloaded.
    let hresult = unsafe { function(clsid, &Clsid::CLASS_FACTORY, &mut object) };
    if hresult != 0 || object.is_null() {
        return Answer::Answered {
            hresult,
            object: false,
        };
    }
    // SAFETY: by the COM rules a successful call gives an object whose first field points to a
    // table that begins with the three functions of IUnknown, and one reference, which is given
    // back here and not used afterwards. The object is aligned as the pointer that it begins with.
    unsafe {
        let table = *object.cast::<*const Unknown>();
        ((*table).release)(object);
    }
    Answer::Answered {
        hresult,
        object: true,
    }
}

/// # Safety
///
/// Initialisers of the library run.
#[cfg(not(windows))]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the caller permits it.
    unsafe { Library::new(path) }
}

/// As the runtime does, which has Windows search the folder of the library for the DLLs that it needs, instead of the
/// program's.
///
/// # Safety
///
/// Initialisers of the library run.
#[cfg(windows)]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::windows::{LOAD_WITH_ALTERED_SEARCH_PATH, Library as Module};
    // SAFETY: the caller permits it.
    let library = unsafe { Module::load_with_flags(path, LOAD_WITH_ALTERED_SEARCH_PATH) };
    library.map(Library::from)
}

/// The loader's message, without the text that the crate `libloading` adds.
fn words(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}
