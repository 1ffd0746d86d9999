//! Arguments and outputs of native calls.

use clr_profiler_sys as sys;
use clr_profiler_test::stand_in::Call;
use sys::HRESULT;

/// Copies as much of a text as fits into the buffer; `parts` are the parameters of capacity, length and buffer.
pub(crate) fn set_text(call: &Call<'_>, parts: [usize; 3], text: &str) {
    let [capacity, length, buffer] = parts;
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    call.set(length, units.len() as u32);
    copy(call.pointer(buffer), call.argument(capacity), &units);
}

/// Copies as many numbers as fit into the buffer; the parameters are as for a text.
pub(crate) fn set_all<T: Copy>(call: &Call<'_>, parts: [usize; 3], all: &[T]) {
    let [capacity, length, buffer] = parts;
    call.set(length, all.len() as u32);
    copy(call.pointer(buffer), call.argument(capacity), all);
}

fn copy<T: Copy>(buffer: *mut T, capacity: usize, all: &[T]) {
    if !buffer.is_null() {
        // SAFETY: the caller's buffer has its capacity, and `all` at least as many as are copied.
        unsafe { buffer.copy_from_nonoverlapping(all.as_ptr(), all.len().min(capacity)) };
    }
}

/// Sets the address and the length of bytes that live as long as the process.
pub(crate) fn set_blob(call: &Call<'_>, first: usize, blob: &'static [u8]) {
    call.set(first, blob.as_ptr());
    call.set(first + 1, blob.len() as u32);
}

/// The bytes of an argument and its length.
pub(crate) fn blob(call: &Call<'_>, first: usize) -> &'static [u8] {
    let (bytes, length) = (call.pointer::<u8>(first), call.argument(first + 1));
    if bytes.is_null() {
        return &[];
    }
    // SAFETY: the caller passes so many bytes; they are copied before the call returns.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    bytes.to_vec().leak()
}

/// A text that ends with a zero.
pub(crate) fn text(call: &Call<'_>, parameter: usize) -> String {
    let start = call.pointer::<u16>(parameter);
    let mut units = Vec::new();
    for at in 0.. {
        // SAFETY: the caller's text ends with a zero, up to which it is read.
        match unsafe { start.add(at).read() } {
            0 => break,
            unit => units.push(unit),
        }
    }
    String::from_utf16(&units).unwrap()
}

/// A token.
pub(crate) fn token(call: &Call<'_>, parameter: usize) -> u32 {
    call.argument(parameter) as u32
}

/// One step of an enumeration: its handle is the first parameter, and buffer, capacity and number are the last three.
pub(crate) fn enumerate(call: &Call<'_>, all: impl FnOnce() -> Vec<u32>) -> HRESULT {
    let last = call.method.facts.parameters.len();
    let handle = call.pointer::<*mut Vec<u32>>(0);
    // SAFETY: the caller's handle is null at the first call, and the vector of here at the later ones. It is never freed.
    let remaining = unsafe {
        if (*handle).is_null() {
            *handle = Box::into_raw(Box::new(all()));
        }
        &mut **handle
    };
    let count = remaining.len().min(call.argument(last - 2));
    let next: Vec<u32> = remaining.drain(..count).collect();
    copy(call.pointer(last - 3), count, &next);
    call.set(last - 1, count as u32);
    match count {
        0 => sys::S_FALSE,
        _ => sys::S_OK,
    }
}

/// An enumeration of modules.
pub(crate) fn enumerate_ids(ids: Vec<usize>) -> *mut std::ffi::c_void {
    use clr_profiler_test::stand_in::{Object, Offers};
    use std::sync::{Mutex, PoisonError};
    use sys::Interface as _;

    let remaining = Mutex::new(ids);
    let answer = move |call: &Call<'_>| {
        let mut remaining = remaining.lock().unwrap_or_else(PoisonError::into_inner);
        Call::hresult(match call.method.facts.name {
            "GetCount" => {
                call.set(0, remaining.len() as u32);
                sys::S_OK
            }
            "Next" => {
                let count = remaining.len().min(call.argument(0));
                let next: Vec<usize> = remaining.drain(..count).collect();
                copy(call.pointer(1), count, &next);
                call.set(2, count as u32);
                match count == call.argument(0) {
                    true => sys::S_OK,
                    false => sys::S_FALSE,
                }
            }
            _ => sys::E_NOTIMPL,
        })
    };
    let object = Box::leak(Box::new(Object::new(
        Offers::new(["ICorProfilerModuleEnum"]),
        answer,
    )));
    object.give(&sys::ICorProfilerModuleEnum::IID)
}
