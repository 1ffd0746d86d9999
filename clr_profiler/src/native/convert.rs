//! Conversion between Rust values and native values.
//!
//! Every argument of a row is converted by [`Argument`], every result by [`FromNative`]. They also check the
//! ids that are passed, and track those that are returned.

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use uuid::Uuid;

use crate::error::{Error, Hresult, Result};
use crate::event_mask::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, ModuleId, ObjectId, RejitId, ThreadId,
};
use crate::lifetimes::{TargetState, asks_about_thread};
use crate::native::{length, start_or_null, typed, utf8, utf16, wide};
use crate::runtime::ProfilerInfo;
use crate::runtime::uuid_of;
use clr_profiler_il::token::*;
use clr_profiler_sys as sys;
use sys::{BOOL, GUID, IUnknown, Interface};

/// The call that arguments and results belong to.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'a> {
    /// Its name, for errors.
    pub(crate) call: &'static str,
    /// The handle that makes it, if its arguments can include ids.
    pub(crate) info: Option<&'a ProfilerInfo>,
    /// The address of the object that it is called on, if the results belong to that object.
    pub(crate) on: usize,
}

impl<'a> CallContext<'a> {
    /// A call of `ICorProfilerInfo`.
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
    /// The native value, or an owner of its memory during the call.
    type Raw;

    /// Converts the argument, or refuses it if the native call could not handle it.
    fn to_native(self, context: &CallContext<'_>) -> Result<Self::Raw>;
}

/// A value that native calls return as `Raw`.
pub(crate) trait FromNative<Raw>: Sized {
    /// Converts the result, or refuses it if it is malformed.
    fn from_native(raw: Raw, context: &CallContext<'_>) -> Result<Self>;
}

/// Converts the elements of an array that a call returned.
pub(crate) fn each_from_native<Raw, T: FromNative<Raw>>(
    raw: Vec<Raw>,
    context: &CallContext<'_>,
) -> Result<Vec<T>> {
    raw.into_iter()
        .map(|raw| T::from_native(raw, context))
        .collect()
}

/// Implements [`Argument`]: each row has the type, the native type and the conversion from the value and
/// the call.
macro_rules! arguments {
    ($(
        $(#[$doc:meta])*
        $type:ty => $raw:ty $(, of [$($generic:tt)+])? = |$value:pat_param, $context:pat_param| $make:expr;
    )*) => {$(
        $(#[$doc])*
        impl $(<$($generic)+>)? $crate::native::Argument for $type {
            type Raw = $raw;

            fn to_native(self, $context: &$crate::native::CallContext<'_>) -> $crate::Result<$raw> {
                let $value = self;
                $make
            }
        }
    )*};
}
pub(crate) use arguments;

/// Implements [`FromNative`]: each row has the native type, the type and the conversion.
macro_rules! results {
    ($(
        $(#[$doc:meta])*
        $raw:ty => $type:ty $(, of [$($generic:tt)+])? = |$value:pat_param, $context:pat_param| $make:expr;
    )*) => {$(
        $(#[$doc])*
        impl $(<$($generic)+>)? $crate::native::FromNative<$raw> for $type {
            fn from_native($value: $raw, $context: &$crate::native::CallContext<'_>) -> $crate::Result<Self> {
                $make
            }
        }
    )*};
}
pub(crate) use results;

/// Numbers are passed unchanged.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        arguments! { $number => $number = |number, _| Ok(number); }
        results! { $number => $number = |number, _| Ok(number); }
    )*};
}

numbers!(u8 u16 u32 u64 usize i32);

/// Ids: an optional result is `None` for zero. Ids of things that can be unloaded are checked.
macro_rules! ids {
    ($($id:ident $(by $checked:ident)?;)*) => {$(
        arguments! {
            $id => usize = |id, context| {
                $($checked(id.state(), stringify!($id), context)?;)?
                let _ = context;
                Ok(id.raw())
            };
            Option<$id> => usize = |id, context| id.map_or(Ok(0), |id| id.to_native(context));
            &[$id] => List<usize> = |ids, context| {
                List::of(context, ids.iter().map(|id| id.to_native(context)))
            };
        }
        results! {
            usize => $id = |raw, _| Ok(Self::from_runtime(raw));
            usize => Option<$id> = |raw, _| Ok($id::optional(raw));
        }
    )*};
}

ids! {
    AppDomainId;
    AssemblyId by live;
    ClassId by live;
    ContextId;
    FunctionId by live;
    ModuleId by live;
    RejitId;
}

arguments! {
    ThreadId => usize = |thread, context| {
        asks_about_thread(thread.raw());
        live(thread.state(), "ThreadId", context)?;
        Ok(thread.raw())
    };
    Option<ThreadId> => usize = |thread, context| {
        thread.map_or(Ok(0), |thread| thread.to_native(context))
    };
}

results! {
    usize => ThreadId = |raw, _| Ok(Self::from_runtime(raw));
    usize => Option<ThreadId> = |raw, _| Ok(ThreadId::optional(raw));
}

/// Refuses the id of a thing that is not loaded yet, or is gone.
#[inline]
fn live(state: TargetState, kind: &'static str, context: &CallContext<'_>) -> Result<()> {
    match state {
        TargetState::Live => Ok(()),
        state => Err(not_live(state, kind, context.call)),
    }
}

#[cold]
fn not_live(state: TargetState, kind: &'static str, call: &'static str) -> Error {
    let rule = match state {
        TargetState::Loading => {
            format!("the {kind} is not valid yet: use it from its callback `.._load_finished` on")
        }
        TargetState::Live | TargetState::Gone => format!(
            "the {kind} is no longer valid, because its target was unloaded, is about to be unloaded or \
             has ended: forget the id in the callback that reports this"
        ),
    };
    Error::rule_with_code(call, rule, Hresult::CORPROF_E_DATAINCOMPLETE)
}

/// Tokens: an optional result is `None` for a nil token.
macro_rules! tokens {
    ($($token:ident)*) => {$(
        arguments! {
            $token => u32 = |token, _| Ok(token.raw());
            Option<$token> => u32 = |token, _| Ok(token.map_or(0, |token| token.raw()));
        }
        results! {
            u32 => $token = |raw, context| typed(context.call, raw);
            u32 => Option<$token> = |raw, context| match Token::new(raw).is_nil() {
                true => Ok(None),
                false => typed(context.call, raw).map(Some),
            };
        }
    )*};
}

tokens! {
    Assembly AssemblyRef CustomAttribute Event ExportedType FieldDef File GenericParam
    GenericParamConstraint InterfaceImpl ManifestResource MemberRef MethodDef MethodSpec Module
    ModuleRef ParamDef Permission Property StandAloneSig TypeDef TypeRef TypeSpec UserString
}

arguments! {
    TypeToken => u32 = |token, _| Ok(token.raw());
    Option<TypeToken> => u32 = |token, _| Ok(token.map_or(0, TypeToken::raw));
    Token => u32 = |token, _| Ok(token.raw());
    Option<Token> => u32 = |token, _| Ok(token.map_or(0, Token::raw));
    /// `None` leaves the number unchanged.
    Option<u32> => u32 = |number, _| Ok(number.unwrap_or(u32::MAX));
    bool => BOOL = |truth, _| Ok(truth.into());
    EventMask => Self = |events, _| Ok(events);
    /// Memory that a call reads or writes.
    *const T => Self, of [T] = |memory, _| Ok(memory);
    &mut [T] => Self, of [T] = |memory, _| Ok(memory);
    /// Refused if the object may have moved.
    ObjectId<'_> => usize = |object, context| match context.info {
        Some(info) => info.address_of(context.call, object),
        None => Ok(object.address()),
    };
}

results! {
    u32 => Token = |raw, _| Ok(Self::new(raw));
    BOOL => bool = |truth, _| Ok(truth.as_bool());
    i32 => bool = |truth, _| Ok(truth != 0);
    u32 => usize = |number, _| Ok(number as usize);
    u32 => Option<u32> = |number, _| Ok((number != u32::MAX).then_some(number));
    /// The lower half of the mask.
    u32 => EventMask = |low, _| Ok(Self::from_halves(low, 0));
    GUID => Uuid = |guid, _| Ok(uuid_of(&guid));
    *const GUID => Uuid = |guid, context| match guid.is_null() {
        true => Err(Error::invalid(context.call, "the runtime returned no GUID")),
        // SAFETY: the metadata guarantees a GUID there; the heap is not aligned.
        false => Ok(uuid_of(&unsafe { guid.read_unaligned() })),
    };
    /// A name in the metadata, which is UTF-8.
    // SAFETY: names in the heap, and those that are constants of the runtime, end with a zero.
    *const c_char => String = |name, _| Ok(unsafe { utf8(name) });
    /// The address.
    *const T => usize, of [T] = |pointer, _| Ok(pointer.addr());
    *mut T => usize, of [T] = |pointer, _| Ok(pointer.addr());
    *const T => Option<usize>, of [T] = |pointer, _| Ok((!pointer.is_null()).then(|| pointer.addr()));
    *mut T => Option<NonNull<T>>, of [T] = |pointer, _| Ok(NonNull::new(pointer));
    *mut T => NonNull<T>, of [T] = |pointer, context| {
        Self::new(pointer).ok_or_else(|| Error::invalid(context.call, "the runtime returned nothing"))
    };
    /// A reference to any interface.
    *mut c_void => IUnknown = |pointer, context| {
        let pointer: NonNull<c_void> = FromNative::from_native(pointer, context)?;
        // SAFETY: the caller owns the reference, and every interface begins like `IUnknown`.
        Ok(unsafe { Self::from_raw(pointer.as_ptr()) })
    };
}

/// An array argument.
pub(crate) struct List<T>(Vec<T>);

impl<T> List<T> {
    pub(crate) fn of(
        context: &CallContext<'_>,
        items: impl Iterator<Item = Result<T>>,
    ) -> Result<Self> {
        let items: Vec<T> = items.collect::<Result<_>>()?;
        length(context.call, &items)?;
        Ok(Self(items))
    }

    /// The number of elements, which fits: `of` has checked it.
    pub(crate) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    pub(crate) fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

arguments! {
    &[u16] => List<u16> = |units, context| List::of(context, units.iter().map(|unit| Ok(*unit)));
    /// Methods as two arrays: of their modules, and of their tokens.
    &[(ModuleId, MethodDef)] => (List<usize>, List<u32>) = |methods, context| Ok((
        List::of(context, methods.iter().map(|(module, _)| module.to_native(context)))?,
        List::of(context, methods.iter().map(|(_, method)| method.to_native(context)))?,
    ));
    /// Lists of tokens end with a nil token.
    &[TypeToken] => List<u32> = |tokens, context| {
        List::of(context, tokens.iter().map(|token| Ok(token.raw())).chain([Ok(0)]))
    };
    &[MethodDef] => List<u32> = |tokens, context| {
        List::of(context, tokens.iter().map(|token| Ok(token.raw())).chain([Ok(0)]))
    };
    Option<&[TypeToken]> => OptionalList<u32> = |tokens, context| {
        Ok(OptionalList(tokens.map(|tokens| tokens.to_native(context)).transpose()?))
    };
    &str => Text = |text, context| Ok(Text(Some(wide(context.call, text)?)));
    Option<&str> => Text = |text, context| {
        Ok(Text(text.map(|text| wide(context.call, text)).transpose()?))
    };
    &Path => Text = |path, context| match path.to_str() {
        Some(text) => text.to_native(context),
        None => Err(Error::invalid(
            context.call,
            format_args!("the path {} is not Unicode", path.display()),
        )),
    };
    &'a [u8] => Blob<&'a [u8]>, of ['a] = |bytes, context| Blob::of(context, bytes);
}

/// An optional array argument.
pub(crate) struct OptionalList<T>(Option<List<T>>);

impl<T> OptionalList<T> {
    pub(crate) fn as_ptr(&self) -> *const T {
        self.0.as_ref().map_or(std::ptr::null(), List::as_ptr)
    }
}

/// Optional zero-terminated UTF-16.
pub(crate) struct Text(Option<Vec<u16>>);

impl Text {
    pub(crate) fn as_ptr(&self) -> *const u16 {
        self.0
            .as_ref()
            .map_or(std::ptr::null(), |text| text.as_ptr())
    }
}

/// An argument of bytes: an address, null if there are none, and a length.
pub(crate) struct Blob<T>(T);

impl<T: AsRef<[u8]>> Blob<T> {
    pub(crate) fn of(context: &CallContext<'_>, bytes: T) -> Result<Self> {
        length(context.call, bytes.as_ref())?;
        Ok(Self(bytes))
    }

    /// The number of bytes, which fits: `of` has checked it.
    pub(crate) fn len(&self) -> u32 {
        self.0.as_ref().len() as u32
    }

    pub(crate) fn as_ptr<P>(&self) -> *const P {
        start_or_null(self.0.as_ref()).cast()
    }
}

/// Converts an address to a pointer.
pub(crate) fn pointer<T>(address: usize, _: &CallContext<'_>) -> Result<*const T> {
    Ok(std::ptr::without_provenance(address))
}

/// Converts a token of any kind.
pub(crate) fn any_token(token: impl Into<Token>, context: &CallContext<'_>) -> Result<u32> {
    token.into().to_native(context)
}

/// Converts a token of any kind for enumerations, which pass it later.
pub(crate) fn into_token(token: impl Into<Token>) -> Token {
    token.into()
}

/// Converts a text without a check: the runtime truncates it at a zero character.
pub(crate) fn as_it_is(text: &str, _: &CallContext<'_>) -> Result<Text> {
    Ok(Text(Some(utf16(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nil_tokens_of_every_table_are_none() {
        let method = |raw: u32| <Option<MethodDef>>::from_native(raw, &CallContext::of("X::Y"));
        assert_eq!(method(0).unwrap(), None);
        assert_eq!(method(0x0600_0000).unwrap(), None);
        assert_eq!(method(0x0600_0002).unwrap().unwrap().row(), 2);
        assert!(method(0x0200_0002).is_err());
    }

    #[test]
    fn lists_of_tokens_end_with_a_nil_one() {
        let none: &[TypeToken] = &[];
        assert_eq!(none.to_native(&CallContext::of("X::Y")).unwrap().0, [0]);
    }
}
