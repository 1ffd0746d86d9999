//! `IClassFactory`: how the runtime asks a library for its profiler.

use core::ffi::c_void;

use windows_core::{BOOL, IUnknown};

use crate::REFIID;
use crate::interface::interfaces;

interfaces! {
    /// Creates objects of one class; the runtime requests the profiler from it.
    "00000001-0000-0000-C000-000000000046"
    IClassFactory, IClassFactory_Vtbl: IUnknown {
        /// Creates an object and returns the requested interface.
        fn CreateInstance(pUnkOuter: *mut c_void, riid: REFIID, ppvObject: *mut *mut c_void);

        /// Keeps the library loaded, or releases it.
        fn LockServer(fLock: BOOL);
    }
}
