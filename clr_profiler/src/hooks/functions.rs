//! What is kept for each function that has hooks.

use std::fmt;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut, with_exposed_provenance};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::ids::FunctionId;
use crate::info::Shape;

/// A function that has hooks, with what the filter made for it.
///
/// Compiled code holds its address, and nobody tells when the last of that code is gone: it lives
/// as long as the process.
pub struct HookedFunction<T: 'static> {
    function: FunctionId,
    data: T,
    /// How its arguments are in memory, where its hooks look at them.
    shape: Option<Box<Shape>>,
    /// The one that was made before this one.
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

    /// What the filter made for it.
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

/// All functions that have hooks by now, from the newest on.
///
/// From [`Setup::hooks`](crate::Setup::hooks). Can be read on any thread at any time; it takes no
/// lock.
pub struct HookedFunctions<T: 'static>(Arc<AtomicPtr<HookedFunction<T>>>);

impl<T: Send + Sync + 'static> HookedFunctions<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicPtr::new(null_mut())))
    }

    /// Keeps a function, and gives the number that stands for it in compiled code.
    pub(super) fn push(&self, function: FunctionId, data: T, shape: Option<Box<Shape>>) -> usize {
        let place = Box::into_raw(Box::new(HookedFunction {
            function,
            data,
            shape,
            next: None,
        }));
        let mut first = self.0.load(Ordering::Acquire);
        loop {
            // SAFETY: nobody else has this pointer before the exchange. What `first` points to was
            // leaked by an earlier `push`, and is only read from then on.
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

    /// The functions, from the newest on.
    pub fn iter(&self) -> impl Iterator<Item = &'static HookedFunction<T>> + use<T> {
        // SAFETY: null, or leaked by `push`, after which it is only read.
        let first: Option<&'static HookedFunction<T>> =
            NonNull::new(self.0.load(Ordering::Acquire)).map(|first| unsafe { first.as_ref() });
        std::iter::successors(first, |function| function.next)
    }
}

/// The function that a number stands for.
///
/// # Safety
///
/// `HookedFunctions<T>::push` gave it.
#[inline]
pub(super) unsafe fn function_of<T>(number: usize) -> &'static HookedFunction<T> {
    // SAFETY: `push` leaked it and exposed its address; it is only read since.
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
                        // SAFETY: `push` gave it, for this type.
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
