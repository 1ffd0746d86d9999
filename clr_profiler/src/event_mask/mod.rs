//! [`EventMask`]: which events the runtime reports.

mod rules;

use clr_profiler_sys as sys;

pub(crate) use rules::{Loaded, names, problem_at_start, problem_with_change, unknown_to};

/// Both halves of the native mask as one value: the high half is `COR_PRF_HIGH_MONITOR`.
const fn high(flag: u32) -> u64 {
    (flag as u64) << 32
}

macro_rules! event_mask {
    ($($(#[doc = $doc:literal])* $(#[deprecated = $note:literal])? $name:ident = $half:ident $native:ident;)*) => {
        bitflags::bitflags! {
            /// Which events the runtime reports, and what it does otherwise for a profiler.
            ///
            /// `#[profiler]` works out the mask from the callbacks that a profiler overrides;
            /// [`Setup`](crate::Setup) adds what no callback stands for, and takes away. Events
            /// cost time in the profiled program, some a lot.
            ///
            /// **Immutable** flags can be set only in `initialize`, and not at all by a profiler
            /// that is attached to a running program.
            ///
            /// Native types: `COR_PRF_MONITOR` in the lower 32 bits, `COR_PRF_HIGH_MONITOR` in the
            /// upper ones; the names are theirs without `COR_PRF_`.
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
                // The runtime may know flags that this crate does not: they survive.
                const _ = !0;
            }
        }
    };
    (@low $native:ident) => { sys::$native as u64 };
    (@high $native:ident) => { high(sys::$native) };
}

event_mask! {
    /// Functions of collectible code are unloaded.
    MONITOR_FUNCTION_UNLOADS = low COR_PRF_MONITOR_FUNCTION_UNLOADS;
    /// Types are loaded and unloaded.
    MONITOR_CLASS_LOADS = low COR_PRF_MONITOR_CLASS_LOADS;
    /// Modules are loaded and unloaded.
    MONITOR_MODULE_LOADS = low COR_PRF_MONITOR_MODULE_LOADS;
    /// Assemblies are loaded and unloaded.
    MONITOR_ASSEMBLY_LOADS = low COR_PRF_MONITOR_ASSEMBLY_LOADS;
    /// Application domains come and go.
    MONITOR_APPDOMAIN_LOADS = low COR_PRF_MONITOR_APPDOMAIN_LOADS;
    /// Functions are compiled, and inlining is decided. Not for precompiled code.
    MONITOR_JIT_COMPILATION = low COR_PRF_MONITOR_JIT_COMPILATION;
    /// Exceptions are thrown and handled. .NET 9 and 10 [lose some of
    /// them](crate::info::RuntimeInformation::loses_exceptions) then.
    MONITOR_EXCEPTIONS = low COR_PRF_MONITOR_EXCEPTIONS;
    /// Garbage collections in full detail. Turns concurrent collection off for the whole process.
    MONITOR_GC = low COR_PRF_MONITOR_GC;
    /// Objects are allocated; needs [`ENABLE_OBJECT_ALLOCATED`](Self::ENABLE_OBJECT_ALLOCATED) too.
    MONITOR_OBJECT_ALLOCATED = low COR_PRF_MONITOR_OBJECT_ALLOCATED;
    /// Managed threads come, go and are named.
    MONITOR_THREADS = low COR_PRF_MONITOR_THREADS;
    /// Remoting calls (.NET Framework). Immutable.
    MONITOR_REMOTING = low COR_PRF_MONITOR_REMOTING;
    /// Calls cross between managed and native code. Immutable.
    MONITOR_CODE_TRANSITIONS = low COR_PRF_MONITOR_CODE_TRANSITIONS;
    /// Enter, leave and tailcall hooks. Rejects all precompiled code in the process.
    MONITOR_ENTERLEAVE = low COR_PRF_MONITOR_ENTERLEAVE;
    /// COM-callable wrappers are made and destroyed.
    MONITOR_CCW = low COR_PRF_MONITOR_CCW;
    /// Remoting calls with a cookie to pair their ends. Immutable.
    MONITOR_REMOTING_COOKIE = low COR_PRF_MONITOR_REMOTING_COOKIE;
    /// Asynchronous remoting calls. Immutable.
    MONITOR_REMOTING_ASYNC = low COR_PRF_MONITOR_REMOTING_ASYNC;
    /// The runtime suspends and resumes managed threads.
    MONITOR_SUSPENDS = low COR_PRF_MONITOR_SUSPENDS;
    /// Precompiled functions are looked up.
    MONITOR_CACHE_SEARCHES = low COR_PRF_MONITOR_CACHE_SEARCHES;
    /// Methods can be compiled again with other IL.
    ENABLE_REJIT = low COR_PRF_ENABLE_REJIT;
    /// In-process debugging. Immutable.
    #[deprecated = "no runtime since .NET Framework 2.0 implements it"]
    ENABLE_INPROC_DEBUGGING = low COR_PRF_ENABLE_INPROC_DEBUGGING;
    /// The runtime keeps maps from IL to native code. Immutable.
    #[deprecated = "the runtime always keeps them"]
    ENABLE_JIT_MAPS = low COR_PRF_ENABLE_JIT_MAPS;
    /// No method is inlined. Immutable before .NET 10.
    DISABLE_INLINING = low COR_PRF_DISABLE_INLINING;
    /// The compiler does not optimise. Immutable before .NET 10.
    DISABLE_OPTIMIZATIONS = low COR_PRF_DISABLE_OPTIMIZATIONS;
    /// Makes [`MONITOR_OBJECT_ALLOCATED`](Self::MONITOR_OBJECT_ALLOCATED) possible. Immutable.
    ENABLE_OBJECT_ALLOCATED = low COR_PRF_ENABLE_OBJECT_ALLOCATED;
    /// The runtime's own handling of exceptions.
    MONITOR_CLR_EXCEPTIONS = low COR_PRF_MONITOR_CLR_EXCEPTIONS;
    /// Enter hooks can see the arguments. Immutable.
    ENABLE_FUNCTION_ARGS = low COR_PRF_ENABLE_FUNCTION_ARGS;
    /// Leave hooks can see the returned value. Immutable.
    ENABLE_FUNCTION_RETVAL = low COR_PRF_ENABLE_FUNCTION_RETVAL;
    /// Hooks get exact class and method arguments of generic functions. Immutable.
    ENABLE_FRAME_INFO = low COR_PRF_ENABLE_FRAME_INFO;
    /// Stacks can be walked.
    ENABLE_STACK_SNAPSHOT = low COR_PRF_ENABLE_STACK_SNAPSHOT;
    /// Only precompiled images made for profiling are used. Immutable.
    USE_PROFILE_IMAGES = low COR_PRF_USE_PROFILE_IMAGES;
    /// No security transparency checks under full trust (.NET Framework). Immutable.
    DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST = low COR_PRF_DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST;
    /// No precompiled image is used: every method is compiled, and start-up takes two to three
    /// times as long. Immutable.
    DISABLE_ALL_NGEN_IMAGES = low COR_PRF_DISABLE_ALL_NGEN_IMAGES;

    /// Assemblies can be given references of the profiler's own.
    HIGH_ADD_ASSEMBLY_REFERENCES = high COR_PRF_HIGH_ADD_ASSEMBLY_REFERENCES;
    /// The symbols of modules in memory change.
    HIGH_IN_MEMORY_SYMBOLS_UPDATED = high COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED;
    /// Dynamic methods are unloaded.
    HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS = high COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    /// No tiered compilation: methods are optimised at once. Immutable.
    HIGH_DISABLE_TIERED_COMPILATION = high COR_PRF_HIGH_DISABLE_TIERED_COMPILATION;
    /// Garbage collections start and finish: the cheap way, concurrent collection stays on.
    HIGH_BASIC_GC = high COR_PRF_HIGH_BASIC_GC;
    /// Objects that a compacting collection moved.
    HIGH_MONITOR_GC_MOVED_OBJECTS = high COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS;
    /// Allocations in the large-object heap.
    HIGH_MONITOR_LARGEOBJECT_ALLOCATED = high COR_PRF_HIGH_MONITOR_LARGEOBJECT_ALLOCATED;
    /// EventPipe sessions of the profiler, and providers.
    HIGH_MONITOR_EVENT_PIPE = high COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    /// Allocations in the pinned-object heap. Together with
    /// [`HIGH_MONITOR_LARGEOBJECT_ALLOCATED`](Self::HIGH_MONITOR_LARGEOBJECT_ALLOCATED): .NET 8 and
    /// 10 report nothing where it is set alone.
    HIGH_MONITOR_PINNEDOBJECT_ALLOCATED = high COR_PRF_HIGH_MONITOR_PINNEDOBJECT_ALLOCATED;
}

impl EventMask {
    /// The events by which the library knows which ids are good: it asks for them whatever the profiler
    /// asks for.
    pub(crate) const OF_LIBRARY: Self = Self::MONITOR_MODULE_LOADS
        .union(Self::MONITOR_THREADS)
        .union(Self::HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS);

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

    /// The mask that native code holds in two halves.
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
        // Everything below the highest flag that the headers define, less what they skip.
        let natives = u64::from(sys::COR_PRF_ALL | sys::COR_PRF_DISABLE_ALL_NGEN_IMAGES)
            | u64::from(sys::COR_PRF_MONITOR_ALL)
            | high(0x1FF);
        assert_eq!(natives & !named, 0, "{:#x}", natives & !named);
    }
}
