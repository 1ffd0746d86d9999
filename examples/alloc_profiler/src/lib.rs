//! Shows which types a .NET program allocates, where, and how much of it survives collections.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::AllocProfiler;

clr_profiler::register!(AllocProfiler);
