//! Enter, leave and tailcall hooks as a component: [`CallHooks`], the code that the runtime calls,
//! and what is kept for each function.

mod fast;
mod functions;
mod setup;
mod state;
mod stubs;
mod unwinding;
mod with_info;

pub use fast::{CallHooks, HookKinds};
pub use functions::{HookedFunction, HookedFunctions};
pub use state::HookFailure;
pub use unwinding::{UnwindStep, Unwinding};
pub use with_info::{CallHooksWithInfo, EnterCall, LeaveCall};
