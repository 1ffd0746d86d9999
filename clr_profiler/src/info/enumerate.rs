//! The runtime's enumerators as iterators.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::ProfilerInfo;
use crate::error::Result;
use crate::ids::{FunctionId, ModuleId, ObjectId, RejitId, ThreadId};
use crate::lifetimes::InFlight;
use crate::lifetimes::seen::{self, Epoch};
use crate::native::{CallContext, FromNative};
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;

/// The number of items of one native call.
const BATCH: usize = 32;

/// A native enumerator: its raw items and its methods.
pub(super) trait NativeEnumerator: Sized {
    /// A raw item.
    type Raw: Copy + Default;

    /// Fills `batch` with the next items, and returns their number.
    fn next(&self, batch: &mut [Self::Raw]) -> Result<usize>;

    /// The total number of items.
    fn count(&self) -> Result<u32>;

    /// Skips the next items.
    fn skip(&self, items: u32) -> Result<()>;

    /// Goes back to the start.
    fn reset(&self) -> Result<()>;

    /// A second enumerator of the same items; the runtime decides its position.
    fn duplicate(&self) -> Result<Option<Self>>;
}

/// The remaining items of an enumerator; none if the runtime returned no enumerator.
pub(super) struct Items<E: NativeEnumerator> {
    source: Option<E>,
    /// Items that were fetched; those in `left` are still to be returned.
    batch: [E::Raw; BATCH],
    left: Range<usize>,
    /// The number of items that the source has returned or skipped since its start.
    passed: u32,
    /// Whether the end or an error was reached.
    ended: bool,
}

impl<E: NativeEnumerator> Items<E> {
    pub(super) fn new(source: Option<E>) -> Self {
        Self {
            ended: source.is_none(),
            source,
            batch: [E::Raw::default(); BATCH],
            left: 0..0,
            passed: 0,
        }
    }

    /// The next item. After an error there is none.
    fn next(&mut self) -> Option<Result<E::Raw>> {
        if self.left.is_empty() {
            if self.ended {
                return None;
            }
            match self.source.as_ref()?.next(&mut self.batch) {
                Ok(0) => self.ended = true,
                Ok(given) => {
                    self.left = 0..given.min(BATCH);
                    self.passed = self.passed.saturating_add(self.left.len() as u32);
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        self.batch.get(self.left.next()?).copied().map(Ok)
    }

    fn count(&self) -> Result<usize> {
        let source = self.source.as_ref();
        Ok(source.map_or(Ok(0), E::count)? as usize)
    }

    fn skip(&mut self, items: usize) -> Result<()> {
        let known = self.left.len().min(items);
        self.left.start += known;
        let rest = u32::try_from(items - known).unwrap_or(u32::MAX);
        match &self.source {
            Some(source) if rest > 0 => source.skip(rest)?,
            _ => return Ok(()),
        }
        self.passed = self.passed.saturating_add(rest);
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.left = 0..0;
        self.passed = 0;
        self.ended = self.source.is_none();
        self.source.as_ref().map_or(Ok(()), E::reset)
    }

    fn duplicate(&self) -> Result<Self> {
        let source = self.source.as_ref();
        let source = source.map_or(Ok(None), E::duplicate)?;
        // The documentation says that a clone has the position of the original, but the clones of runtimes
        // begin with the first item.
        if let Some(source) = source.as_ref().filter(|_| self.passed > 0) {
            source.reset()?;
            source.skip(self.passed)?;
        }
        Ok(Self {
            source,
            batch: self.batch,
            left: self.left.clone(),
            passed: self.passed,
            ended: self.ended,
        })
    }
}

/// Defines the enumerators. A row has the native interface and its raw and converted items.
macro_rules! enumerators {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? = $native:ident of $raw:ty => $item:ty;
    )*) => {$(
        impl NativeEnumerator for sys::$native {
            type Raw = $raw;

            fn next(&self, batch: &mut [$raw]) -> Result<usize> {
                let mut given = 0;
                // S_FALSE means fewer items than requested, at the end or before it.
                native_call!(self, $native::Next(batch.len() as u32, batch.as_mut_ptr(), &mut given))?;
                Ok(batch.len().min(given as usize))
            }

            fn count(&self) -> Result<u32> {
                let mut count = 0;
                native_call!(self, $native::GetCount(&mut count))?;
                Ok(count)
            }

            fn skip(&self, items: u32) -> Result<()> {
                native_call!(self, $native::Skip(items))?;
                Ok(())
            }

            fn reset(&self) -> Result<()> {
                native_call!(self, $native::Reset())?;
                Ok(())
            }

            fn duplicate(&self) -> Result<Option<Self>> {
                let mut second = None;
                native_call!(self, $native::Clone(&mut second))?;
                Ok(second)
            }
        }

        $(#[$doc])*
        ///
        #[doc = concat!(
            "Wraps `", stringify!($native), "::Next` as the iterator, which ends after an error, and ",
            "`GetCount`, `Skip`, `Reset` and `Clone`."
        )]
        #[clr_profiler_macros::native($native)]
        pub struct $name $(<$life>)? {
            items: Items<sys::$native>,
            /// When the runtime created it. It does not learn of later unloads.
            made: Epoch,
            $(info: PhantomData<&$life ProfilerInfo>,)?
        }

        impl $(<$life>)? $name $(<$life>)? {
            pub(super) fn new(native: Option<sys::$native>) -> Self {
                Self {
                    items: Items::new(native),
                    made: seen::now(),
                    $(info: PhantomData::<&$life ProfilerInfo>,)?
                }
            }

            /// The total number of items, including those already returned or skipped.
            ///
            /// # Errors
            ///
            /// The error of the native call.
            #[doc(alias = "GetCount")]
            pub fn total(&self) -> Result<usize> {
                self.items.count()
            }

            /// Skips the next items, or all remaining ones if there are fewer.
            ///
            /// # Errors
            ///
            /// The error of the native call.
            #[doc(alias = "Skip")]
            pub fn leave_out(&mut self, items: usize) -> Result<()> {
                self.items.skip(items)
            }

            /// Goes back to the first item.
            ///
            /// # Errors
            ///
            /// The error of the native call.
            #[doc(alias = "Reset")]
            pub fn reset(&mut self) -> Result<()> {
                self.items.reset()
            }

            /// Returns a second enumerator at the same position.
            ///
            /// # Errors
            ///
            /// The error of the native call.
            #[doc(alias = "Clone")]
            pub fn try_clone(&self) -> Result<Self> {
                Ok(Self {
                    items: self.items.duplicate()?,
                    made: self.made,
                    $(info: PhantomData::<&$life ProfilerInfo>,)?
                })
            }
        }

        impl $(<$life>)? FromNative<Option<sys::$native>> for $name $(<$life>)? {
            fn from_native(raw: Option<sys::$native>, _: &CallContext<'_>) -> Result<Self> {
                Ok(Self::new(raw))
            }
        }

        impl $(<$life>)? Iterator for $name $(<$life>)? {
            type Item = Result<$item>;

            fn next(&mut self) -> Option<Result<$item>> {
                let context = CallContext::of(concat!(stringify!($native), "::Next"));
                let item = self.items.next()?;
                // From here on, unloads wait.
                let _in_flight = InFlight::begin();
                let made = (seen::now() != self.made).then_some(self.made);
                Some(item.and_then(|item| <$item>::enumerated(item, made, &context)))
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

enumerators! {
    /// The modules of a runtime: an iterator, from
    /// [`modules`](crate::info::CorProfilerInfo3::modules).
    ModuleEnum = ICorProfilerModuleEnum of sys::ModuleID => ModuleId;

    /// The managed threads of a runtime: an iterator, from
    /// [`threads`](crate::info::CorProfilerInfo4::threads).
    ThreadEnum = ICorProfilerThreadEnum of sys::ThreadID => ThreadId;

    /// Functions that have native code: an iterator, from
    /// [`jitted_functions2`](crate::info::CorProfilerInfo4::jitted_functions2).
    FunctionEnum = ICorProfilerFunctionEnum of sys::COR_PRF_FUNCTION => (FunctionId, RejitId);

    /// Methods by module and token: an iterator, from
    /// [`ngen_module_methods_inlining_this_method`](crate::info::CorProfilerInfo6::ngen_module_methods_inlining_this_method).
    MethodEnum = ICorProfilerMethodEnum of sys::COR_PRF_METHOD => (ModuleId, MethodDef);

    /// Objects that are never collected: an iterator, from
    /// [`non_gc_objects`](crate::info::CorProfilerInfo14::non_gc_objects) and
    /// [`module_frozen_objects`](crate::info::CorProfilerInfo2::module_frozen_objects).
    ObjectEnum<'info> = ICorProfilerObjectEnum of sys::ObjectID => ObjectId<'info>;
}

/// An item that an enumerator returns as `Raw`. `made` is the epoch in which the enumerator was created, or
/// `None` if that is the current epoch.
trait Enumerated<Raw>: Sized {
    fn enumerated(raw: Raw, made: Option<Epoch>, context: &CallContext<'_>) -> Result<Self>;
}

impl Enumerated<usize> for ModuleId {
    fn enumerated(raw: usize, made: Option<Epoch>, _: &CallContext<'_>) -> Result<Self> {
        Ok(match made {
            Some(made) => Self::seen_in(raw, made),
            None => Self::from_runtime(raw),
        })
    }
}

impl Enumerated<sys::COR_PRF_FUNCTION> for (FunctionId, RejitId) {
    fn enumerated(
        raw: sys::COR_PRF_FUNCTION,
        made: Option<Epoch>,
        context: &CallContext<'_>,
    ) -> Result<Self> {
        let function = match made {
            Some(made) => FunctionId::seen_in(raw.functionId, made),
            None => FunctionId::from_runtime(raw.functionId),
        };
        Ok((function, FromNative::from_native(raw.reJitId, context)?))
    }
}

impl Enumerated<sys::COR_PRF_METHOD> for (ModuleId, MethodDef) {
    fn enumerated(
        raw: sys::COR_PRF_METHOD,
        made: Option<Epoch>,
        context: &CallContext<'_>,
    ) -> Result<Self> {
        let module = ModuleId::enumerated(raw.moduleId, made, context)?;
        Ok((module, FromNative::from_native(raw.methodId, context)?))
    }
}

impl Enumerated<usize> for ThreadId {
    /// An id that was reused meanwhile denotes the new thread.
    fn enumerated(raw: usize, _: Option<Epoch>, _: &CallContext<'_>) -> Result<Self> {
        Ok(Self::from_runtime(raw))
    }
}

impl Enumerated<usize> for ObjectId<'_> {
    /// Valid during the callback; the object is never collected.
    fn enumerated(raw: usize, _: Option<Epoch>, _: &CallContext<'_>) -> Result<Self> {
        Ok(Self::from_callback(raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Hresult};
    use std::cell::Cell;

    /// Returns the numbers up to `end`, `batch` at a time, and then an error if `fails`.
    #[derive(Clone)]
    struct Numbers {
        next: Cell<u32>,
        end: u32,
        batch: usize,
        fails: bool,
        copies_start_anew: bool,
    }

    impl NativeEnumerator for Numbers {
        type Raw = u32;

        fn next(&self, batch: &mut [u32]) -> Result<usize> {
            let start = self.next.get();
            let given = self.batch.min(batch.len()).min((self.end - start) as usize);
            if given == 0 && self.fails {
                return Err(Error::call("Numbers::Next", Hresult::E_FAIL));
            }
            for (offset, slot) in batch.iter_mut().take(given).enumerate() {
                *slot = start + offset as u32;
            }
            self.next.set(start + given as u32);
            Ok(given)
        }

        fn count(&self) -> Result<u32> {
            Ok(self.end)
        }

        fn skip(&self, items: u32) -> Result<()> {
            self.next
                .set(self.next.get().saturating_add(items).min(self.end));
            Ok(())
        }

        fn reset(&self) -> Result<()> {
            self.next.set(0);
            Ok(())
        }

        fn duplicate(&self) -> Result<Option<Self>> {
            let second = self.clone();
            if self.copies_start_anew {
                second.next.set(0);
            }
            Ok(Some(second))
        }
    }

    fn numbers(end: u32, batch: usize, fails: bool) -> Items<Numbers> {
        Items::new(Some(Numbers {
            next: Cell::new(0),
            end,
            batch,
            fails,
            copies_start_anew: false,
        }))
    }

    fn rest(items: &mut Items<Numbers>) -> Vec<Result<u32, String>> {
        std::iter::from_fn(|| items.next())
            .map(|item| item.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn every_item_comes_once_whatever_the_batch() {
        for end in [0, 1, 31, 32, 33, 100] {
            for batch in [1, 7, 32, 1000] {
                let expected: Vec<_> = (0..end).map(Ok).collect();
                let mut items = numbers(end, batch, false);
                assert_eq!(rest(&mut items), expected);
                items.reset().unwrap();
                assert_eq!(rest(&mut items), expected);
            }
        }
        let mut none = Items::<Numbers>::new(None);
        assert!(none.next().is_none());
        none.skip(5).unwrap();
        none.reset().unwrap();
        assert_eq!(none.count().unwrap(), 0);
        assert!(none.duplicate().unwrap().next().is_none());
    }

    #[test]
    fn a_copy_stands_where_the_original_does_whatever_the_runtime_does() {
        for copies_start_anew in [false, true] {
            for (given, left_out) in [(0, 0), (1, 0), (0, 40), (33, 3), (100, 5)] {
                let mut items = numbers(100, 32, false);
                items.source.as_mut().unwrap().copies_start_anew = copies_start_anew;
                for _ in 0..given {
                    items.next().unwrap().unwrap();
                }
                items.skip(left_out).unwrap();
                let mut copy = items.duplicate().unwrap();
                assert_eq!(rest(&mut copy), rest(&mut items), "{given} {left_out}");
                copy.reset().unwrap();
                assert_eq!(rest(&mut copy).len(), 100);
            }
        }
    }

    #[test]
    fn an_error_is_the_last_item() {
        let items = rest(&mut numbers(33, 32, true));
        assert_eq!(items.len(), 34);
        assert!(
            items[33]
                .as_ref()
                .is_err_and(|error| error.contains("Numbers::Next"))
        );
    }

    #[test]
    fn leaving_out_counts_what_was_asked_for_already() {
        for left_out in [0, 1, 29, 30, 31, 68, 98, 99, 200] {
            let mut items = numbers(100, 32, false);
            assert_eq!(items.next().unwrap().unwrap(), 0);
            let before = items.duplicate().unwrap();
            items.skip(left_out).unwrap();
            let expected: Vec<_> = (1 + left_out as u32..100).map(Ok).collect();
            assert_eq!(rest(&mut items), expected, "{left_out}");
            assert_eq!(items.count().unwrap(), 100);
            // The copy keeps its position.
            assert_eq!(rest(&mut { before }).len(), 99);
        }
    }
}
