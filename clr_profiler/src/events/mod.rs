//! The types of callback parameters, and the names of callbacks.
//!
//! Each callback is a method of [`Profiler`](crate::Profiler), which also has an example; types that only
//! callback parameters use are here, for example [`Roots`] and [`FunctionControl`]. A [`Callback`] is the
//! name of a callback as a value. The types of EventPipe are a delivered event, [`EventPipeEvent`], and those
//! of the sessions and providers that a profiler creates through
//! [`CorProfilerInfo12`](crate::info::CorProfilerInfo12).

// The callbacks of `ICorProfilerCallback` to `ICorProfilerCallback11` are one table, from which the trait
// `Profiler`, the enumeration `Callback` and the native vtable are generated.
//
// A row of the table reads
//
// ```text
// /// The event.
// jit_compilation_started = JITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL)
//     [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), ...);
// ```
//
// It has the method of the trait; the native name and parameters; the required events; `info` for callbacks
// that may call the runtime, or `gc` for those that are called while it is suspended; and the parameters of
// the trait's method, each with its conversion from the native ones. A row that ends in `-> parameter`
// returns a `bool` through that native parameter; it is `true` unless the profiler returns another value.
// `lifecycle` names the callbacks that `com` handles itself.

pub(crate) mod payload;
pub(crate) mod reasons;
mod set;
pub(crate) mod table_first;
pub(crate) mod table_later;

/// Passes the whole table to the macro `$then`.
macro_rules! with_callbacks {
    ($then:ident) => {
        $crate::events::table_first::callbacks! { $then }
    };
}
pub(crate) use with_callbacks;

pub use crate::ids::{EventPipeProviderId, ObjectIds};
pub use crate::info::assembly_references::AssemblyReferenceProvider;
pub use crate::info::function_control::{CodegenFlags, FunctionControl};
#[cfg(feature = "event_pipe")]
pub use crate::info::info12::{
    DefinedEvent, EventDefinition, EventLevel, EventParameter, EventPayloadReader,
    EventPipeProviderConfig, EventPipeSessionId, EventType, EventValue,
};
#[cfg(feature = "event_pipe")]
pub use crate::info::info14::EventPipeProviderState;
pub use payload::{
    AllocationsByClass, EventPipeEvent, GenerationSet, MovedRange, MovedRanges, Root, RootFlags,
    RootIds, Roots, SurvivingRanges, WeakTableElement, WeakTableElements,
};
pub use reasons::{GcReason, JitCacheResult, RootKind, SuspendReason, TransitionReason};
pub use set::{Callback, CallbackSet};
