//! Traces the calls of configured methods of a .NET program, asynchronous ones to the completion of their tasks.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::MethodTracer;

clr_profiler::register!(MethodTracer);
