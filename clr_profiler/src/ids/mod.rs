//! Ids that the runtime gives to its things: one type each, so that they cannot be mixed up.

mod object;
mod provider;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::Hresult;
use crate::lifetimes::State;
use crate::lifetimes::seen::{self, Epoch, Kind};
use crate::lifetimes::threads::{self, Generation};

pub(crate) use object::Moves;
pub use object::{ObjectId, ObjectIds};
pub use provider::EventPipeProviderId;

/// What all ids have.
macro_rules! id {
    ($name:ident) => {
        impl $name {
            /// The number by which native code knows it.
            #[must_use]
            pub const fn raw(self) -> usize {
                self.raw
            }

            /// An id that the runtime may leave out: zero is none.
            #[allow(dead_code, reason = "not every kind of id is left out anywhere")]
            pub(crate) fn optional(raw: usize) -> Option<Self> {
                (raw != 0).then(|| Self::from_runtime(raw))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.raw)
            }
        }
    };
}

/// Ids of what lasts as long as the process, or what the runtime itself checks.
macro_rules! lasting {
    ($($(#[$doc:meta])* $name:ident = $native:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("The native type is `", $native, "`. What the runtime may leave out is an `Option`.")]
        #[doc(alias = $native)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name { raw: usize }

        impl $name {
            /// The id that native code knows by this number.
            ///
            /// # Safety
            ///
            /// The runtime of this process gave the number for a thing of this kind, and the thing is
            /// there for as long as the id is used. Runtimes take a number for the address of their
            /// data: most calls with another one read or write somewhere.
            #[must_use]
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self { raw }
            }

            /// The id that the runtime gives as this number.
            #[allow(dead_code, reason = "the library makes none of some kinds")]
            pub(crate) const fn from_runtime(raw: usize) -> Self {
                Self { raw }
            }
        }

        id! { $name }
    )*};
}

/// Ids of what goes when a collectible module is unloaded.
macro_rules! unloadable {
    ($($(#[$doc:meta])* $name:ident = $native:literal, $kind:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Calls with an id of what was unloaded are refused, with `CORPROF_E_DATAINCOMPLETE`. Ids are
        /// equal where their numbers are.
        ///
        #[doc = concat!("The native type is `", $native, "`. What the runtime may leave out is an `Option`.")]
        #[doc(alias = $native)]
        #[derive(Clone, Copy)]
        pub struct $name {
            raw: usize,
            seen: Epoch,
        }

        #[allow(dead_code, reason = "not every kind comes in every way")]
        impl $name {
            /// The id that native code knows by this number.
            ///
            /// # Safety
            ///
            /// The runtime of this process gave the number for a thing of this kind, and the thing is
            /// there for as long as the id is used, which is not checked. Runtimes take a number for the
            /// address of their data: most calls with another one read or write somewhere.
            #[must_use]
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self { raw, seen: Epoch::ALWAYS }
            }

            /// The id that the runtime gives as this number.
            #[inline]
            pub(crate) fn from_runtime(raw: usize) -> Self {
                Self { raw, seen: seen::stamp(Kind::$kind, raw) }
            }

            /// That of what the runtime begins to load.
            pub(crate) fn loading(raw: usize) -> Self {
                Self { raw, seen: seen::begins_to_load(raw) }
            }

            /// That of what the runtime has loaded, if this status says so.
            pub(crate) fn loaded(raw: usize, status: clr_profiler_sys::HRESULT) -> Self {
                let success = Hresult(status.0).is_ok();
                Self { raw, seen: seen::has_loaded(Kind::$kind, raw, success) }
            }

            /// That of what is gone.
            pub(crate) const fn gone(raw: usize) -> Self {
                Self { raw, seen: Epoch::GONE }
            }

            /// That of what was seen then.
            pub(crate) const fn seen_in(raw: usize, seen: Epoch) -> Self {
                Self { raw, seen }
            }

            /// Whether it can be asked about. For a call that has begun.
            #[inline]
            pub(crate) fn state(self) -> State {
                seen::state(Kind::$kind, self.raw, self.seen)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.raw == other.raw
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.raw.cmp(&other.raw)
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.raw.hash(state);
            }
        }

        id! { $name }
    )*};
}

unloadable! {
    /// A compiled (or about to be compiled) function: a method with its generic arguments.
    FunctionId = "FunctionID", Function;
    /// A loaded module.
    ModuleId = "ModuleID", Module;
    /// A loaded type with its generic arguments.
    ClassId = "ClassID", Class;
    /// A loaded assembly.
    AssemblyId = "AssemblyID", Assembly;
}

lasting! {
    /// An application domain; .NET (Core) has one.
    AppDomainId = "AppDomainID";
    /// One IL of a method among those that ReJIT gave it; the original one has the id 0.
    RejitId = "ReJITID";
    /// A garbage-collector handle.
    GcHandleId = "GCHandleID";
    /// A context of a thread; in .NET (Core) that is its application domain.
    ContextId = "ContextID";
}

/// A managed thread.
///
/// Calls with the id of a thread that has ended are refused, with `CORPROF_E_DATAINCOMPLETE`, though the
/// runtime soon gives its number to another thread: that is another id.
///
/// The native type is `ThreadID`. What the runtime may leave out is an `Option`.
#[doc(alias = "ThreadID")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    raw: usize,
    generation: Generation,
}

impl ThreadId {
    /// The thread that native code knows by this number now.
    ///
    /// # Safety
    ///
    /// The runtime of this process gave the number for a managed thread, which is there when this is
    /// called.
    #[must_use]
    pub unsafe fn from_raw(raw: usize) -> Self {
        Self::from_runtime(raw)
    }

    /// The thread that the runtime gives as this number.
    #[inline]
    pub(crate) fn from_runtime(raw: usize) -> Self {
        Self {
            raw,
            generation: threads::generation(raw),
        }
    }

    /// The thread of this number that begins now.
    pub(crate) fn beginning(raw: usize) -> Self {
        threads::begins(raw);
        Self::from_runtime(raw)
    }

    /// Whether it can be asked about. For a call that has begun, and is known to ask about it.
    #[inline]
    pub(crate) fn state(self) -> State {
        threads::state(self.raw, self.generation)
    }
}

id! { ThreadId }

impl FunctionId {
    /// That of a dynamic method.
    pub(crate) fn dynamic(raw: usize) -> Self {
        Self {
            raw,
            seen: seen::is_dynamic(raw),
        }
    }
}

impl RejitId {
    /// The IL that the method has in its module.
    pub const ORIGINAL: Self = Self { raw: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_none() {
        assert_eq!(ClassId::optional(0), None);
        assert_eq!(ClassId::optional(16), Some(ClassId::from_runtime(16)));
        assert_eq!(format!("{:?}", ClassId::from_runtime(16)), "ClassId(0x10)");
    }
}
