//! How a [`Rejit`](super::Rejit) works.

use crate::event_mask::EventMask;

/// What becomes of methods that have inlined a method whose IL changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Inliners {
    /// They are compiled again, with a call in the place of the inlined code, and get their first
    /// code back when no method has other IL any more (.NET Core 3.0 and newer).
    ///
    /// A method can be inlined by one thread at the moment in which it is asked to be compiled again
    /// by another. .NET Core 3.1 can then hang, and it and .NET 8 can crash, in what they do about
    /// it. Who asks for many methods while they are being compiled keeps them from being inlined:
    /// [`jit_inlining`](crate::Profiler::jit_inlining).
    #[default]
    Follow,
    /// They keep the code that they have, and with it the inlined copy of the old IL.
    Keep,
}

/// What becomes of methods that have precompiled code (ReadyToRun), as nearly all of .NET's own
/// libraries have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precompiled {
    /// They are compiled again as all others are, and the precompiled code that has inlined them
    /// too. What the runtime does not remember is precompiled code that has inlined a method of
    /// another module, which it may do with few methods that .NET marks for that.
    #[default]
    Rejit,
    /// Methods of modules that have precompiled code are left alone:
    /// [`RejitState::Refused`](super::RejitState::Refused).
    Refuse,
    /// No precompiled code is used in the whole program, which makes its start take two to three
    /// times as long. Not for a profiler that is attached to a running program.
    ///
    /// Sets [`DISABLE_ALL_NGEN_IMAGES`](EventMask::DISABLE_ALL_NGEN_IMAGES).
    DisableImages,
}

/// How a [`Rejit`](super::Rejit) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejitOptions {
    /// What becomes of methods that have inlined one whose IL changes.
    pub inliners: Inliners,
    /// What becomes of methods that have precompiled code.
    pub precompiled: Precompiled,
}

impl RejitOptions {
    /// The events that no callback stands for.
    pub(super) fn events(&self) -> EventMask {
        match self.precompiled {
            Precompiled::DisableImages => EventMask::DISABLE_ALL_NGEN_IMAGES,
            Precompiled::Rejit | Precompiled::Refuse => EventMask::empty(),
        }
    }
}
