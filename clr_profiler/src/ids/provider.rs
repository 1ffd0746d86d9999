//! Ids of EventPipe providers, which the program frees.

use std::fmt;
use std::marker::PhantomData;

/// A provider of EventPipe events.
///
/// The runtime frees a provider when the program disposes its `EventSource`, without a callback. So a
/// provider that a callback delivers is valid only during that callback: keeping it does not compile. One
/// that the profiler has created is an `EventPipeProviderId<'static>`, and lives as long as the process.
///
/// The native type is `EVENTPIPE_PROVIDER`.
#[doc(alias = "EVENTPIPE_PROVIDER")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct EventPipeProviderId<'a> {
    raw: usize,
    there: PhantomData<&'a ()>,
}

impl EventPipeProviderId<'_> {
    /// Creates the id of a provider from its native number.
    ///
    /// # Safety
    ///
    /// The runtime of this process returned the number for a provider, which exists for the lifetime.
    #[must_use]
    pub const unsafe fn from_raw(raw: usize) -> Self {
        Self::from_runtime(raw)
    }

    /// The id of a provider that the runtime passes, for the time that it exists.
    pub(crate) const fn from_runtime(raw: usize) -> Self {
        Self {
            raw,
            there: PhantomData,
        }
    }

    /// The native number of the provider, which may be reused after it is freed.
    #[must_use]
    pub const fn raw(self) -> usize {
        self.raw
    }
}

impl fmt::Debug for EventPipeProviderId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventPipeProviderId({:#x})", self.raw)
    }
}
