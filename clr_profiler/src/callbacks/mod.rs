//! The callbacks of `ICorProfilerCallback` to `ICorProfilerCallback11`: one table, from which the
//! trait [`Profiler`], the enumeration [`Callback`] and the native vtable derive.
//!
//! A row of the table reads
//!
//! ```text
//! /// What has happened.
//! jit_compilation_started = JITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL)
//!     [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), ...);
//! ```
//!
//! the method of the trait; the native name and parameters; the events that it needs; `info` for
//! callbacks that may ask the runtime, `gc` for those that come while it is suspended; and the
//! parameters of the trait's method, each with its conversion from the native ones. A row that
//! ends in `-> parameter` returns a `bool` through that native parameter; it is `true` unless the
//! profiler says otherwise. `lifecycle` names the callbacks that `com` handles itself.

pub(crate) mod payload;
pub(crate) mod reasons;
mod set;
pub(crate) mod table_first;
pub(crate) mod table_later;

/// Hands the whole table to the macro `$then`.
macro_rules! with_callbacks {
    ($then:ident) => {
        $crate::callbacks::table_first::callbacks! { $then }
    };
}
pub(crate) use with_callbacks;

pub use set::{Callback, CallbackSet};
