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
        // SAFETY: as the caller promises.
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
