//! The functions that compiled code calls, which keep registers as no calling convention does.
//!
//! Which registers have to be kept is in the runtime's JIT (`RBM_PROFILER_ENTER_TRASH` and its
//! neighbours say which need not be). All that holds arguments is kept at the beginning of a
//! function and at a tail call, all that can hold a returned value at its end.

use super::fast::CallHooks;
use super::with_info::CallHooksWithInfo;
use crate::info::hooks::{
    FunctionEnter3, FunctionEnter3WithInfo, FunctionLeave3, FunctionTailcall3,
};

cfg_select! {
    all(target_arch = "x86_64", not(windows)) => {
        #[path = "x86_64_sysv.rs"]
        mod code;
    }
    all(target_arch = "x86_64", windows) => {
        #[path = "x86_64_windows.rs"]
        mod code;
    }
    target_arch = "aarch64" => {
        #[path = "aarch64.rs"]
        mod code;
    }
    _ => {}
}

cfg_select! {
    any(target_arch = "x86_64", target_arch = "aarch64") => {
        /// The stubs for these hooks, where there are any for this processor.
        pub(super) fn stubs<H: CallHooks>()
        -> Option<(FunctionEnter3, FunctionLeave3, FunctionTailcall3)> {
            Some((code::enter::<H>, code::leave::<H>, code::tailcall::<H>))
        }
    }
    _ => {
        /// The stubs for these hooks, where there are any for this processor.
        pub(super) fn stubs<H: CallHooks>()
        -> Option<(FunctionEnter3, FunctionLeave3, FunctionTailcall3)> {
            None
        }
    }
}

cfg_select! {
    all(target_arch = "x86_64", not(windows)) => {
        /// The enter hook with info for runtimes before .NET 5.
        pub(super) fn old_enter_with_info<H: CallHooksWithInfo>() -> FunctionEnter3WithInfo {
            code::enter_with_info::<H>
        }
    }
    _ => {
        /// The enter hook with info for runtimes before .NET 5.
        pub(super) fn old_enter_with_info<H: CallHooksWithInfo>() -> FunctionEnter3WithInfo {
            super::with_info::entered::<H>
        }
    }
}
