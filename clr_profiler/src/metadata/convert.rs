//! From Rust's values to those of the metadata interfaces, and back.

use std::fmt::Display;

use crate::error::{Error, Hresult, Result};
use crate::native::typed;
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;
use sys::Interface;

/// Zero-terminated UTF-16.
pub(super) fn wide(call: &'static str, text: &str) -> Result<Vec<u16>> {
    if text.contains('\0') {
        return Err(Error::invalid(
            call,
            format_args!("the name {text:?} has a zero in it, where the runtime would cut it"),
        ));
    }
    Ok(text.encode_utf16().chain([0]).collect())
}

/// A path as zero-terminated UTF-16.
pub(super) fn wide_path(call: &'static str, path: &std::path::Path) -> Result<Vec<u16>> {
    let text = path.to_str().ok_or_else(|| {
        Error::invalid(
            call,
            format_args!("the path {} is no Unicode", path.display()),
        )
    })?;
    wide(call, text)
}

/// The length of what is handed over, which has 32 bits there.
pub(super) fn length<T>(call: &'static str, values: &[T]) -> Result<u32> {
    u32::try_from(values.len())
        .map_err(|_| Error::invalid(call, format_args!("{} elements are too many", values.len())))
}

/// The start of a blob; null where it is empty.
pub(super) fn start_or_null(bytes: &[u8]) -> *const u8 {
    if bytes.is_empty() {
        std::ptr::null()
    } else {
        bytes.as_ptr()
    }
}

/// A list as the writing calls take it: it ends with a nil token.
pub(super) fn terminated<T: Into<Token> + Copy>(tokens: &[T]) -> Vec<u32> {
    tokens
        .iter()
        .map(|token| (*token).into().raw())
        .chain([0])
        .collect()
}

/// A token that may be left out: nil is none.
pub(super) fn optional<T>(call: &'static str, raw: u32) -> Result<Option<T>>
where
    T: TryFrom<Token>,
    T::Error: Display,
{
    if Token::new(raw).is_nil() {
        Ok(None)
    } else {
        typed(call, raw).map(Some)
    }
}

/// The token's number; none is nil.
pub(super) fn raw_or_nil<T: Into<Token>>(token: Option<T>) -> u32 {
    token.map_or(0, |token| token.into().raw())
}

/// What an optional record holds: `CLDB_E_RECORD_NOTFOUND` says that there is none.
pub(super) fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.hresult().0 == sys::CLDB_E_RECORD_NOTFOUND.0 => Ok(None),
        Err(error) => Err(error),
    }
}

/// A copy of a blob of the metadata.
///
/// # Safety
///
/// Unless it is null, `start` points to `length` bytes that stay there during the call.
pub(super) unsafe fn blob(start: *const u8, length: u32) -> Vec<u8> {
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
pub(super) unsafe fn utf8(start: *const std::ffi::c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::ffi::CStr::from_ptr(start) }
        .to_string_lossy()
        .into_owned()
}

/// Another interface of the same object, for the call that needs it.
pub(super) fn cast<I: Interface>(object: &impl Interface, call: &'static str) -> Result<I> {
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
    use clr_profiler_il::token::{MethodDef, TypeDef};

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
    fn nil_tokens_of_every_table_are_none() {
        assert_eq!(optional::<MethodDef>("X::Y", 0).unwrap(), None);
        assert_eq!(optional::<MethodDef>("X::Y", 0x0600_0000).unwrap(), None);
        let method = optional::<MethodDef>("X::Y", 0x0600_0002).unwrap();
        assert_eq!(method.unwrap().row(), 2);
        assert!(optional::<MethodDef>("X::Y", 0x0200_0002).is_err());
        assert_eq!(terminated::<TypeDef>(&[]), [0]);
    }

    #[test]
    fn only_a_missing_record_is_none() {
        let missing = Error::call("X::Y", Hresult(sys::CLDB_E_RECORD_NOTFOUND.0));
        assert!(found::<()>(Err(missing)).unwrap().is_none());
        assert!(found::<()>(Err(Error::call("X::Y", Hresult::E_FAIL))).is_err());
        assert!(found(Ok(())).unwrap().is_some());
    }
}
