//! Logs each exception of a .NET program: type, message, stack, and catch block.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::ExceptionLogger;

clr_profiler::register!(ExceptionLogger);
