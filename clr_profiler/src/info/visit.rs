//! Calls during which the runtime calls back for each item: the visitor of the caller, and how it ended.

use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::Result;

/// What the runtime passes through to its callback.
pub(super) struct Visit<V> {
    visitor: V,
    /// Whether the visitor said to stop.
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

    /// What the callback gets as its data.
    pub(super) fn data(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }

    /// What the callback got as its data.
    ///
    /// # Safety
    ///
    /// It came from [`data`](Self::data) of the same `V`, during the call that it was passed to, and
    /// nobody else touches it during `'a`.
    pub(super) unsafe fn of<'a>(data: *mut c_void) -> &'a mut Self {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *data.cast::<Self>() }
    }

    /// Whether the visitor is not to be called any more: not every runtime heeds that.
    pub(super) fn is_over(&self) -> bool {
        self.stopped || self.panic.is_some()
    }

    /// Calls the visitor, and says whether to go on. A panic ends here for now.
    pub(super) fn item(&mut self, visit: impl FnOnce(&mut V) -> ControlFlow<()>) -> bool {
        match catch_unwind(AssertUnwindSafe(|| visit(&mut self.visitor))) {
            Ok(ControlFlow::Continue(())) => return true,
            Ok(ControlFlow::Break(())) => self.stopped = true,
            Err(payload) => self.panic = Some(payload),
        }
        false
    }

    /// What the call answered, and whether the visitor stopped it; a panic of the visitor goes on.
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

    /// Calls back three times, whatever it is told, as some runtimes do, and says how it ended.
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
