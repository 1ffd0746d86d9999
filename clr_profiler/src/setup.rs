//! [`Setup`]: what `initialize` decides.

use std::fmt;

use crate::events::EventMask;
use crate::failure::Failure;

/// A hook that is told of failed callbacks.
pub(crate) type FailureHook = Box<dyn Fn(&Failure) + Send + Sync>;

/// What `initialize` decides about the profiler: events, and what happens when a callback fails.
///
/// It starts with the events of the callbacks that the profiler overrides.
///
/// ```
/// # use clr_profiler::prelude::*;
/// # fn initialize(setup: &mut Setup) {
/// setup
///     .add_events(EventMask::ENABLE_REJIT)
///     .on_failure(|failure| eprintln!("my profiler: {failure}"));
/// # }
/// ```
pub struct Setup {
    pub(crate) events: EventMask,
    pub(crate) on_failure: Option<FailureHook>,
    pub(crate) panic_limit: u32,
}

impl Setup {
    /// How many panics a profiler survives unless it says otherwise.
    pub const DEFAULT_PANIC_LIMIT: u32 = 16;

    pub(crate) fn new(events: EventMask) -> Self {
        Self {
            events,
            on_failure: None,
            panic_limit: Self::DEFAULT_PANIC_LIMIT,
        }
    }

    /// The events that the runtime will report.
    pub fn events(&self) -> EventMask {
        self.events
    }

    /// Asks for more than the overridden callbacks imply: features, or flags like
    /// [`EventMask::DISABLE_INLINING`].
    pub fn add_events(&mut self, events: EventMask) -> &mut Self {
        self.events |= events;
        self
    }

    /// Takes events away. Callbacks that need them are not called.
    pub fn remove_events(&mut self, events: EventMask) -> &mut Self {
        self.events -= events;
        self
    }

    /// Sets the hook that is told when a callback returns an error or panics.
    ///
    /// Without one, failures are silent: a library does not write to its host's streams. The hook
    /// runs on the thread of the callback, and so possibly on many at once; what it may do is what
    /// that callback may do. A panic in it is swallowed.
    pub fn on_failure(&mut self, hook: impl Fn(&Failure) + Send + Sync + 'static) -> &mut Self {
        self.on_failure = Some(Box::new(hook));
        self
    }

    /// Sets after how many panics the profiler is retired: from then on no callback reaches it and
    /// the program runs as if unprofiled. At least one.
    pub fn panic_limit(&mut self, panics: u32) -> &mut Self {
        self.panic_limit = panics.max(1);
        self
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("events", &self.events)
            .field("on_failure", &self.on_failure.is_some())
            .field("panic_limit", &self.panic_limit)
            .finish()
    }
}
