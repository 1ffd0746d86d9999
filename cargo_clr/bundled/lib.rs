//! The library with the profilers of the command, which carries it in itself.

use clr_profiler_tools::profilers::{
    AllocProfiler, CallCounter, CpuSampler, ExceptionLogger, FaultInjector, GcMonitor, HeapSnapshot,
    JitLogger, MethodTracer,
};

clr_profiler::register!(
    AllocProfiler,
    CallCounter,
    CpuSampler,
    ExceptionLogger,
    FaultInjector,
    GcMonitor,
    HeapSnapshot,
    JitLogger,
    MethodTracer
);
