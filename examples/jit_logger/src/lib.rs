//! Prints the methods that a .NET program compiles, one a line, as they are compiled.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::JitLogger;

clr_profiler::register!(JitLogger);
