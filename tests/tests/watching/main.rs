//! The examples that watch a program, from their command lines to their results.

#![cfg(unix)]

mod alloc_profiler;
mod around;
mod call_counter;
mod cpu_sampler;
pub(crate) mod endings;
mod exception_logger;
mod forks;
mod gc_monitor;
mod heap_snapshot;
mod hot_patch;
mod hour;
mod limits;
mod others;
mod sampler_torture;
mod tools_torture;
