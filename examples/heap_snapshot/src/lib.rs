//! Shows the objects on the heap of a .NET program, and why they are alive.
//!
//! The profiler is one of the tools of `clr_profiler_tools`, in its own library here.

pub use clr_profiler_tools::profilers::HeapSnapshot;

clr_profiler::register!(HeapSnapshot);
