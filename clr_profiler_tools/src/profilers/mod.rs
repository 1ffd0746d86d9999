//! The profilers of the command `cargo clr`, which the examples show one by one.
//!
//! Each is an ordinary profiler, configured by [`Settings`](crate::report::Settings): a library registers those that
//! it offers, `register!(CpuSampler, GcMonitor)`.

mod alloc;
// The hooks of each call, and the clock that they read.
#[allow(unsafe_code)]
mod calls;
mod cpu;
mod exceptions;
mod gc;
mod heap;
mod log;
mod patch;
mod trace;

pub use alloc::AllocProfiler;
pub use calls::CallCounter;
pub use cpu::CpuSampler;
pub use exceptions::ExceptionLogger;
pub use gc::GcMonitor;
pub use heap::HeapSnapshot;
pub use log::JitLogger;
pub use patch::FaultInjector;
pub use trace::MethodTracer;
