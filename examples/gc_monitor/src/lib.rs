//! Writes a line for each garbage collection of a .NET program.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::GcMonitor;

clr_profiler::register!(GcMonitor);
