//! From Rust's values to those of native calls, and back.
//!
//! Every argument of a row goes through [`Argument`], every answer through [`Answer`]: what must be
//! known of an id before it is handed over or when it is first seen is said there, once.

use std::ffi::c_char;
use std::fmt::Display;
use std::path::Path;
use std::ptr::NonNull;

use uuid::Uuid;

use crate::boundary::uuid_of;
use crate::error::{Error, Hresult, Result};
use crate::events::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, EventPipeProviderId, FunctionId, ModuleId,
    ObjectId, RejitId, ThreadId,
};
use crate::info::ProfilerInfo;
use clr_profiler_il::token::*;
use clr_profiler_sys as sys;
use sys::{BOOL, GUID, Interface};

/// The call that arguments and answers are of.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Its name, as errors have it.
    pub(crate) call: &'static str,
    /// Whom it is made of, if ids can be among its arguments.
    pub(crate) info: Option<&'a ProfilerInfo>,
}

/// A value that native calls take.
pub(crate) trait Argument {
    /// As the calls take it, or what holds it meanwhile.
    type Raw;

    /// Refused where the call could not bear it.
    fn to_native(self, asked: &Asked<'_>) -> Result<Self::Raw>;
}

/// A value that native calls give as `Raw`.
pub(crate) trait Answer<Raw>: Sized {
    /// Refused where it is not what it should be.
    fn answer(raw: Raw, asked: &Asked<'_>) -> Result<Self>;
}

/// The elements of an array that a call gave.
pub(crate) fn answers<Raw, T: Answer<Raw>>(raw: Vec<Raw>, asked: &Asked<'_>) -> Result<Vec<T>> {
    raw.into_iter().map(|raw| T::answer(raw, asked)).collect()
}

/// Numbers are handed over as they are.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Argument for $number {
            type Raw = $number;

            fn to_native(self, _: &Asked<'_>) -> Result<$number> {
                Ok(self)
            }
        }

        impl Answer<$number> for $number {
            fn answer(raw: $number, _: &Asked<'_>) -> Result<$number> {
                Ok(raw)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 usize i32);

/// Flags are handed over as their bits; what this crate does not know survives.
macro_rules! native_flags {
    ($flags:ident) => {
        impl $crate::native::Argument for $flags {
            type Raw = u32;

            fn to_native(self, _: &$crate::native::Asked<'_>) -> $crate::Result<u32> {
                Ok(self.bits())
            }
        }

        impl $crate::native::Answer<u32> for $flags {
            fn answer(raw: u32, _: &$crate::native::Asked<'_>) -> $crate::Result<Self> {
                Ok(Self::from_bits_retain(raw))
            }
        }
    };
}
pub(crate) use native_flags;

/// Ids: zero is none, where an answer may be none.
macro_rules! ids {
    ($($id:ident)*) => {$(
        impl Argument for $id {
            type Raw = usize;

            fn to_native(self, _: &Asked<'_>) -> Result<usize> {
                Ok(self.raw())
            }
        }

        impl Answer<usize> for $id {
            fn answer(raw: usize, _: &Asked<'_>) -> Result<Self> {
                Ok(Self::from_runtime(raw))
            }
        }

        impl Argument for Option<$id> {
            type Raw = usize;

            fn to_native(self, asked: &Asked<'_>) -> Result<usize> {
                self.map_or(Ok(0), |id| id.to_native(asked))
            }
        }

        impl Answer<usize> for Option<$id> {
            fn answer(raw: usize, asked: &Asked<'_>) -> Result<Self> {
                if raw == 0 { Ok(None) } else { $id::answer(raw, asked).map(Some) }
            }
        }

        impl Argument for &[$id] {
            type Raw = List<usize>;

            fn to_native(self, asked: &Asked<'_>) -> Result<List<usize>> {
                List::of(asked, self.iter().map(|id| id.to_native(asked)))
            }
        }
    )*};
}

ids! {
    AppDomainId AssemblyId ClassId ContextId EventPipeProviderId FunctionId ModuleId RejitId ThreadId
}

/// Tokens: a nil one is none.
macro_rules! tokens {
    ($($token:ident)*) => {$(
        impl Argument for $token {
            type Raw = u32;

            fn to_native(self, _: &Asked<'_>) -> Result<u32> {
                Ok(self.raw())
            }
        }

        impl Answer<u32> for $token {
            fn answer(raw: u32, asked: &Asked<'_>) -> Result<Self> {
                typed(asked.call, raw)
            }
        }

        impl Argument for Option<$token> {
            type Raw = u32;

            fn to_native(self, _: &Asked<'_>) -> Result<u32> {
                Ok(self.map_or(0, |token| token.raw()))
            }
        }

        impl Answer<u32> for Option<$token> {
            fn answer(raw: u32, asked: &Asked<'_>) -> Result<Self> {
                if Token::new(raw).is_nil() { Ok(None) } else { typed(asked.call, raw).map(Some) }
            }
        }
    )*};
}

tokens! {
    Assembly AssemblyRef CustomAttribute Event ExportedType FieldDef File GenericParam
    GenericParamConstraint InterfaceImpl ManifestResource MemberRef MethodDef MethodSpec Module
    ModuleRef ParamDef Permission Property StandAloneSig TypeDef TypeRef TypeSpec UserString
}

impl Argument for TypeToken {
    type Raw = u32;

    fn to_native(self, _: &Asked<'_>) -> Result<u32> {
        Ok(self.raw())
    }
}

impl Argument for Option<TypeToken> {
    type Raw = u32;

    fn to_native(self, _: &Asked<'_>) -> Result<u32> {
        Ok(self.map_or(0, TypeToken::raw))
    }
}

impl Argument for Token {
    type Raw = u32;

    fn to_native(self, _: &Asked<'_>) -> Result<u32> {
        Ok(self.raw())
    }
}

impl Answer<u32> for Token {
    fn answer(raw: u32, _: &Asked<'_>) -> Result<Self> {
        Ok(Self::new(raw))
    }
}

impl Argument for Option<Token> {
    type Raw = u32;

    fn to_native(self, _: &Asked<'_>) -> Result<u32> {
        Ok(self.map_or(0, Token::raw))
    }
}

/// Nothing is what leaves a number as it is.
impl Argument for Option<u32> {
    type Raw = u32;

    fn to_native(self, _: &Asked<'_>) -> Result<u32> {
        Ok(self.unwrap_or(u32::MAX))
    }
}

impl Argument for bool {
    type Raw = BOOL;

    fn to_native(self, _: &Asked<'_>) -> Result<BOOL> {
        Ok(self.into())
    }
}

impl Answer<BOOL> for bool {
    fn answer(raw: BOOL, _: &Asked<'_>) -> Result<Self> {
        Ok(raw.as_bool())
    }
}

impl Answer<i32> for bool {
    fn answer(raw: i32, _: &Asked<'_>) -> Result<Self> {
        Ok(raw != 0)
    }
}

/// The address.
impl<T> Answer<*const T> for usize {
    fn answer(raw: *const T, _: &Asked<'_>) -> Result<Self> {
        Ok(raw.addr())
    }
}

impl<T> Answer<*mut T> for usize {
    fn answer(raw: *mut T, _: &Asked<'_>) -> Result<Self> {
        Ok(raw.addr())
    }
}

impl<T> Answer<*const T> for Option<usize> {
    fn answer(raw: *const T, _: &Asked<'_>) -> Result<Self> {
        Ok((!raw.is_null()).then(|| raw.addr()))
    }
}

impl<T> Answer<*mut T> for Option<NonNull<T>> {
    fn answer(raw: *mut T, _: &Asked<'_>) -> Result<Self> {
        Ok(NonNull::new(raw))
    }
}

impl Answer<u32> for usize {
    fn answer(raw: u32, _: &Asked<'_>) -> Result<Self> {
        Ok(raw as usize)
    }
}

/// The lower half of the mask.
impl Answer<u32> for EventMask {
    fn answer(raw: u32, _: &Asked<'_>) -> Result<Self> {
        Ok(Self::from_halves(raw, 0))
    }
}

impl Answer<GUID> for Uuid {
    fn answer(raw: GUID, _: &Asked<'_>) -> Result<Self> {
        Ok(uuid_of(&raw))
    }
}

impl Answer<*const GUID> for Uuid {
    fn answer(raw: *const GUID, asked: &Asked<'_>) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::invalid(asked.call, "the runtime gave no GUID"));
        }
        // SAFETY: the metadata says that a GUID stands there; the heap is not aligned.
        Ok(uuid_of(&unsafe { raw.read_unaligned() }))
    }
}

/// A name of the metadata, which is UTF-8.
impl Answer<*const c_char> for String {
    fn answer(raw: *const c_char, _: &Asked<'_>) -> Result<Self> {
        // SAFETY: names in the heap, and those that are constants of the runtime, end with a zero.
        Ok(unsafe { utf8(raw) })
    }
}

impl Argument for ObjectId<'_> {
    type Raw = usize;

    /// Refused where the object may have moved.
    fn to_native(self, asked: &Asked<'_>) -> Result<usize> {
        match asked.info {
            Some(info) => info.place_of(asked.call, self),
            None => Ok(self.address()),
        }
    }
}

/// An array that is handed over.
pub(crate) struct List<T>(Vec<T>);

impl<T> List<T> {
    pub(crate) fn of(asked: &Asked<'_>, items: impl Iterator<Item = Result<T>>) -> Result<Self> {
        let items: Vec<T> = items.collect::<Result<_>>()?;
        length(asked.call, &items)?;
        Ok(Self(items))
    }

    /// How many elements it has; `of` has seen that there are not more.
    pub(crate) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    pub(crate) fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

impl Argument for &[u16] {
    type Raw = List<u16>;

    fn to_native(self, asked: &Asked<'_>) -> Result<List<u16>> {
        List::of(asked, self.iter().map(|unit| Ok(*unit)))
    }
}

/// Methods as two arrays: of their modules, and of their tokens.
impl Argument for &[(ModuleId, MethodDef)] {
    type Raw = (List<usize>, List<u32>);

    fn to_native(self, asked: &Asked<'_>) -> Result<Self::Raw> {
        Ok((
            List::of(
                asked,
                self.iter().map(|(module, _)| module.to_native(asked)),
            )?,
            List::of(
                asked,
                self.iter().map(|(_, method)| method.to_native(asked)),
            )?,
        ))
    }
}

/// A list of tokens that ends with a nil one.
impl Argument for &[TypeToken] {
    type Raw = List<u32>;

    fn to_native(self, asked: &Asked<'_>) -> Result<List<u32>> {
        let tokens = self.iter().map(|token| Ok(token.raw()));
        List::of(asked, tokens.chain([Ok(0)]))
    }
}

/// Zero-terminated UTF-16, or none.
pub(crate) struct Text(Option<Vec<u16>>);

impl Text {
    pub(crate) fn as_ptr(&self) -> *const u16 {
        self.0
            .as_ref()
            .map_or(std::ptr::null(), |text| text.as_ptr())
    }
}

impl Argument for &str {
    type Raw = Text;

    fn to_native(self, asked: &Asked<'_>) -> Result<Text> {
        Ok(Text(Some(wide(asked.call, self)?)))
    }
}

impl Argument for Option<&str> {
    type Raw = Text;

    fn to_native(self, asked: &Asked<'_>) -> Result<Text> {
        Ok(Text(self.map(|text| wide(asked.call, text)).transpose()?))
    }
}

impl Argument for &Path {
    type Raw = Text;

    fn to_native(self, asked: &Asked<'_>) -> Result<Text> {
        let text = self.to_str().ok_or_else(|| {
            Error::invalid(
                asked.call,
                format_args!("the path {} is no Unicode", self.display()),
            )
        })?;
        text.to_native(asked)
    }
}

/// Bytes that are handed over: an address, null where there are none, and a length.
pub(crate) struct Blob<T>(T);

impl<T: AsRef<[u8]>> Blob<T> {
    pub(crate) fn of(asked: &Asked<'_>, bytes: T) -> Result<Self> {
        length(asked.call, bytes.as_ref())?;
        Ok(Self(bytes))
    }

    /// How many bytes there are; `of` has seen that there are not more.
    pub(crate) fn len(&self) -> u32 {
        self.0.as_ref().len() as u32
    }

    pub(crate) fn as_ptr<P>(&self) -> *const P {
        start_or_null(self.0.as_ref()).cast()
    }
}

impl<'a> Argument for &'a [u8] {
    type Raw = Blob<&'a [u8]>;

    fn to_native(self, asked: &Asked<'_>) -> Result<Self::Raw> {
        Blob::of(asked, self)
    }
}

/// The address itself.
pub(crate) fn pointer<T>(address: usize, _: &Asked<'_>) -> Result<*const T> {
    Ok(std::ptr::without_provenance(address))
}

/// A token of whatever kind.
pub(crate) fn any_token(token: impl Into<Token>, asked: &Asked<'_>) -> Result<u32> {
    token.into().to_native(asked)
}

/// The same, for enumerations, which hand it over later.
pub(crate) fn into_token(token: impl Into<Token>) -> Token {
    token.into()
}

/// A text as it is: what is behind a zero in it is not seen.
pub(crate) fn as_it_is(text: &str, _: &Asked<'_>) -> Result<Text> {
    Ok(Text(Some(utf16(text))))
}

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

/// A path as zero-terminated UTF-16.
pub(crate) fn wide_path(call: &'static str, path: &std::path::Path) -> Result<Vec<u16>> {
    let text = path.to_str().ok_or_else(|| {
        Error::invalid(
            call,
            format_args!("the path {} is no Unicode", path.display()),
        )
    })?;
    wide(call, text)
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

/// A list as the writing calls take it: it ends with a nil token.
pub(crate) fn terminated<T: Into<Token> + Copy>(tokens: &[T]) -> Vec<u32> {
    tokens
        .iter()
        .map(|token| (*token).into().raw())
        .chain([0])
        .collect()
}

/// A token that may be left out: nil is none.
pub(crate) fn optional<T>(call: &'static str, raw: u32) -> Result<Option<T>>
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
pub(crate) fn raw_or_nil<T: Into<Token>>(token: Option<T>) -> u32 {
    token.map_or(0, |token| token.into().raw())
}

/// What an optional record holds: `CLDB_E_RECORD_NOTFOUND` says that there is none.
pub(crate) fn found<T>(answer: Result<T>) -> Result<Option<T>> {
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
pub(crate) unsafe fn utf8(start: *const std::ffi::c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::ffi::CStr::from_ptr(start) }
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
