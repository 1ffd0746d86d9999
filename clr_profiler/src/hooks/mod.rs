//! Enter, leave and tailcall hooks as a component: [`CallHooks`], the code that the runtime calls,
//! and what is kept for each function.

mod fast;
mod functions;
mod state;
mod stubs;

pub use fast::{CallHooks, HookKinds};
pub use functions::{HookedFunction, HookedFunctions};
pub use state::HookFailure;

pub(crate) use fast::install;
pub(crate) use state::{is_hook, retire};
