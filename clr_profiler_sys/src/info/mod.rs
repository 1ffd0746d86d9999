//! `ICorProfilerInfo` to `ICorProfilerInfo15`: what a profiler asks the runtime.

pub(crate) mod core;
pub(crate) mod framework;

pub use self::core::*;
pub use framework::*;
