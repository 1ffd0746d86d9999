//! The sampler of platforms where it cannot sample.

use super::{CALL, CpuSampleHandler, CpuSamplerBuilder, CpuSamplerTotals};
use crate::error::{Error, Result};
use crate::ids::{FunctionId, ModuleId, ThreadId};
use crate::runtime::ProfilerInfo;

/// No value of it exists.
pub(super) enum Engine {}

pub(super) fn check() -> Result<()> {
    Err(Error::rule(
        CALL,
        "it samples on Linux with glibc, on x86-64 and ARM64; use `Sampler` on this platform",
    ))
}

impl Engine {
    pub(super) fn start(
        _info: &ProfilerInfo,
        _options: CpuSamplerBuilder,
        _deliver: Box<CpuSampleHandler>,
    ) -> Result<Self> {
        check()?;
        Err(Error::rule(CALL, "this platform is not supported"))
    }

    pub(super) fn thread_begins(&self, _thread: ThreadId, _os_thread: u32) {
        match *self {}
    }

    pub(super) fn thread_ends(&self, _thread: ThreadId) {
        match *self {}
    }

    pub(super) fn compiled(&self, _info: &ProfilerInfo, _function: FunctionId) {
        match *self {}
    }

    pub(super) fn compiled_dynamic(&self, _info: &ProfilerInfo, _function: FunctionId) {
        match *self {}
    }

    pub(super) fn module_is_unloaded(&self, _info: &ProfilerInfo, _module: ModuleId) {
        match *self {}
    }

    pub(super) fn wait_for_delivery(&self) -> Result<()> {
        match *self {}
    }

    pub(super) fn totals(&self) -> CpuSamplerTotals {
        match *self {}
    }

    pub(super) fn stop(&self) -> Result<()> {
        match *self {}
    }
}
