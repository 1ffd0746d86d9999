//! The destinations of saved metadata: an `IStream` that keeps the bytes written to it, and memory.

use std::ffi::c_void;
use std::io::Write;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use crate::error::{Hresult, Result};
use crate::native::{Com, Object, unknown, value, zeroed};
use crate::runtime::lock;
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

const IID_ISEQUENTIAL_STREAM: GUID = GUID::from_u128(0x0C733A30_2A1C_11CE_ADE5_00AA0044773D);
const IID_ISTREAM: GUID = GUID::from_u128(0x0000000C_0000_0000_C000_000000000046);

/// The bytes written so far.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

/// Passes a stream to a call, and writes the bytes to `out` when the call has returned. The stream can only
/// be written to, from start to end.
pub(super) fn to_stream(
    out: &mut dyn Write,
    save: impl FnOnce(*mut c_void) -> Result<Hresult>,
) -> Result<()> {
    let written = Written::default();
    let stream = Object::new(written.clone(), &IID_ISTREAM);
    save(stream.as_ref().map_or(null_mut(), Object::as_raw))?;
    Ok(out.write_all(&lock(&written.0))?)
}

/// Has a call write this number of bytes to memory.
pub(super) fn to_memory(
    size: u32,
    save: impl FnOnce(*mut c_void, u32) -> Result<Hresult>,
) -> Result<Vec<u8>> {
    let mut bytes = zeroed::<u8>(size as usize)?;
    save(bytes.as_mut_ptr().cast(), size)?;
    Ok(bytes)
}

// SAFETY: the vtable begins with `unknown`, and its functions take the value of the object.
unsafe impl Com for Written {
    fn vtable(iid: &GUID) -> Option<*const IUnknown_Vtbl> {
        let known = [IUnknown::IID, IID_ISEQUENTIAL_STREAM, IID_ISTREAM].contains(iid);
        known.then_some((&raw const VTABLE).cast())
    }
}

/// Declares the vtable of `IStream` (objidl.h). Methods that are not implemented return a code.
macro_rules! stream {
    ($($name:ident($($type:ty),*) = $code:ident;)*) => {
        #[repr(C)]
        struct Vtable {
            base__: IUnknown_Vtbl,
            read: unsafe extern "system" fn(*mut c_void, *mut c_void, u32, *mut u32) -> HRESULT,
            write: unsafe extern "system" fn(*mut c_void, *const c_void, u32, *mut u32) -> HRESULT,
            $($name: unsafe extern "system" fn(*mut c_void $(, $type)*) -> HRESULT,)*
        }

        static VTABLE: Vtable = Vtable {
            base__: unknown::<Written>(),
            read: not_read,
            write,
            $($name: {
                unsafe extern "system" fn answer(_: *mut c_void $(, _: $type)*) -> HRESULT {
                    sys::$code
                }
                answer
            },)*
        };
    };
}

stream! {
    seek(i64, u32, *mut u64) = E_NOTIMPL;
    set_size(u64) = S_OK;
    copy_to(*mut c_void, u64, *mut u64, *mut u64) = E_NOTIMPL;
    commit(u32) = S_OK;
    revert() = E_NOTIMPL;
    lock_region(u64, u64, u32) = E_NOTIMPL;
    unlock_region(u64, u64, u32) = E_NOTIMPL;
    stat(*mut c_void, u32) = E_NOTIMPL;
    clone(*mut *mut c_void) = E_NOTIMPL;
}

unsafe extern "system" fn not_read(_: *mut c_void, _: *mut c_void, _: u32, _: *mut u32) -> HRESULT {
    sys::E_NOTIMPL
}

unsafe extern "system" fn write(
    this: *mut c_void,
    bytes: *const c_void,
    length: u32,
    written: *mut u32,
) -> HRESULT {
    // SAFETY: the caller holds a reference, and passes `length` bytes.
    unsafe {
        if length != 0 {
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
            lock(&value::<Written>(this).0).extend_from_slice(bytes);
        }
        if let Some(written) = written.as_mut() {
            *written = length;
        }
    }
    sys::S_OK
}
