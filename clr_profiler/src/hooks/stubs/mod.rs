//! The functions that compiled code calls, which preserve more registers than any calling
//! convention.
//!
//! The runtime's JIT defines the registers (`RBM_PROFILER_ENTER_TRASH` and its neighbours name
//! those that need not be preserved). The stubs preserve all argument registers on enter and
//! tailcall, and all registers that can hold a returned value on leave.

use super::fast::CallHooks;
use super::with_info::CallHooksWithInfo;
use crate::info::hooks::{
    FunctionEnter3, FunctionEnter3WithInfo, FunctionLeave3, FunctionTailcall3,
};

#[cfg(all(target_arch = "x86_64", not(windows)))]
#[path = "x86_64_sysv.rs"]
mod code;

#[cfg(all(target_arch = "x86_64", windows))]
#[path = "x86_64_windows.rs"]
mod code;

#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod code;

/// The stubs for these hooks, or `None` if there are none for this processor.
pub(super) fn stubs<H: CallHooks>() -> Option<(FunctionEnter3, FunctionLeave3, FunctionTailcall3)> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        Some((code::enter::<H>, code::leave::<H>, code::tailcall::<H>))
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        None
    }
}

/// The enter hook with info for runtimes before .NET 5.
pub(super) fn old_enter_with_info<H: CallHooksWithInfo>() -> FunctionEnter3WithInfo {
    #[cfg(all(target_arch = "x86_64", not(windows)))]
    {
        code::enter_with_info::<H>
    }
    #[cfg(not(all(target_arch = "x86_64", not(windows))))]
    {
        super::with_info::entered::<H>
    }
}
