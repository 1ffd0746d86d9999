//! `ICorProfilerInfo` to `ICorProfilerInfo15`: what a profiler asks the runtime.

pub(crate) mod core_clr;
pub(crate) mod framework;

pub use core_clr::*;
pub use framework::*;
