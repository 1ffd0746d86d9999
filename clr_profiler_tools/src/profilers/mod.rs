//! The profilers of the command `cargo clr`, which the examples show one by one.
//!
//! Each is an ordinary profiler, configured by [`Settings`]: a library registers those that
//! it offers, `register!(CpuSampler, GcMonitor)`.

mod alloc;
// The hooks of each call, and the clock that they read.
#[allow(unsafe_code)]
mod calls;
mod cover;
mod cpu;
mod exceptions;
mod gc;
mod heap;
mod locks;
mod log;
mod named_stacks;
mod names;
mod patch;
mod top;
mod trace;

/// The first version of `ICorProfilerInfo` with the runtime's own tracing.
const TRACING: u8 = 12;

use std::path::Path;

use crate::report::Settings;
use crate::stacks::Form;
use clr_profiler::{Error, Result};

pub use alloc::AllocProfiler;
pub use calls::CallCounter;
pub use cover::CoverageRecorder;
pub use cpu::CpuSampler;
pub use exceptions::ExceptionLogger;
pub use gc::GcMonitor;
pub use heap::HeapSnapshot;
pub use locks::LockMonitor;
pub use log::JitLogger;
pub use patch::FaultInjector;
pub use top::LiveMonitor;
pub use trace::MethodTracer;

/// The format in a setting, or that of the file's name.
fn form(settings: &Settings, name: &str, file: &Path) -> Result<Form> {
    match settings.text(name)? {
        None => Ok(Form::of(file)),
        Some(text) => {
            let unknown = || Error::other(format!("`{text}` is not a format of stacks"));
            Form::named(&text).ok_or_else(unknown)
        }
    }
}
