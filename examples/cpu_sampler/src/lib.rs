//! Shows where a .NET program spends processor time.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::CpuSampler;

clr_profiler::register!(CpuSampler);
