//! [`EventMask`], the events that the runtime reports.

mod rules;

use clr_profiler_sys as sys;

pub(crate) use rules::{Loaded, Target, names, problem_at_start, problem_with_change, unknown_to};

/// Shifts a flag of `COR_PRF_HIGH_MONITOR` to the upper half of the mask.
const fn high(flag: u32) -> u64 {
    (flag as u64) << 32
}

macro_rules! event_mask {
    ($($(#[doc = $doc:literal])* $(#[deprecated = $note:literal])? $name:ident = $half:ident $native:ident;)*) => {
        bitflags::bitflags! {
            /// The events that the runtime reports, and other behaviour that a profiler can request.
            ///
            /// `#[profiler]` derives the mask from the callbacks that a profiler overrides;
            /// [`Setup`](crate::Setup) adds flags that no callback implies, and removes flags. Events cost
            /// time in the profiled program, some of them much.
            ///
            /// **Immutable** flags can be set only in `initialize`, and never by a profiler that is
            /// attached to a running program.
            ///
            /// Native types: `COR_PRF_MONITOR` in the lower 32 bits, `COR_PRF_HIGH_MONITOR` in the upper 32
            /// bits; the names are the native ones without `COR_PRF_`.
            #[doc(alias = "COR_PRF_MONITOR")]
            #[doc(alias = "COR_PRF_HIGH_MONITOR")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct EventMask: u64 {
                $(
                    $(#[doc = $doc])*
                    ///
                    #[doc = concat!("Native name: `", stringify!($native), "`.")]
                    $(#[deprecated = $note])?
                    const $name = event_mask!(@$half $native);
                )*
                // Flags that this crate does not know are preserved.
                const _ = !0;
            }
        }
    };
    (@low $native:ident) => { sys::$native as u64 };
    (@high $native:ident) => { high(sys::$native) };
}

event_mask! {
    /// Unloading of functions of collectible code.
    MONITOR_FUNCTION_UNLOADS = low COR_PRF_MONITOR_FUNCTION_UNLOADS;
    /// Loading and unloading of types.
    MONITOR_CLASS_LOADS = low COR_PRF_MONITOR_CLASS_LOADS;
    /// Loading and unloading of modules.
    MONITOR_MODULE_LOADS = low COR_PRF_MONITOR_MODULE_LOADS;
    /// Loading and unloading of assemblies.
    MONITOR_ASSEMBLY_LOADS = low COR_PRF_MONITOR_ASSEMBLY_LOADS;
    /// Creation and shutdown of application domains.
    MONITOR_APPDOMAIN_LOADS = low COR_PRF_MONITOR_APPDOMAIN_LOADS;
    /// Compilation of functions and inlining decisions. Not for precompiled code.
    MONITOR_JIT_COMPILATION = low COR_PRF_MONITOR_JIT_COMPILATION;
    /// Throwing and handling of exceptions. .NET 9 and 10 [lose
    /// exceptions](crate::info::RuntimeInformation::loses_exceptions) with this flag.
    MONITOR_EXCEPTIONS = low COR_PRF_MONITOR_EXCEPTIONS;
    /// Garbage collections in full detail. Disables concurrent collection for the whole process.
    MONITOR_GC = low COR_PRF_MONITOR_GC;
    /// Allocation of objects; also needs [`ENABLE_OBJECT_ALLOCATED`](Self::ENABLE_OBJECT_ALLOCATED).
    MONITOR_OBJECT_ALLOCATED = low COR_PRF_MONITOR_OBJECT_ALLOCATED;
    /// Creation, end and naming of managed threads.
    MONITOR_THREADS = low COR_PRF_MONITOR_THREADS;
    /// Remoting calls (.NET Framework). Immutable.
    MONITOR_REMOTING = low COR_PRF_MONITOR_REMOTING;
    /// Transitions between managed and native code. Immutable.
    MONITOR_CODE_TRANSITIONS = low COR_PRF_MONITOR_CODE_TRANSITIONS;
    /// Enter, leave and tailcall hooks. Rejects all precompiled code in the process.
    MONITOR_ENTERLEAVE = low COR_PRF_MONITOR_ENTERLEAVE;
    /// Creation and destruction of COM-callable wrappers.
    MONITOR_CCW = low COR_PRF_MONITOR_CCW;
    /// Cookies that match the two ends of a remoting call. Immutable.
    MONITOR_REMOTING_COOKIE = low COR_PRF_MONITOR_REMOTING_COOKIE;
    /// Asynchronous remoting calls. Immutable.
    MONITOR_REMOTING_ASYNC = low COR_PRF_MONITOR_REMOTING_ASYNC;
    /// Suspension and resumption of managed threads.
    MONITOR_SUSPENDS = low COR_PRF_MONITOR_SUSPENDS;
    /// Searches for precompiled functions.
    MONITOR_CACHE_SEARCHES = low COR_PRF_MONITOR_CACHE_SEARCHES;
    /// Allows ReJIT.
    ENABLE_REJIT = low COR_PRF_ENABLE_REJIT;
    /// In-process debugging. Immutable.
    #[deprecated = "a feature of .NET Framework 1"]
    ENABLE_INPROC_DEBUGGING = low COR_PRF_ENABLE_INPROC_DEBUGGING;
    /// Maps from IL to native code (obsolete: the runtime always keeps them). Immutable.
    #[deprecated = "the runtime always keeps them"]
    ENABLE_JIT_MAPS = low COR_PRF_ENABLE_JIT_MAPS;
    /// Disables inlining. Immutable before .NET 10.
    DISABLE_INLINING = low COR_PRF_DISABLE_INLINING;
    /// Disables optimisation. Immutable before .NET 10.
    DISABLE_OPTIMIZATIONS = low COR_PRF_DISABLE_OPTIMIZATIONS;
    /// Enables [`MONITOR_OBJECT_ALLOCATED`](Self::MONITOR_OBJECT_ALLOCATED). Immutable.
    ENABLE_OBJECT_ALLOCATED = low COR_PRF_ENABLE_OBJECT_ALLOCATED;
    /// The phases of the runtime's exception handling.
    MONITOR_CLR_EXCEPTIONS = low COR_PRF_MONITOR_CLR_EXCEPTIONS;
    /// Gives enter hooks the arguments. Immutable.
    ENABLE_FUNCTION_ARGS = low COR_PRF_ENABLE_FUNCTION_ARGS;
    /// Gives leave hooks the returned value. Immutable.
    ENABLE_FUNCTION_RETVAL = low COR_PRF_ENABLE_FUNCTION_RETVAL;
    /// Gives hooks the exact class and method arguments of generic functions. Immutable.
    ENABLE_FRAME_INFO = low COR_PRF_ENABLE_FRAME_INFO;
    /// Allows stack walks.
    ENABLE_STACK_SNAPSHOT = low COR_PRF_ENABLE_STACK_SNAPSHOT;
    /// Uses only precompiled images made for profiling. Immutable.
    USE_PROFILE_IMAGES = low COR_PRF_USE_PROFILE_IMAGES;
    /// Disables security transparency checks under full trust (.NET Framework). Immutable.
    DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST = low COR_PRF_DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST;
    /// Disables precompiled images: every method is compiled, and start-up takes two to three times as
    /// long. Immutable.
    DISABLE_ALL_NGEN_IMAGES = low COR_PRF_DISABLE_ALL_NGEN_IMAGES;

    /// Allows additional assembly references.
    HIGH_ADD_ASSEMBLY_REFERENCES = high COR_PRF_HIGH_ADD_ASSEMBLY_REFERENCES;
    /// Changes of in-memory symbols of modules.
    HIGH_IN_MEMORY_SYMBOLS_UPDATED = high COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED;
    /// Unloading of dynamic methods.
    HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS = high COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    /// Disables tiered compilation: methods are optimised at once. Immutable.
    HIGH_DISABLE_TIERED_COMPILATION = high COR_PRF_HIGH_DISABLE_TIERED_COMPILATION;
    /// Start and end of garbage collections, cheaply: concurrent collection stays enabled.
    HIGH_BASIC_GC = high COR_PRF_HIGH_BASIC_GC;
    /// Objects that a compacting collection moved.
    HIGH_MONITOR_GC_MOVED_OBJECTS = high COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS;
    /// Allocations on the large object heap.
    HIGH_MONITOR_LARGEOBJECT_ALLOCATED = high COR_PRF_HIGH_MONITOR_LARGEOBJECT_ALLOCATED;
    /// EventPipe sessions of the profiler, and creation of providers.
    HIGH_MONITOR_EVENT_PIPE = high COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    /// Allocations on the pinned object heap. Needs
    /// [`HIGH_MONITOR_LARGEOBJECT_ALLOCATED`](Self::HIGH_MONITOR_LARGEOBJECT_ALLOCATED), too: without it,
    /// .NET 8 and 10 report nothing.
    HIGH_MONITOR_PINNEDOBJECT_ALLOCATED = high COR_PRF_HIGH_MONITOR_PINNEDOBJECT_ALLOCATED;
}

impl EventMask {
    /// The events with which the library tracks the validity of ids. It always sets them, in addition to
    /// those of the profiler.
    pub(crate) const OF_LIBRARY: Self = Self::MONITOR_MODULE_LOADS
        .union(Self::MONITOR_THREADS)
        .union(Self::HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS);

    /// The flags without which changed methods do not run as a whole on .NET Framework: precompiled code of any module may have
    /// copies of them, and code that is marked as transparent must not call inserted code.
    #[cfg(feature = "rewrite")]
    pub(crate) const OF_REWRITING_ON_FRAMEWORK: Self =
        Self::DISABLE_ALL_NGEN_IMAGES.union(Self::DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST);

    /// The mask of the lower 32 bits, native type `COR_PRF_MONITOR`.
    #[must_use]
    pub const fn low(self) -> u32 {
        self.bits() as u32
    }

    /// The mask of the upper 32 bits, native type `COR_PRF_HIGH_MONITOR`.
    #[must_use]
    pub const fn high(self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// The mask with these two native halves.
    #[must_use]
    pub const fn from_halves(low: u32, high: u32) -> Self {
        Self::from_bits_retain(low as u64 | (high as u64) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_join_and_part() {
        let mask = EventMask::MONITOR_GC | EventMask::HIGH_BASIC_GC;
        assert_eq!((mask.low(), mask.high()), (0x80, 0x10));
        assert_eq!(EventMask::from_halves(0x80, 0x10), mask);
    }

    #[test]
    fn flags_of_newer_runtimes_survive() {
        assert_eq!(EventMask::from_halves(0, 0x8000_0000).high(), 0x8000_0000);
    }

    #[test]
    fn every_single_native_flag_has_a_name() {
        let named = EventMask::all()
            .iter_names()
            .fold(0, |bits, (_, flag)| bits | flag.bits());
        // All bits up to the highest flag of the headers, except for those that the headers skip.
        let natives = u64::from(sys::COR_PRF_ALL | sys::COR_PRF_DISABLE_ALL_NGEN_IMAGES)
            | u64::from(sys::COR_PRF_MONITOR_ALL)
            | high(0x1FF);
        assert_eq!(natives & !named, 0, "{:#x}", natives & !named);
    }
}
