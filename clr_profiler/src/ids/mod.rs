//! Ids that the runtime gives to its things: one type each, so that they cannot be mixed up.

mod object;

use std::fmt;

pub(crate) use object::Moves;
pub use object::{ObjectId, ObjectIds};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $native:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("The native type is `", $native, "`. What the runtime may leave out is an `Option`.")]
        #[doc(alias = $native)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(usize);

        impl $name {
            /// The id that native code knows by this number.
            ///
            /// # Safety
            ///
            /// The runtime of this process gave the number for a thing of this kind, and the thing is
            /// there for as long as the id is used. Runtimes take a number for the address of their
            /// data: most calls with another one read or write somewhere.
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self(raw)
            }

            /// The id that the runtime gives as this number.
            #[allow(dead_code, reason = "the library makes none of some kinds")]
            pub(crate) const fn from_runtime(raw: usize) -> Self {
                Self(raw)
            }

            /// The number by which native code knows it.
            pub const fn raw(self) -> usize {
                self.0
            }

            /// An id that the runtime may leave out: zero is none.
            #[allow(dead_code, reason = "not every kind of id is left out anywhere")]
            pub(crate) const fn optional(raw: usize) -> Option<Self> {
                if raw == 0 { None } else { Some(Self(raw)) }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.0)
            }
        }
    )*};
}

ids! {
    /// A compiled (or about to be compiled) function: a method with its generic arguments.
    FunctionId = "FunctionID";
    /// A loaded module. After its unloading the number may be used again.
    ModuleId = "ModuleID";
    /// A loaded type with its generic arguments.
    ClassId = "ClassID";
    /// A loaded assembly.
    AssemblyId = "AssemblyID";
    /// An application domain; .NET (Core) has one.
    AppDomainId = "AppDomainID";
    /// A managed thread.
    ThreadId = "ThreadID";
    /// One IL of a method among those that ReJIT gave it; the original one has the id 0.
    RejitId = "ReJITID";
    /// A garbage-collector handle.
    GcHandleId = "GCHandleID";
    /// A provider of EventPipe events.
    EventPipeProviderId = "EVENTPIPE_PROVIDER";
    /// A context of a thread; in .NET (Core) that is its application domain.
    ContextId = "ContextID";
}

impl RejitId {
    /// The IL that the method has in its module.
    pub const ORIGINAL: Self = Self(0);
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
