//! Counts the calls of each method of a .NET program, and their time.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::CallCounter;

clr_profiler::register!(CallCounter);
