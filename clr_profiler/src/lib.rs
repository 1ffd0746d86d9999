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
//! # Modules
//!
//! The root has what every profiler names: [`Profiler`] with a method for each callback, [`Setup`], which
//! `initialize` fills in, [`ProfilerInfo`], the handle to the runtime, [`Method`], ids, events and errors.
//! [`Component`]s are parts that get callbacks by themselves: [`Setup::attach`]. The rest is in modules:
//!
//! - [`events`]: the types of the callbacks' parameters, and EventPipe.
//! - [`info`]: a trait for each version of `ICorProfilerInfo`, and the values that their calls return.
//! - [`metadata`]: names and signatures of a module, and additions to it.
//! - [`rewrite`]: [`Method::rewrite`] edits the IL of a method before it is compiled; rewritten IL calls
//!   the profiler. Nothing invalid reaches the runtime.
//! - [`rejit`]: other IL for methods that were compiled already.
//! - [`hooks`]: functions that run when a method is entered, left or tail-called.
//! - [`exceptions`], [`heap`], [`sampling`]: components for exceptions, for objects and allocations, and for
//!   stack traces.
//! - [`il`]: tokens, signatures, and the method bodies that are edited; a crate of its own.
//!
//! The [`prelude`] has the types that signatures of callbacks name, and all traits over the runtime's interfaces.
//!
//! # Features
//!
//! All are on by default. Without them, a small profiler and its dependencies compile in 60 % of the time.
//!
//! | Feature | Adds |
//! |---|---|
//! | `rewrite` | [`rewrite`], [`rejit`], the calls that set method bodies, and all of [`il`] but tokens, attributes and signatures |
//! | `hooks` | [`hooks`]; turns on `exceptions` |
//! | `exceptions` | [`exceptions`] |
//! | `heap` | [`heap`] |
//! | `sampling` | [`sampling`] |
//!
//! # The guide
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

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![deny(unsafe_code)]
// The lower floors serve all components. Which of their private items are needed is seen with all features.
#![cfg_attr(
    not(all(
        feature = "exceptions",
        feature = "heap",
        feature = "hooks",
        feature = "rewrite",
        feature = "sampling"
    )),
    allow(dead_code, unused_imports)
)]

// `#[wraps(..)]`, which documents wrappers in all modules that have some.
#[macro_use(wraps)]
extern crate clr_profiler_macros;

// In the order of floors: each module knows those before it. The folders that talk to the runtime are
// the only ones that may hold `unsafe`.

// What native code and users name.
#[macro_use]
mod debug;
mod error;
mod event_mask;
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
pub mod info;
#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
pub mod metadata;

// A profiler.
pub mod events;
mod profiler;
#[cfg(any(feature = "exceptions", feature = "heap"))]
mod runtime_events;
#[cfg(any(feature = "rewrite", feature = "sampling"))]
mod worker;

// Components.
#[cfg(feature = "exceptions")]
pub mod exceptions;
#[cfg(feature = "heap")]
pub mod heap;
#[cfg(feature = "hooks")]
#[allow(unsafe_code, reason = "code that compiled methods call")]
pub mod hooks;
#[cfg(feature = "rewrite")]
pub mod rejit;
#[cfg(feature = "rewrite")]
pub mod rewrite;
#[cfg(feature = "sampling")]
pub mod sampling;

// Where the runtime calls in.
#[allow(unsafe_code, reason = "where the runtime calls in")]
mod com;
mod register;

pub use clr_profiler_il as il;
pub use clr_profiler_macros::{component, profiler};
pub use error::OptionalExt;
pub use error::{Error, ErrorKind, Hresult, Result};
pub use event_mask::EventMask;
pub use ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, GcHandleId, ModuleId, ObjectId,
    RejitId, ThreadId,
};
pub use info::method::Method;
pub use profiler::{Component, Failure, FailureCause, FailurePlace, Profiler, Setup};
pub use runtime::ProfilerInfo;
pub use uuid::Uuid;

/// The types that signatures of callbacks name, and the traits over the runtime's interfaces, in one `use`.
pub mod prelude {
    pub use crate::{
        AppDomainId, AssemblyId, ClassId, Component, Error, EventMask, Failure, FunctionId,
        GcHandleId, Hresult, Method, ModuleId, ObjectId, Profiler, ProfilerInfo, RejitId, Result,
        Setup, ThreadId, Uuid, component, profiler, register,
    };

    pub use crate::OptionalExt;

    pub use crate::events::{
        AllocationsByClass, AssemblyReferenceProvider, EventPipeEvent, EventPipeProviderId,
        FunctionControl, GcReason, GenerationSet, JitCacheResult, MovedRanges, ObjectIds, RootIds,
        Roots, SurvivingRanges, SuspendReason, TransitionReason, WeakTableElements,
    };
    pub use crate::il::token::{FieldDef, MethodDef, TypeDef};
    pub use crate::info::GcScope;
    pub use crate::metadata::{Metadata, MetadataWriter};

    #[cfg(feature = "hooks")]
    pub use crate::hooks::CorProfilerInfoHooks;
    pub use crate::info::{
        CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo5,
        CorProfilerInfo6, CorProfilerInfo7, CorProfilerInfo8, CorProfilerInfo9, CorProfilerInfo10,
        CorProfilerInfo11, CorProfilerInfo12, CorProfilerInfo13, CorProfilerInfo14,
        CorProfilerInfo15, CorProfilerInfoLegacy, CorProfilerInfoStatics,
    };
    pub use crate::metadata::{
        MetadataAssemblyEmit, MetadataAssemblyImport, MetadataDispenser, MetadataDispenserEx,
        MetadataEmit, MetadataEmit2, MetadataFilter, MetadataImport, MetadataImport2, MetadataInfo,
        MetadataTables, MetadataTables2, MetadataValidate, MetadataWinMdImport,
    };
}

/// What the macros expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::Uuid;
    pub use crate::com::{Class, ProfilerClass, can_unload_now, get_class_object};
    pub use crate::events::CallbackSet;
}
