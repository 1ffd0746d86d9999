//! [`MetadataIter`]: an enumeration of metadata tokens.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use super::module_bound::{InUse, ModuleBound};
use crate::error::{Error, Hresult, Result};
use crate::lifetimes::InFlight;
use crate::native::typed;
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;

/// Generates a wrapper for each row that returns an enumeration of metadata.
///
/// With `from import`, errors are returned as items. With `from named` or `from query_import`, names that
/// cannot be passed and missing interfaces are errors of the wrapper.
macro_rules! enumerations {
    ($owner:ident = $interface:ident from $source:ident; $(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty $(as $convert:ident)?),*) -> $item:ty
            = $method:ident($($value:expr),*);
    )*) => {$(
        $(#[$doc])*
        #[wraps($interface::$method from (items of $source))]
        fn $name(&self $(, $argument: $type)*) -> enumerated!($source $item) {
            enumeration! { $source self [$($argument $($convert)?;)*]
                $interface::$method($($value),*) }
        }
    )*};
}

macro_rules! enumerated {
    (import $item:ty) => { $crate::metadata::MetadataIter<'_, $item> };
    ($source:ident $item:ty) => { $crate::Result<$crate::metadata::MetadataIter<'_, $item>> };
}

macro_rules! enumeration {
    (import $this:ident [$($argument:ident $($convert:ident)?;)*]
        $interface:ident::$method:ident $values:tt
    ) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        $($(let $argument = $convert($argument);)?)*
        match $this.metadata().import() {
            Ok(import) => enumeration!(@iter import, Source::Import(import),
                $interface::$method $values [$($argument)*]),
            Err(error) => $crate::metadata::MetadataIter::failed(CALL, error),
        }
    }};
    (named $this:ident [$($argument:ident $($convert:ident)?;)*]
        $interface:ident::$method:ident $values:tt
    ) => {{
        let import = $this.metadata().import()?;
        let context =
            $crate::native::CallContext::of(concat!(stringify!($interface), "::", stringify!($method)));
        $(let $argument = to_native!(context, $argument $($convert)?);)*
        Ok(enumeration!(@iter import, Source::Import(import), $interface::$method $values []))
    }};
    (query_import $this:ident [$($argument:ident;)*] $interface:ident::$method:ident $values:tt) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        let import = $this.metadata().import()?;
        let object = import.other::<clr_profiler_sys::$interface>(CALL)?;
        Ok(enumeration!(@iter object, Source::Assembly(import.other(CALL)?),
            $interface::$method $values [$($argument)*]))
    }};
    (@iter $object:expr, $source:expr, $interface:ident::$method:ident($($value:expr),*)
        [$($argument:ident)*]
    ) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        let object = $object;
        $crate::metadata::MetadataIter::new(CALL, $source, move |native, buffer, capacity, given| {
            let context = $crate::native::CallContext::of(CALL);
            $(let $argument = $crate::native::Argument::to_native($argument, &context)?;)*
            let _ = context;
            native_call!(&object, $interface::$method(native, $($value,)* buffer, capacity, given))
        })
    }};
}

/// Requests the next tokens: enumeration, buffer, capacity, number of returned tokens.
type Next<'m> = dyn FnMut(&mut *mut c_void, *mut u32, u32, &mut u32) -> Result<Hresult> + 'm;

/// The number of items in each request.
const BATCH: usize = 16;

/// The interface of an enumeration, which also closes it.
pub(crate) enum Source<'m> {
    Import(&'m ModuleBound<sys::IMetaDataImport2>),
    Assembly(ModuleBound<sys::IMetaDataAssemblyImport>),
    /// It could not be opened.
    Missing,
}

impl Source<'_> {
    /// Prevents the unload of the module during this call.
    fn pin(&self, call: &'static str) -> Result<InFlight> {
        match self {
            Self::Import(import) => import.pin(call),
            Self::Assembly(assembly) => assembly.pin(call),
            Self::Missing => Ok(InFlight::begin()),
        }
    }
}

/// An item of an enumeration.
pub trait MetadataItem: Sized {
    /// The item of a token, or of two tokens if the enumeration has pairs.
    #[doc(hidden)]
    fn take(call: &'static str, first: u32, second: u32) -> Result<Self>;
}

impl<T> MetadataItem for T
where
    T: TryFrom<Token>,
    T::Error: fmt::Display,
{
    fn take(call: &'static str, first: u32, _second: u32) -> Result<Self> {
        typed(call, first)
    }
}

/// An explicit implementation: a method body of a type, and the declaration that it implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodImpl {
    /// The method of the type: a `MethodDef` or `MemberRef`.
    pub body: Token,
    /// The declaration that it implements: a `MethodDef` or `MemberRef`.
    pub declaration: Token,
}

impl MetadataItem for MethodImpl {
    fn take(_call: &'static str, first: u32, second: u32) -> Result<Self> {
        Ok(Self {
            body: Token::new(first),
            declaration: Token::new(second),
        })
    }
}

/// The tokens of an enumeration, in the order of the metadata.
///
/// It can be dropped early. It ends after an error. Dropping it also wraps `IMetaDataImport::CloseEnum` and
/// `IMetaDataAssemblyImport::CloseEnum`.
#[doc(alias = "HCORENUM")]
#[doc(alias = "CloseEnum")]
pub struct MetadataIter<'m, T> {
    source: Source<'m>,
    next: Box<Next<'m>>,
    call: &'static str,
    native: *mut c_void,
    /// The tokens, followed by the second tokens of pairs.
    batch: [u32; 2 * BATCH],
    given: usize,
    taken: usize,
    ended: bool,
    tokens: PhantomData<T>,
}

impl<'m, T> MetadataIter<'m, T> {
    pub(crate) fn new(
        call: &'static str,
        source: Source<'m>,
        next: impl FnMut(&mut *mut c_void, *mut u32, u32, &mut u32) -> Result<Hresult> + 'm,
    ) -> Self {
        Self {
            source,
            next: Box::new(next),
            call,
            native: std::ptr::null_mut(),
            batch: [0; 2 * BATCH],
            given: 0,
            taken: 0,
            ended: false,
            tokens: PhantomData,
        }
    }

    /// An enumeration whose interface could not be opened: the error is its only item.
    pub(crate) fn failed(call: &'static str, error: Error) -> Self {
        let mut error = Some(error);
        Self::new(call, Source::Missing, move |_, _, _, _| {
            error.take().map_or(Ok(Hresult::S_FALSE), Err)
        })
    }

    /// The number of all items of the enumeration, whatever its position.
    ///
    /// Wraps `IMetaDataImport::CountEnum`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "CountEnum")]
    pub fn total(&mut self) -> Result<u32> {
        self.open()?;
        let mut count = 0;
        if !self.native.is_null() {
            let counter = self.counter()?;
            native_call!(
                &counter,
                IMetaDataImport::CountEnum(self.native, &mut count)
            )?;
        }
        Ok(count)
    }

    /// Continues with the item at this position, which counts from 0.
    ///
    /// Wraps `IMetaDataImport::ResetEnum`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "ResetEnum")]
    pub fn reset(&mut self, position: u32) -> Result<()> {
        self.open()?;
        if !self.native.is_null() {
            // The runtime does not check the number.
            let position = position.min(self.total()?);
            let counter = self.counter()?;
            native_call!(&counter, IMetaDataImport::ResetEnum(self.native, position))?;
            (self.taken, self.given, self.ended) = (0, 0, false);
        }
        Ok(())
    }

    /// The interface that counts, for enumerations of either interface.
    fn counter(&self) -> Result<InUse<sys::IMetaDataImport>> {
        const CALL: &str = "IMetaDataImport::CountEnum";
        match &self.source {
            Source::Import(import) => import.query_interface(CALL),
            Source::Assembly(assembly) => assembly.query_interface(CALL),
            Source::Missing => Err(Error::invalid(CALL, "the metadata was not opened")),
        }
    }

    /// Starts the enumeration, unless it has started.
    fn open(&mut self) -> Result<()> {
        if self.native.is_null() && !self.ended {
            self.refill()
        } else {
            Ok(())
        }
    }

    /// Fills the buffer, whose second half, after the `BATCH` requested tokens, has the second tokens of
    /// pairs.
    fn refill(&mut self) -> Result<()> {
        let mut given = 0;
        (self.taken, self.given) = (0, 0);
        // An error is returned once.
        self.ended = true;
        let _in_use = self.source.pin(self.call)?;
        let answer = (self.next)(
            &mut self.native,
            self.batch.as_mut_ptr(),
            BATCH as u32,
            &mut given,
        );
        self.given = BATCH.min(given as usize);
        self.ended = self.given == 0 || answer.is_err();
        answer.map(drop)
    }
}

/// The address of the second tokens of pairs, in the buffer that the enumeration passes.
pub(super) fn second_half(buffer: *mut u32) -> *mut u32 {
    // This address is in `batch`, because `buffer` is its start.
    buffer.wrapping_add(BATCH)
}

impl<T: MetadataItem> Iterator for MetadataIter<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken == self.given
            && !self.ended
            && let Err(error) = self.refill()
        {
            self.given = 0;
            return Some(Err(error));
        }
        let token = *self.batch.get(..self.given)?.get(self.taken)?;
        let second = *self.batch.get(BATCH + self.taken)?;
        self.taken += 1;
        Some(T::take(self.call, token, second))
    }
}

impl<T> Drop for MetadataIter<'_, T> {
    fn drop(&mut self) {
        if self.native.is_null() {
            return;
        }
        // After an unload of the module nothing is left to close.
        let Ok(_in_use) = self.source.pin(self.call) else {
            return;
        };
        // SAFETY: the enumeration was opened by this interface and is closed once.
        unsafe {
            match &self.source {
                Source::Import(import) => import.CloseEnum(self.native),
                Source::Assembly(assembly) => assembly.CloseEnum(self.native),
                Source::Missing => {}
            }
        }
    }
}

impl<T> fmt::Debug for MetadataIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetadataIter")
    }
}
