//! The small enumerations that callbacks deliver: reasons and kinds.

use crate::native::native_enums;

native_enums! {
    /// Whether precompiled code was found.
    JitCacheResult = COR_PRF_JIT_CACHE {
        /// There is precompiled code, and it is used.
        Found = COR_PRF_CACHED_FUNCTION_FOUND,
        /// There is none, or it is not used: the function is compiled.
        NotFound = COR_PRF_CACHED_FUNCTION_NOT_FOUND,
    }
    /// The direction of a transition between managed and native code.
    TransitionReason = COR_PRF_TRANSITION_REASON {
        /// A call.
        Call = COR_PRF_TRANSITION_CALL,
        /// The return from a call.
        Return = COR_PRF_TRANSITION_RETURN,
    }
    /// Why the runtime suspends managed threads.
    SuspendReason = COR_PRF_SUSPEND_REASON {
        /// A reason without a name of its own.
        Other = COR_PRF_SUSPEND_OTHER,
        /// A garbage collection.
        Gc = COR_PRF_SUSPEND_FOR_GC,
        /// An application domain is unloaded.
        AppDomainShutdown = COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN,
        /// Compiled code is discarded.
        CodePitching = COR_PRF_SUSPEND_FOR_CODE_PITCHING,
        /// The runtime shuts down.
        Shutdown = COR_PRF_SUSPEND_FOR_SHUTDOWN,
        /// A debugger inside the process.
        InProcessDebugger = COR_PRF_SUSPEND_FOR_INPROC_DEBUGGER,
        /// Preparation of a garbage collection.
        GcPreparation = COR_PRF_SUSPEND_FOR_GC_PREP,
        /// ReJIT.
        Rejit = COR_PRF_SUSPEND_FOR_REJIT,
        /// A profiler requested it.
        Profiler = COR_PRF_SUSPEND_FOR_PROFILER,
    }
    /// Why a garbage collection happens.
    GcReason = COR_PRF_GC_REASON {
        /// The program or a profiler requested it; .NET Core 3.1 and .NET 8 report `Other` if the program
        /// requests a compacting one.
        Induced = COR_PRF_GC_INDUCED,
        /// The collector decided.
        Other = COR_PRF_GC_OTHER,
    }
    /// The kind of storage that holds a root of the managed heap.
    RootKind = COR_PRF_GC_ROOT_KIND {
        /// A variable on a stack; the id is its function.
        Stack = COR_PRF_GC_ROOT_STACK,
        /// The finalizer queue.
        Finalizer = COR_PRF_GC_ROOT_FINALIZER,
        /// A handle; the id is the handle.
        Handle = COR_PRF_GC_ROOT_HANDLE,
        /// Something else.
        Other = COR_PRF_GC_ROOT_OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_newer_runtimes_survive() {
        assert_eq!(GcReason::from_native(1), GcReason::Induced);
        assert_eq!(SuspendReason::from_native(99), SuspendReason::Unknown(99));
    }
}
