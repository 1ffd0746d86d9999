//! Why something happened: the small enumerations that callbacks deliver.

use crate::native::native_enums;

native_enums! {
    /// Whether precompiled code was found.
    JitCacheResult = COR_PRF_JIT_CACHE {
        /// There is precompiled code, and it is used.
        Found = COR_PRF_CACHED_FUNCTION_FOUND,
        /// There is none, or it is not used: the function will be compiled.
        NotFound = COR_PRF_CACHED_FUNCTION_NOT_FOUND,
    }
    /// In which direction control crosses between managed and native code.
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
        /// Compiled code is thrown away.
        CodePitching = COR_PRF_SUSPEND_FOR_CODE_PITCHING,
        /// The runtime shuts down.
        Shutdown = COR_PRF_SUSPEND_FOR_SHUTDOWN,
        /// A debugger inside the process.
        InProcessDebugger = COR_PRF_SUSPEND_FOR_INPROC_DEBUGGER,
        /// Preparation of a garbage collection.
        GcPreparation = COR_PRF_SUSPEND_FOR_GC_PREP,
        /// ReJIT.
        Rejit = COR_PRF_SUSPEND_FOR_REJIT,
        /// A profiler asked for it.
        Profiler = COR_PRF_SUSPEND_FOR_PROFILER,
    }
    /// Why a garbage collection happens.
    GcReason = COR_PRF_GC_REASON {
        /// The program or a profiler asked for it; .NET Core 3.1 and .NET 8 say `Other` where the
        /// program asks for a compacting one.
        Induced = COR_PRF_GC_INDUCED,
        /// The collector decided.
        Other = COR_PRF_GC_OTHER,
    }
    /// What holds a root of the managed heap.
    RootKind = COR_PRF_GC_ROOT_KIND {
        /// A variable on a stack; the id is that of its function.
        Stack = COR_PRF_GC_ROOT_STACK,
        /// The finaliser queue.
        Finalizer = COR_PRF_GC_ROOT_FINALIZER,
        /// A handle; the id is that of the handle.
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
