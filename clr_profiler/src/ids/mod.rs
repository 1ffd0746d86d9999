//! Ids of the runtime, each kind with its own type.

mod object;
mod provider;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::Hresult;
use crate::lifetimes::TargetState;
use crate::lifetimes::seen::{self, Epoch, Kind};
use crate::lifetimes::threads::{self, Generation};

pub(crate) use object::GcTriggerCount;
pub use object::{ObjectId, ObjectIds};
pub use provider::EventPipeProviderId;

/// Implements the methods of all ids.
macro_rules! id {
    ($name:ident) => {
        impl $name {
            /// The native number of this id.
            #[must_use]
            pub const fn raw(self) -> usize {
                self.raw
            }

            /// An optional id: zero is `None`.
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

/// Declares ids of things that live as long as the process, or that the runtime checks itself.
macro_rules! lasting {
    ($($(#[$doc:meta])* $name:ident = $native:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("The native type is `", $native, "`. If the runtime may omit the id, it is an `Option`.")]
        #[doc(alias = $native)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name { raw: usize }

        impl $name {
            /// Creates an id from its native number.
            ///
            /// # Safety
            ///
            /// The runtime of this process returned the number for a thing of this kind, which exists as
            /// long as the id is used. Runtimes use the number as the address of their data: with another
            /// number, most calls read or write arbitrary memory.
            #[must_use]
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self { raw }
            }

            /// An id that the runtime returns now.
            #[allow(dead_code, reason = "the library does not create some kinds")]
            pub(crate) const fn from_runtime(raw: usize) -> Self {
                Self { raw }
            }
        }

        id! { $name }
    )*};
}

/// Declares ids of things that are unloaded with a collectible module.
macro_rules! unloadable {
    ($($(#[$doc:meta])* $name:ident = $native:literal, $kind:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Calls with the id of something that was unloaded are refused with `CORPROF_E_DATAINCOMPLETE`.
        /// Ids are equal if their numbers are.
        ///
        #[doc = concat!("The native type is `", $native, "`. If the runtime may omit the id, it is an `Option`.")]
        #[doc(alias = $native)]
        #[derive(Clone, Copy)]
        pub struct $name {
            raw: usize,
            seen: Epoch,
        }

        #[allow(dead_code, reason = "not every kind is created in every way")]
        impl $name {
            /// Creates an id from its native number.
            ///
            /// # Safety
            ///
            /// The runtime of this process returned the number for a thing of this kind, which exists as
            /// long as the id is used; this is not checked. Runtimes use the number as the address of their
            /// data: with another number, most calls read or write arbitrary memory.
            #[must_use]
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self { raw, seen: Epoch::ALWAYS }
            }

            /// An id that the runtime returns now.
            #[inline]
            pub(crate) fn from_runtime(raw: usize) -> Self {
                Self { raw, seen: seen::stamp(Kind::$kind, raw) }
            }

            /// The id of something that the runtime starts to load.
            pub(crate) fn loading(raw: usize) -> Self {
                Self { raw, seen: seen::begins_to_load(raw) }
            }

            /// The id of something that the runtime has loaded, or failed to load, according to the status.
            pub(crate) fn loaded(raw: usize, status: clr_profiler_sys::HRESULT) -> Self {
                let success = Hresult(status.0).is_ok();
                Self { raw, seen: seen::has_loaded(Kind::$kind, raw, success) }
            }

            /// The id of something that is gone.
            pub(crate) const fn gone(raw: usize) -> Self {
                Self { raw, seen: Epoch::GONE }
            }

            /// An id that was seen in that epoch.
            pub(crate) const fn seen_in(raw: usize, seen: Epoch) -> Self {
                Self { raw, seen }
            }

            /// Whether calls may use the id. The caller is in a call in flight.
            #[inline]
            pub(crate) fn state(self) -> TargetState {
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
    /// An application domain; .NET (Core) has only one.
    AppDomainId = "AppDomainID";
    /// A version of a method's IL: 0 is the original IL, each ReJIT has its own.
    RejitId = "ReJITID";
    /// A garbage-collector handle.
    GcHandleId = "GCHandleID";
    /// A context of a thread; in .NET (Core) that is its application domain.
    ContextId = "ContextID";
}

/// A managed thread.
///
/// Calls with the id of a thread that has ended are refused with `CORPROF_E_DATAINCOMPLETE`, although the
/// runtime soon reuses its number for another thread, which has a different id.
///
/// The native type is `ThreadID`. If the runtime may omit the id, it is an `Option`.
#[doc(alias = "ThreadID")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    raw: usize,
    generation: Generation,
}

impl ThreadId {
    /// Creates the id of the thread that has this native number now.
    ///
    /// # Safety
    ///
    /// The runtime of this process returned the number for a managed thread, which exists at the time of
    /// this call.
    #[must_use]
    pub unsafe fn from_raw(raw: usize) -> Self {
        Self::from_runtime(raw)
    }

    /// The id of a thread that the runtime returns now.
    #[inline]
    pub(crate) fn from_runtime(raw: usize) -> Self {
        Self {
            raw,
            generation: threads::generation(raw),
        }
    }

    /// The id of the thread that starts now with this number.
    pub(crate) fn beginning(raw: usize) -> Self {
        threads::begins(raw);
        Self::from_runtime(raw)
    }

    /// Whether calls may use the id. The caller is in a call in flight that is marked as using the thread.
    #[inline]
    pub(crate) fn state(self) -> TargetState {
        threads::state(self.raw, self.generation)
    }
}

id! { ThreadId }

impl FunctionId {
    /// The id of a dynamic method.
    pub(crate) fn dynamic(raw: usize) -> Self {
        Self {
            raw,
            seen: seen::is_dynamic(raw),
        }
    }
}

impl RejitId {
    /// The original IL of a method.
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
