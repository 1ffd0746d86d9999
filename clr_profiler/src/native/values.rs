//! Values as native calls take and give them.

use std::ffi::{CStr, c_char};
use std::fmt::Display;

use crate::error::{Error, Hresult, Result};
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;
use sys::Interface;

/// A token that the runtime says is of this kind.
pub(crate) fn typed<T>(call: &'static str, raw: u32) -> Result<T>
where
    T: TryFrom<Token>,
    T::Error: Display,
{
    T::try_from(Token::new(raw)).map_err(|error| Error::invalid(call, error))
}

/// UTF-16 with a zero at its end, for calls that take a name.
pub(crate) fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Zero-terminated UTF-16.
pub(crate) fn wide(call: &'static str, text: &str) -> Result<Vec<u16>> {
    if text.contains('\0') {
        return Err(Error::invalid(
            call,
            format_args!("the name {text:?} has a zero in it, where the runtime would cut it"),
        ));
    }
    Ok(text.encode_utf16().chain([0]).collect())
}

/// The length of what is handed over, which has 32 bits there.
pub(crate) fn length<T>(call: &'static str, values: &[T]) -> Result<u32> {
    u32::try_from(values.len())
        .map_err(|_| Error::invalid(call, format_args!("{} elements are too many", values.len())))
}

/// The start of a blob; null where it is empty.
pub(crate) fn start_or_null(bytes: &[u8]) -> *const u8 {
    if bytes.is_empty() {
        std::ptr::null()
    } else {
        bytes.as_ptr()
    }
}

/// What a call gives, or nothing where it fails with this code.
pub(crate) fn unless<T>(answer: Result<T>, code: Hresult) -> Result<Option<T>> {
    match answer {
        Err(error) if error.hresult() == code => Ok(None),
        answer => answer.map(Some),
    }
}

/// What an optional record holds: `CLDB_E_RECORD_NOTFOUND` says that there is none.
pub(crate) fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    unless(answer, Hresult(sys::CLDB_E_RECORD_NOTFOUND.0))
}

/// What Windows calls ERROR_ENVVAR_NOT_FOUND, as a result code.
pub(crate) const ENVVAR_NOT_FOUND: Hresult = Hresult(0x8007_00CB_u32 as i32);

/// A copy of a blob of the metadata.
///
/// # Safety
///
/// Unless it is null, `start` points to `length` bytes that stay there during the call.
pub(crate) unsafe fn blob(start: *const u8, length: u32) -> Vec<u8> {
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(start, length as usize) }.to_vec()
}

/// A copy of a zero-terminated name of the metadata, which is UTF-8.
///
/// # Safety
///
/// Unless it is null, `start` points to bytes that end with a zero.
pub(crate) unsafe fn utf8(start: *const c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(start) }
        .to_string_lossy()
        .into_owned()
}

/// Another interface of the same object, for the call that needs it.
pub(crate) fn cast<I: Interface>(object: &impl Interface, call: &'static str) -> Result<I> {
    let mut other = std::ptr::null_mut();
    // SAFETY: the IID is that of `I`, and there is a place for the answer.
    let answer = unsafe { object.query(&I::IID, &mut other) };
    if !Hresult(answer.0).is_ok() || other.is_null() {
        let interface = call.split("::").next().unwrap_or(call);
        return Err(Error::rule_with_code(
            call,
            format!("this metadata, in this runtime, has no {interface}"),
            sys::E_NOINTERFACE,
        ));
    }
    // SAFETY: the object gave a reference to the interface that was asked for.
    Ok(unsafe { I::from_raw(other) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_zeros_are_refused() {
        assert_eq!(wide("X::Y", "ab").unwrap(), [97, 98, 0]);
        let error = wide("X::Y", "a\0b").unwrap_err().to_string();
        assert!(
            error.starts_with("X::Y: the name \"a\\0b\" has a zero"),
            "{error}"
        );
    }

    #[test]
    fn only_a_missing_record_is_none() {
        let missing = Error::call("X::Y", Hresult(sys::CLDB_E_RECORD_NOTFOUND.0));
        assert!(found::<()>(Err(missing)).unwrap().is_none());
        assert!(found::<()>(Err(Error::call("X::Y", Hresult::E_FAIL))).is_err());
        assert!(found(Ok(())).unwrap().is_some());
    }
}
