//! The options of a [`Rejit`](super::Rejit).

use crate::event_mask::EventMask;

/// The treatment of methods that have inlined a method whose IL changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Inliners {
    /// They are compiled again, with a call instead of the inlined code, and get their first code back as
    /// soon as no method has new IL (.NET Core 3.0 and newer; .NET Framework has no such call, and the component is refused
    /// there).
    ///
    /// One thread can inline a method at the moment in which another thread requests its ReJIT. .NET Core 3.1
    /// can then hang, and both it and .NET 8 can crash, while they handle that. If you request many methods
    /// while they are being compiled, refuse to inline them: [`jit_inlining`](crate::Profiler::jit_inlining).
    #[default]
    Follow,
    /// They keep the code that they have, and with it the inlined copy of the old IL.
    Keep,
}

/// The treatment of methods that have precompiled code (ReadyToRun), as nearly all of .NET's own libraries
/// have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precompiled {
    /// They are compiled again like all others, and so is the precompiled code that has inlined them. The
    /// runtime does not record precompiled code that has inlined a method of another module, which is
    /// possible for the few methods that .NET marks for that. On .NET Core 3.1 an attached profiler cannot find all
    /// precompiled code that has inlined a method.
    #[default]
    Rejit,
    /// Methods of modules that have precompiled code are left alone:
    /// [`RejitState::Refused`](super::RejitState::Refused).
    Refuse,
    /// No precompiled code is used in the whole program, which makes its start take two to three
    /// times as long. Not for a profiler that is attached to a running program.
    ///
    /// Sets [`DISABLE_ALL_NGEN_IMAGES`](EventMask::DISABLE_ALL_NGEN_IMAGES). On .NET Framework, each `Rejit` does.
    DisableImages,
}

/// The options of a [`Rejit`](super::Rejit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejitOptions {
    /// The treatment of methods that have inlined one whose IL changes.
    pub inliners: Inliners,
    /// The treatment of methods that have precompiled code.
    pub precompiled: Precompiled,
}

impl RejitOptions {
    /// The events that the callbacks of the component do not imply.
    pub(super) fn events(&self) -> EventMask {
        match self.precompiled {
            Precompiled::DisableImages => EventMask::DISABLE_ALL_NGEN_IMAGES,
            Precompiled::Rejit | Precompiled::Refuse => EventMask::empty(),
        }
    }
}
