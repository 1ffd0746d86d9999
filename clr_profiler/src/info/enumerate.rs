//! The runtime's enumerators as iterators.

use crate::error::{Result, check};
use clr_profiler_sys as sys;

/// How many items are asked for at once.
const BATCH: usize = 32;

/// An enumerator of the runtime, one a row: its items as they come, and its `Next`.
pub(super) trait NativeEnumerator {
    /// An item as the runtime gives it.
    type Raw: Copy + Default;
    /// The native call.
    const NEXT: &'static str;

    /// Fills `batch` with the next items, and says how many there were.
    fn next(&self, batch: &mut [Self::Raw]) -> Result<usize>;
}

macro_rules! native_enumerators {
    ($($enumerator:ident of $raw:ty;)*) => {$(
        impl NativeEnumerator for sys::$enumerator {
            type Raw = $raw;
            const NEXT: &'static str = concat!(stringify!($enumerator), "::Next");

            fn next(&self, batch: &mut [$raw]) -> Result<usize> {
                let mut given = 0;
                // SAFETY: the enumerator is alive, and `batch` has room for as many items as are
                // asked for.
                let answer = unsafe { self.Next(batch.len() as u32, batch.as_mut_ptr(), &mut given) };
                // Fewer than asked for is S_FALSE, at the end or before it.
                check(Self::NEXT, answer)?;
                Ok(batch.len().min(given as usize))
            }
        }
    )*};
}

native_enumerators! {
    ICorProfilerModuleEnum of sys::ModuleID;
    ICorProfilerThreadEnum of sys::ThreadID;
    ICorProfilerFunctionEnum of sys::COR_PRF_FUNCTION;
}

/// The items of an enumerator; nothing where the runtime gave none. After an error it ends.
pub(super) fn iterate<E: NativeEnumerator, T>(
    enumerator: Option<E>,
    convert: impl Fn(E::Raw) -> T,
) -> impl Iterator<Item = Result<T>> {
    let mut source = enumerator;
    let mut batch = [E::Raw::default(); BATCH];
    let mut left = 0..0;
    std::iter::from_fn(move || {
        if left.is_empty() {
            match source.as_ref()?.next(&mut batch) {
                Ok(0) => source = None,
                Ok(given) => left = 0..given,
                Err(error) => {
                    source = None;
                    return Some(Err(error));
                }
            }
        }
        let item = batch.get(left.next()?)?;
        Some(Ok(convert(*item)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Hresult};
    use std::cell::Cell;

    /// Gives the numbers up to `end`, `batch` at a time, and then an error if there is one.
    struct Numbers {
        next: Cell<u32>,
        end: u32,
        batch: usize,
        fails: bool,
    }

    impl NativeEnumerator for Numbers {
        type Raw = u32;
        const NEXT: &'static str = "Numbers::Next";

        fn next(&self, batch: &mut [u32]) -> Result<usize> {
            let start = self.next.get();
            let given = self.batch.min(batch.len()).min((self.end - start) as usize);
            if given == 0 && self.fails {
                return Err(Error::call(Self::NEXT, Hresult::E_FAIL));
            }
            for (offset, slot) in batch.iter_mut().take(given).enumerate() {
                *slot = start + offset as u32;
            }
            self.next.set(start + given as u32);
            Ok(given)
        }
    }

    fn numbers(end: u32, batch: usize, fails: bool) -> Vec<Result<u32, String>> {
        let source = Numbers {
            next: Cell::new(0),
            end,
            batch,
            fails,
        };
        let items = iterate(Some(source), |number| number);
        items
            .map(|item| item.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn every_item_comes_once_whatever_the_batch() {
        for end in [0, 1, 31, 32, 33, 100] {
            for batch in [1, 7, 32, 1000] {
                let expected: Vec<_> = (0..end).map(Ok).collect();
                assert_eq!(numbers(end, batch, false), expected);
            }
        }
        assert_eq!(iterate(None::<Numbers>, |number| number).count(), 0);
    }

    #[test]
    fn an_error_is_the_last_item() {
        let items = numbers(33, 32, true);
        assert_eq!(items.len(), 34);
        assert!(
            items[33]
                .as_ref()
                .is_err_and(|error| error.contains("Numbers::Next"))
        );
    }
}
