//! `ICorProfilerInfo` to `ICorProfilerInfo15`: the calls of a profiler to the runtime.

pub(crate) mod core_clr;
pub(crate) mod framework;

pub use core_clr::*;
pub use framework::*;
