//! Labels of samples, which the sampled thread itself returns in a handler.

use std::ptr;

#[cfg(doc)]
use super::CpuSample;
use super::CpuSamplerBuilder;

/// A function that may be called in a handler of a signal, at any instruction of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(fn() -> [u64; 2]);

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Label {}

#[cfg_attr(
    not(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    allow(dead_code, reason = "there is no handler")
)]
impl Label {
    /// As a number for [`call`](Self::call).
    pub(super) fn address(self) -> usize {
        self.0 as *const () as usize
    }

    /// Calls the label of this address.
    ///
    /// # Safety
    ///
    /// It is one of [`address`](Self::address).
    pub(super) unsafe fn call(address: usize) -> [u64; 2] {
        let label = ptr::with_exposed_provenance::<()>(address);
        // SAFETY: the address is that of a function of this type, which stays loaded because the library does. It may be called
        // here because of the promise of whoever has called `label`.
        let label: fn() -> [u64; 2] = unsafe { std::mem::transmute(label) };
        label()
    }
}

/// A function that tells the numbers of another thread, by its id of the system, while that thread is blocked.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitLabel(fn(u32) -> [u64; 2]);

impl PartialEq for WaitLabel {
    fn eq(&self, other: &Self) -> bool {
        ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for WaitLabel {}

impl From<fn(u32) -> [u64; 2]> for WaitLabel {
    fn from(label: fn(u32) -> [u64; 2]) -> Self {
        Self(label)
    }
}

#[cfg_attr(
    not(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    allow(dead_code, reason = "no thread is found waiting")
)]
impl WaitLabel {
    pub(super) fn of(self, os_thread: u32) -> [u64; 2] {
        self.0(os_thread)
    }
}

impl CpuSamplerBuilder {
    /// Labels each sample of a thread that [waits](CpuSample::waited) with two numbers, as [`label`](Self::label) does where a thread
    /// uses a processor. `label` is called on the sampler's thread with the system's id of one that is blocked, if that
    /// thread runs before `label` returns, the sample is not taken, but both may then be at work at once. `label` must not wait for that thread.
    #[must_use]
    pub fn label_waits(self, label: fn(u32) -> [u64; 2]) -> Self {
        Self {
            wait_label: Some(label.into()),
            ..self
        }
    }

    /// Labels each sample of a thread that uses a processor with two numbers, such as the ids of the request on which it works.
    /// `label` returns them on that thread, at the moment of the sample. All samples are taken by timers then.
    ///
    /// # Safety
    ///
    /// `label` is called in a handler of a signal, on any managed thread, at any instruction of it: also in the middle of an
    /// allocation, and of a change of the data that it reads. So it only reads atomic numbers, and thread-local ones that are
    /// neither initialised nor allocated at their first use. It does not allocate, lock, wait, panic or call the runtime, and
    /// leaves `errno` as it is.
    #[must_use]
    pub unsafe fn label(self, label: fn() -> [u64; 2]) -> Self {
        Self {
            label: Some(Label(label)),
            ..self
        }
    }
}
