//! The functions that have hooks, with their data.

use std::fmt;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, with_exposed_provenance};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::ids::FunctionId;
use crate::info::Shape;

/// The bytes of all functions that have hooks.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes of all functions that have hooks, without the values to which their data refers.
pub(crate) fn held_bytes() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// A function that has hooks, with its data from the filter.
///
/// Lives as long as the process: compiled code holds its address, and the runtime does not report
/// when the last of that code is gone.
pub struct HookedFunction<T: 'static> {
    function: FunctionId,
    data: T,
    /// The layout of its arguments, if its hooks read them.
    shape: Option<Box<Shape>>,
    /// The function added before this one.
    next: Option<&'static HookedFunction<T>>,
}

impl<T> HookedFunction<T> {
    /// The function.
    #[must_use]
    pub fn id(&self) -> FunctionId {
        self.function
    }

    pub(super) fn shape(&self) -> Option<&Shape> {
        self.shape.as_deref()
    }

    /// The data that the filter returned for it.
    #[must_use]
    pub fn data(&self) -> &T {
        &self.data
    }
}

impl<T> Deref for HookedFunction<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T: fmt::Debug> fmt::Debug for HookedFunction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedFunction")
            .field("function", &self.function)
            .field("data", &self.data)
            .finish()
    }
}

/// All functions that have hooks so far, newest first.
///
/// Returned by [`Setup::hooks`](crate::Setup::hooks). Can be read on any thread at any time,
/// without a lock.
pub struct HookedFunctions<T: 'static>(Arc<AtomicPtr<HookedFunction<T>>>);

impl<T: Send + Sync + 'static> HookedFunctions<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicPtr::new(null_mut())))
    }

    /// Adds a function, and returns the client id that compiled code passes to its hooks.
    pub(super) fn push(&self, function: FunctionId, data: T, shape: Option<Box<Shape>>) -> usize {
        let shape_bytes = shape.as_ref().map_or(0, |shape| size_of_val(&**shape));
        HELD.fetch_add(
            size_of::<HookedFunction<T>>() + shape_bytes,
            Ordering::Relaxed,
        );
        let place = Box::into_raw(Box::new(HookedFunction {
            function,
            data,
            shape,
            next: None,
        }));
        let mut first = self.0.load(Ordering::Acquire);
        loop {
            // SAFETY: no other thread has this pointer before the exchange. The target of `first`
            // was leaked by an earlier `push`, and is only read from then on.
            unsafe { (*place).next = first.as_ref() };
            match self
                .0
                .compare_exchange_weak(first, place, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return place.expose_provenance(),
                Err(newer) => first = newer,
            }
        }
    }

    /// The functions, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &'static HookedFunction<T>> + use<T> {
        // SAFETY: null, or leaked by `push` and only read since.
        let first: Option<&'static HookedFunction<T>> =
            NonNull::new(self.0.load(Ordering::Acquire)).map(|first| unsafe { first.as_ref() });
        std::iter::successors(first, |function| function.next)
    }
}

/// The function of a client id.
///
/// # Safety
///
/// `HookedFunctions<T>::push` returned `number`.
#[inline]
pub(super) unsafe fn function_of<T>(number: usize) -> &'static HookedFunction<T> {
    // SAFETY: `push` leaked the function and exposed its address; it is only read since.
    unsafe { &*with_exposed_provenance::<HookedFunction<T>>(number) }
}

impl<T> Clone for HookedFunctions<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for HookedFunctions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookedFunctions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_kept_from_many_threads() {
        let functions = HookedFunctions::new();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let functions = functions.clone();
                scope.spawn(move || {
                    for index in 0..500 {
                        let number = thread * 500 + index;
                        let place = functions.push(FunctionId::from_runtime(number), number, None);
                        // SAFETY: `push` returned it, for this type.
                        let function = unsafe { function_of::<usize>(place) };
                        assert_eq!((function.id().raw(), **function), (number, number));
                    }
                });
            }
        });
        let mut all: Vec<usize> = functions.iter().map(|function| **function).collect();
        all.sort_unstable();
        assert_eq!(all, (0..4000).collect::<Vec<_>>());
    }

    #[test]
    fn no_number_is_zero() {
        let functions = HookedFunctions::new();
        assert_ne!(functions.push(FunctionId::from_runtime(1), (), None), 0);
    }
}
