//! Ids of EventPipe's providers, which the program frees.

use std::fmt;
use std::marker::PhantomData;

/// A provider of EventPipe events.
///
/// The runtime frees a provider when the program disposes its `EventSource`, and tells nobody. So one that
/// a callback delivers is good during that callback: keeping it does not compile. One that the profiler has
/// made is an `EventPipeProviderId<'static>`, and lives as long as the process.
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
    /// The provider that native code knows by this number.
    ///
    /// # Safety
    ///
    /// The runtime of this process gave the number for a provider, which is there for as long as the
    /// lifetime says.
    #[must_use]
    pub const unsafe fn from_raw(raw: usize) -> Self {
        Self::from_runtime(raw)
    }

    /// The provider that the runtime gives as this number, for as long as it is there.
    pub(crate) const fn from_runtime(raw: usize) -> Self {
        Self {
            raw,
            there: PhantomData,
        }
    }

    /// The number by which native code knows it. Once it is gone, another one can get the number.
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
