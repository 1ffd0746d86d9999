//! Enter, leave and tailcall hooks: code of the profiler that runs at each call of a method.
//!
//! A profiler implements [`CallHooks`], or [`CallHooksWithInfo`] to read arguments and returned
//! values, and sets it with [`Setup::hooks`](crate::Setup::hooks) or
//! [`Setup::hooks_with_info`](crate::Setup::hooks_with_info), which have examples.
//! [`Unwinding`] reports the calls that exceptions end. [`CorProfilerInfoHooks`] has the native
//! calls, for native hooks that the profiler writes itself.

mod fast;
mod functions;
mod setup;
mod state;
mod stubs;
mod unwinding;
mod with_info;

pub use crate::info::hooks::{
    ArgumentBuffer, CorProfilerInfoHooks, EltInfo, EnterInfo, FunctionEnter, FunctionEnter2,
    FunctionEnter3, FunctionEnter3WithInfo, FunctionIDOrClientID, FunctionLeave, FunctionLeave2,
    FunctionLeave3, FunctionLeave3WithInfo, FunctionTailcall, FunctionTailcall2, FunctionTailcall3,
    FunctionTailcall3WithInfo, Hooked, LeaveInfo, MemoryRange,
};
pub use fast::{CallHooks, HookKinds};
pub(crate) use functions::held_bytes;
pub use functions::{HookedFunction, HookedFunctions};
pub use state::HookFailure;
pub use unwinding::{UnwindStep, Unwinding};
pub use with_info::{CallHooksWithInfo, EnterCall, LeaveCall};
