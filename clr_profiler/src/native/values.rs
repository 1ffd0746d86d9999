//! Conversion of single values for native calls.

use std::ffi::{CStr, c_char};
use std::fmt::Display;

use crate::error::{Error, Hresult, Result};
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;
use sys::Interface;

/// Converts a token that the runtime returned as one of this kind.
pub(crate) fn typed<T>(call: &'static str, raw: u32) -> Result<T>
where
    T: TryFrom<Token>,
    T::Error: Display,
{
    T::try_from(Token::new(raw)).map_err(|error| Error::invalid(call, error))
}

/// Zero-terminated UTF-16, without a check for zeros in the text.
pub(crate) fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Zero-terminated UTF-16; refused for a text with a zero.
pub(crate) fn wide(call: &'static str, text: &str) -> Result<Vec<u16>> {
    if text.contains('\0') {
        return Err(Error::invalid(
            call,
            format_args!(
                "the name {text:?} has a zero in it, at which the runtime would truncate it"
            ),
        ));
    }
    Ok(text.encode_utf16().chain([0]).collect())
}

/// The length of an argument as 32 bits.
pub(crate) fn length<T>(call: &'static str, values: &[T]) -> Result<u32> {
    u32::try_from(values.len())
        .map_err(|_| Error::invalid(call, format_args!("{} elements are too many", values.len())))
}

/// The start of a blob; null if it is empty.
pub(crate) fn start_or_null(bytes: &[u8]) -> *const u8 {
    if bytes.is_empty() {
        std::ptr::null()
    } else {
        bytes.as_ptr()
    }
}

/// The result of a call, or `None` if it failed with this code.
pub(crate) fn unless<T>(answer: Result<T>, code: Hresult) -> Result<Option<T>> {
    match answer {
        Err(error) if error.is(code) => Ok(None),
        answer => answer.map(Some),
    }
}

/// A copy of a blob in the metadata.
///
/// # Safety
///
/// `start` is null or points to `length` bytes that remain valid during the call.
pub(crate) unsafe fn blob(start: *const u8, length: u32) -> Vec<u8> {
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(start, length as usize) }.to_vec()
}

/// A copy of a zero-terminated name in the metadata, which is UTF-8.
///
/// # Safety
///
/// `start` is null or points to bytes that end with a zero.
pub(crate) unsafe fn utf8(start: *const c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(start) }
        .to_string_lossy()
        .into_owned()
}

/// Queries another interface of the same object, for the call that needs it.
pub(crate) fn cast<I: Interface>(object: &impl Interface, call: &'static str) -> Result<I> {
    let mut other = std::ptr::null_mut();
    // SAFETY: the IID is that of `I`, and `other` receives the result.
    let answer = unsafe { object.query(&I::IID, &mut other) };
    if !Hresult(answer.0).is_ok() || other.is_null() {
        let interface = call.split("::").next().unwrap_or(call);
        return Err(Error::rule_with_code(
            call,
            format!("the metadata of this runtime has no {interface}"),
            Hresult::E_NOINTERFACE,
        ));
    }
    // SAFETY: the object returned a reference to the requested interface.
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
    fn only_the_named_failure_is_none() {
        let missing = Error::call("X::Y", Hresult::E_INVALIDARG);
        let none = unless::<()>(Err(missing), Hresult::E_INVALIDARG);
        assert!(none.unwrap().is_none());
        let failed = Error::call("X::Y", Hresult::E_FAIL);
        assert!(unless::<()>(Err(failed), Hresult::E_INVALIDARG).is_err());
        assert!(unless(Ok(()), Hresult::E_INVALIDARG).unwrap().is_some());
    }
}
