//! The library with the profilers of the command, which carries it in itself.

use clr_profiler_tools::profilers::{
    AllocProfiler, CallCounter, CoverageRecorder, CpuSampler, ExceptionLogger, FaultInjector, GcMonitor, HeapSnapshot,
    JitLogger, LiveMonitor, LockMonitor, MethodTracer,
};

clr_profiler::register!(
    AllocProfiler,
    CallCounter,
    CoverageRecorder,
    CpuSampler,
    ExceptionLogger,
    FaultInjector,
    GcMonitor,
    HeapSnapshot,
    JitLogger,
    LiveMonitor,
    LockMonitor,
    MethodTracer,
    // Next to another profiler: `verbs` and `top` of the command have these class ids.
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B01", AllocProfiler),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B02", CpuSampler),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B03", ExceptionLogger),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B04", GcMonitor),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B05", JitLogger),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B06", LiveMonitor),
    notification(clsid = "A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B07", LockMonitor),
);
