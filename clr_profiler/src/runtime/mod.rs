//! The handle to the runtime, and the state of a thread and of the library itself.
//!
//! The lowest layer of the crate: it uses errors, ids, their lifetimes and events, and nothing of the layers
//! above.

mod convert;
mod costs;
mod detaches;
mod extensions;
pub(crate) mod handle;
mod members;
#[cfg(feature = "heap")]
mod memory;
mod own_library;
mod panics;
mod start_gate;
mod suspensions;
mod thread_state;

pub(crate) use crate::locks::{lock, wait_while};
pub(crate) use convert::{guid_of, slice, utf16_string, uuid, uuid_of};
pub(crate) use handle::CallKind;
pub use handle::ProfilerInfo;
pub(crate) use members::{MemberIndex, RunningMember};
#[cfg(feature = "heap")]
pub(crate) use memory::release_memory;
#[cfg(windows)]
pub(crate) use own_library::loaded_path;
pub(crate) use own_library::{keep_loaded, own_library};
pub(crate) use panics::{catch, message_of_panic, silence, silence_where};
pub(crate) use thread_state::{
    Owner, StateGuard, Suspended, ThreadState, during_gc, in_hook, in_walk, is_cooperative,
    is_in_callback, is_loading, may_wait, outside_of_hook, owned_by, set_suspended, suspended,
    without_waiting,
};
