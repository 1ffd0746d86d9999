//! Native calls that call back for each item: the caller's visitor, and how it ended.

use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::Result;

/// The data that the runtime passes unchanged to its callback.
pub(super) struct Visit<V> {
    visitor: V,
    /// Whether the visitor returned `Break`.
    stopped: bool,
    panic: Option<Box<dyn Any + Send>>,
}

impl<V> Visit<V> {
    pub(super) fn new(visitor: V) -> Self {
        Self {
            visitor,
            stopped: false,
            panic: None,
        }
    }

    /// The pointer to pass to the native call as data.
    pub(super) fn data(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    /// The visit that the callback receives as data.
    ///
    /// # Safety
    ///
    /// `data` is the result of [`data`](Self::data) for the same `V`, during the call that it was passed
    /// to, and nothing else accesses it during `'a`.
    pub(super) unsafe fn of<'a>(data: *mut c_void) -> &'a mut Self {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *data.cast::<Self>() }
    }

    /// Whether the visitor must not be called again: some runtimes continue although the callback stopped.
    pub(super) fn is_over(&self) -> bool {
        self.stopped || self.panic.is_some()
    }

    /// Calls the visitor, and returns whether to continue. A panic is caught until [`end`](Self::end).
    pub(super) fn item(&mut self, visit: impl FnOnce(&mut V) -> ControlFlow<()>) -> bool {
        match catch_unwind(AssertUnwindSafe(|| visit(&mut self.visitor))) {
            Ok(ControlFlow::Continue(())) => return true,
            Ok(ControlFlow::Break(())) => self.stopped = true,
            Err(payload) => self.panic = Some(payload),
        }
        false
    }

    /// The result of the native call, and whether the visitor stopped it. A panic of the visitor is
    /// resumed.
    pub(super) fn end<T>(self, answer: Result<T>) -> (Result<()>, bool) {
        if let Some(payload) = self.panic {
            resume_unwind(payload);
        }
        (answer.map(drop), self.stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::{catch, silence};

    /// Calls back three times, whatever the callback returns, as some runtimes do, and returns how the
    /// visit ended.
    fn walk(visitor: impl FnMut(u32) -> ControlFlow<()>) -> (Result<()>, bool) {
        let mut visit = Visit::new(visitor);
        for item in 0..3 {
            if !visit.is_over() {
                visit.item(|visitor| visitor(item));
            }
        }
        visit.end(Err::<(), _>(Error::other("it was stopped")))
    }

    #[test]
    fn a_panic_of_a_visitor_waits_until_the_runtime_has_returned() {
        silence();
        let mut visited = 0;
        let message = catch(|| {
            walk(|item| {
                visited += 1;
                assert_ne!(item, 1, "no one");
                ControlFlow::Continue(())
            })
        });
        let message = message.unwrap_err();
        assert!(message.contains("no one"), "{message}");
        assert_eq!(visited, 2, "it is not called again");
    }

    #[test]
    fn a_visitor_that_stops_is_not_called_again() {
        let mut visited = 0;
        let (answer, stopped) = walk(|_| {
            visited += 1;
            ControlFlow::Break(())
        });
        assert!(answer.is_err() && stopped);
        assert_eq!(visited, 1);
    }
}
