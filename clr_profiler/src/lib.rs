//! Write .NET profilers in safe Rust.
//!
//! The .NET runtime loads a native library that environment variables name, asks it for an object,
//! and calls that object for everything that happens: methods compiled, modules loaded, exceptions
//! thrown, garbage collected. A profiler is a type that implements [`Profiler`]:
//!
//! ```
//! use clr_profiler::prelude::*;
//!
//! struct JitLogger;
//!
//! #[profiler(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3")]
//! impl Profiler for JitLogger {
//!     fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
//!         Ok(JitLogger)
//!     }
//!
//!     fn jit_compilation_started(
//!         &self,
//!         info: &ProfilerInfo,
//!         function: FunctionId,
//!         _is_safe_to_block: bool,
//!     ) -> Result<()> {
//!         eprintln!("{}", info.method(function)?.full_name()?);
//!         Ok(())
//!     }
//! }
//!
//! register!(JitLogger);
//! ```
//!
//! In a package whose library is a `cdylib` this builds what the runtime loads when
//! `CORECLR_ENABLE_PROFILING` is `1`, `CORECLR_PROFILER` the class id in braces and
//! `CORECLR_PROFILER_PATH` the path of the library.
//!
//! # What is where
//!
//! - [`Profiler`] has a method for each callback; [`Setup`] is what `initialize` decides.
//! - [`Component`]s are parts that get callbacks by themselves, such as [`Rejit`]: [`Setup::attach`].
//! - [`ProfilerInfo`] is the runtime: [`info.method(function)`](ProfilerInfo::method) for what is
//!   needed most, and the traits [`CorProfilerInfo`] and so on, each after the native interface of
//!   its name.
//! - [`Metadata`] holds the names and signatures of a module, through [`MetadataImport`] and
//!   [`MetadataImport2`].
//! - [`info.method(function)?.rewrite(..)`](Method::rewrite) edits the IL of a method before it is
//!   compiled, [`FunctionControl::rewrite`] that of one that runs already; nothing invalid reaches
//!   the runtime.
//! - Rewritten code calls functions of the profiler by [`NativeCall`], managed code of its own by
//!   [`HelperAssembly`], and does not call itself behind a [`ReentrancyGuard`].
//! - [`il`] has tokens, signatures, and the method bodies that are edited.
//! - [`Error`] says which native call failed, why, and what to do.
//!
//! Everything that a profiler's author names in code is in the [`prelude`].
//!
//! The guide, in the repository's folder `docs/src`, goes through all of this chapter by chapter, from
//! a first profiler to deploying and troubleshooting.
//!
//! # What can go wrong, and what happens then
//!
//! A callback that returns an error or panics does not disturb the program: it goes on as if the
//! callback had done nothing, and the hook of [`Setup::on_failure`] is told. After a number of
//! panics ([`Setup::panic_limit`]) the profiler gets no more callbacks. An `initialize` that fails
//! leaves the program unprofiled. Because a runtime ignores that silently, the library says it
//! where the environment variable `CLR_PROFILER_DIAGNOSTICS` names a place: `stderr` or a file. So it
//! does with failures that no hook is told of.
//!
//! Libraries built with `panic = "abort"` cannot keep that promise: [`register!`] refuses to
//! compile in them.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![deny(unsafe_code)]

// `#[wraps(..)]`, which documents wrappers in all modules that have some.
#[macro_use(wraps)]
extern crate clr_profiler_macros;

// In the order of floors: each module knows those before it. The folders that talk to the runtime are
// the only ones that may hold `unsafe`.

// What native code and users name.
#[macro_use]
mod debug;
mod error;
mod events;
#[allow(unsafe_code, reason = "declares the constructors that take any number")]
mod ids;
#[allow(unsafe_code, reason = "reads what others replace meanwhile")]
mod lifetimes;
mod locks;

// The runtime.
#[allow(
    unsafe_code,
    reason = "holds the runtime's interface and the library's own handle"
)]
mod runtime;
#[macro_use]
#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
mod native;
#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
mod info;
#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
mod metadata;

// A profiler.
mod callbacks;
mod profiler;
mod worker;

// Components.
mod heap;
#[allow(unsafe_code, reason = "code that compiled methods call")]
mod hooks;
mod rejit;
mod rewrite;
mod sampling;
mod tracing;

// Where the runtime calls in.
#[allow(unsafe_code, reason = "where the runtime calls in")]
mod com;
mod register;

pub use callbacks::payload::{
    AllocationsByClass, EventPipeEvent, GenerationSet, MovedRange, MovedRanges, Root, RootFlags,
    RootIds, Roots, SurvivingRanges, WeakTableElement, WeakTableElements,
};
pub use callbacks::reasons::{GcReason, JitCacheResult, RootKind, SuspendReason, TransitionReason};
pub use callbacks::{Callback, CallbackSet};
pub use clr_profiler_il as il;
pub use clr_profiler_macros::{component, profiler};
pub use error::{Error, ErrorKind, Hresult, Result};
pub use events::EventMask;
pub use heap::{
    Elements, HeapClass, HeapGraph, HeapObject, HeapRecorder, HeapReference, HeapRoot,
    ReferencePlace,
};
pub use hooks::{
    CallHooks, CallHooksWithInfo, EnterCall, HookFailure, HookKinds, HookedFunction,
    HookedFunctions, LeaveCall, UnwindStep, Unwinding,
};
pub use ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, EventPipeProviderId, FunctionId, GcHandleId,
    ModuleId, ObjectId, ObjectIds, RejitId, ThreadId,
};
pub use info::*;
pub use metadata::*;
pub use profiler::{Component, Failure, FailureCause, FailurePlace, Profiler, Setup};
pub use rejit::{
    Inliners, MethodName, NameOutcome, Precompiled, Rejit, RejitOptions, RejitOutcome, RejitState,
};
pub use rewrite::{
    Boxed, BoxedArguments, Boxing, Completion, Followed, HelperAssembly, HelperLoader, NativeCall,
    NativeFunction, NativeFunctionPointer, NativeLibrary, NativeReturn, NativeValue, NewField,
    NewType, ReentrancyGuard, RewriteContext, RewriteError, Rewritten, TypeBuilder, TypedArguments,
    Unboxable, Unfollowed,
};
pub use sampling::{Sample, SampledFrame, Sampler, SamplerOptions, SamplerTotals};
pub use tracing::{
    AllocationTick, AllocationTicks, ExceptionEvent, ExceptionEvents, ThrownException,
};
pub use uuid::Uuid;

/// What a profiler's author needs, in one `use`.
pub mod prelude {
    pub use crate::Uuid;
    pub use crate::il::token::*;
    pub use crate::{
        AllocationsByClass, AppDomainId, AssemblyId, AssemblyReferenceProvider, Callback, ClassId,
        Component, CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3, CorProfilerInfo4,
        CorProfilerInfo5, CorProfilerInfo6, CorProfilerInfo7, CorProfilerInfo8, CorProfilerInfo9,
        CorProfilerInfo10, CorProfilerInfo11, CorProfilerInfo12, CorProfilerInfo13,
        CorProfilerInfo14, CorProfilerInfo15, CorProfilerInfoHooks, CorProfilerInfoLegacy,
        CorProfilerInfoStatics, Error, EventMask, EventPipeEvent, EventPipeProviderId, Failure,
        FunctionControl, FunctionId, GcHandleId, GcReason, GcScope, GenerationSet, HelperAssembly,
        Hresult, JitCacheResult, Metadata, MetadataImport, MetadataImport2, Method, ModuleId,
        MovedRanges, NativeCall, Object, ObjectId, ObjectIds, Profiler, ProfilerInfo,
        ReentrancyGuard, RejitId, Result, RewriteContext, RootIds, Roots, Setup, SurvivingRanges,
        SuspendReason, ThreadId, TransitionReason, Value, WeakTableElements, component, profiler,
        register,
    };
    pub use crate::{
        AnySignature, AsSignature, DefaultValue, Dispenser, MetadataAssemblyEmit,
        MetadataAssemblyImport, MetadataDispenser, MetadataDispenserEx, MetadataEmit,
        MetadataEmit2, MetadataFilter, MetadataInfo, MetadataTables, MetadataTables2,
        MetadataValidate, MetadataWinMdImport, MetadataWriter,
    };
}

/// What the macros expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::Uuid;
    pub use crate::callbacks::CallbackSet;
    pub use crate::com::{Class, ProfilerClass, can_unload_now, get_class_object};
}
