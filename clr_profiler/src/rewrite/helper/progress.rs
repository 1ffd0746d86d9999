//! [`Progress`]: the progress of a program in loading a helper.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Error;
use clr_profiler_il::token::{Token, TypeRef};

/// Four numbers that inserted code writes, on threads of the program, and an error. They live as long as the process, as
/// that code may.
#[derive(Debug, Default)]
pub(in crate::rewrite) struct Progress {
    step: AtomicU32,
    is_done: AtomicU32,
    /// Whether the runtime has loaded it from memory, which it does only once.
    is_loaded: AtomicU32,
    /// Whether the code of a method, which runs once, has failed.
    has_failed: AtomicU32,
    /// The first error of putting the code into a module.
    error: OnceLock<String>,
}

/// The step of the loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The code that loads the helper has not run.
    NotBegun,
    /// The runtime is loading the file, or has refused it.
    Loading,
    /// The helper is loaded, and this type that it refers to is being resolved, or was not found.
    Resolving(TypeRef),
    /// The helper is loaded, and so is all that it refers to.
    Done,
}

impl Progress {
    /// The step while the helper is being loaded; after that, the step is the token of a type.
    pub(super) const LOADING: i32 = 1;

    /// The progress of a new helper.
    pub(super) fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    pub(super) fn step(&self) -> Step {
        if self.is_done.load(Ordering::Acquire) != 0 {
            return Step::Done;
        }
        match self.step.load(Ordering::Acquire) {
            0 => Step::NotBegun,
            token => TypeRef::try_from(Token::new(token)).map_or(Step::Loading, Step::Resolving),
        }
    }

    /// A number that differs between helpers.
    pub(super) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Records that the code could not be put into a module.
    pub(super) fn failed(&self, error: &Error) {
        self.error.get_or_init(|| error.to_string());
    }

    pub(super) fn error(&self) -> Option<&str> {
        self.error.get().map(String::as_str)
    }

    /// The address at which the code writes the step.
    pub(super) fn step_address(&self) -> usize {
        self.step.as_ptr().addr()
    }

    /// Whether the code of a method has failed to load the helper.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire) != 0
    }

    /// The address at which the code of a method writes 1 if it fails.
    pub(super) fn failure_address(&self) -> usize {
        self.has_failed.as_ptr().addr()
    }

    /// The address at which the code writes 1 when it has loaded the helper from memory.
    pub(super) fn loaded_address(&self) -> usize {
        self.is_loaded.as_ptr().addr()
    }

    /// The address at which the code writes 1 in the end.
    pub(super) fn done_address(&self) -> usize {
        self.is_done.as_ptr().addr()
    }
}
