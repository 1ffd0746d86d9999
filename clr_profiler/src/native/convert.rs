//! From Rust's values to those of native calls, and back.
//!
//! Every argument of a row goes through [`Argument`], every answer through [`Answer`]: what must be
//! known of an id before it is handed over or when it is first seen is said there, once.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::events::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, EventPipeProviderId, FunctionId, ModuleId,
    ObjectId, RejitId, ThreadId,
};
use crate::native::{length, start_or_null, typed, utf8, utf16, wide};
use crate::runtime::ProfilerInfo;
use crate::runtime::uuid_of;
use clr_profiler_il::token::*;
use clr_profiler_sys as sys;
use sys::{BOOL, GUID, IUnknown, Interface};

/// The call that arguments and answers are of.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Its name, as errors have it.
    pub(crate) call: &'static str,
    /// Whom it is made of, if ids can be among its arguments.
    pub(crate) info: Option<&'a ProfilerInfo>,
    /// The address of the object that it is made on, if what it gives belongs to that.
    pub(crate) on: usize,
}

impl<'a> Asked<'a> {
    /// A call of the runtime.
    pub(crate) fn of_info(call: &'static str, info: &'a ProfilerInfo) -> Self {
        Self {
            info: Some(info),
            ..Self::of(call)
        }
    }

    /// A call without ids.
    pub(crate) fn of(call: &'static str) -> Self {
        Self {
            call,
            info: None,
            on: 0,
        }
    }
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

/// Memory that a call reads or writes.
impl<T> Argument for *const T {
    type Raw = Self;

    fn to_native(self, _: &Asked<'_>) -> Result<Self> {
        Ok(self)
    }
}

impl<T> Argument for &mut [T] {
    type Raw = Self;

    fn to_native(self, _: &Asked<'_>) -> Result<Self> {
        Ok(self)
    }
}

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

impl<T> Answer<*mut T> for NonNull<T> {
    fn answer(raw: *mut T, asked: &Asked<'_>) -> Result<Self> {
        Self::new(raw).ok_or_else(|| Error::invalid(asked.call, "the runtime gave nothing"))
    }
}

/// The runtime gives a reference to any interface.
impl Answer<*mut c_void> for IUnknown {
    fn answer(raw: *mut c_void, asked: &Asked<'_>) -> Result<Self> {
        let raw: NonNull<c_void> = Answer::answer(raw, asked)?;
        // SAFETY: the reference is ours, and every interface begins like `IUnknown`.
        Ok(unsafe { Self::from_raw(raw.as_ptr()) })
    }
}

impl Answer<u32> for usize {
    fn answer(raw: u32, _: &Asked<'_>) -> Result<Self> {
        Ok(raw as usize)
    }
}

impl Argument for EventMask {
    type Raw = Self;

    fn to_native(self, _: &Asked<'_>) -> Result<Self> {
        Ok(self)
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

/// Lists of tokens end with a nil one.
macro_rules! token_lists {
    ($($token:ident)*) => {$(
        impl Argument for &[$token] {
            type Raw = List<u32>;

            fn to_native(self, asked: &Asked<'_>) -> Result<List<u32>> {
                List::of(asked, self.iter().map(|token| Ok(token.raw())).chain([Ok(0)]))
            }
        }
    )*};
}

token_lists!(TypeToken MethodDef);

impl Argument for Option<&[TypeToken]> {
    type Raw = OptionalList<u32>;

    fn to_native(self, asked: &Asked<'_>) -> Result<Self::Raw> {
        Ok(OptionalList(
            self.map(|tokens| tokens.to_native(asked)).transpose()?,
        ))
    }
}

/// An array that is handed over, or none.
pub(crate) struct OptionalList<T>(Option<List<T>>);

impl<T> OptionalList<T> {
    pub(crate) fn as_ptr(&self) -> *const T {
        self.0.as_ref().map_or(std::ptr::null(), List::as_ptr)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nil_tokens_of_every_table_are_none() {
        let method = |raw: u32| <Option<MethodDef>>::answer(raw, &Asked::of("X::Y"));
        assert_eq!(method(0).unwrap(), None);
        assert_eq!(method(0x0600_0000).unwrap(), None);
        assert_eq!(method(0x0600_0002).unwrap().unwrap().row(), 2);
        assert!(method(0x0200_0002).is_err());
    }

    #[test]
    fn lists_of_tokens_end_with_a_nil_one() {
        let none: &[TypeToken] = &[];
        assert_eq!(none.to_native(&Asked::of("X::Y")).unwrap().0, [0]);
    }
}
