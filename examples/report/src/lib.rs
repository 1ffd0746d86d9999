//! The reports of the tools, by the name under which the examples that rewrite methods use them.

pub use clr_profiler_tools::report::*;
