//! Write .NET profilers in safe Rust.
//!
//! The .NET runtime loads a native library that environment variables name, requests an object from it, and
//! calls that object for events: methods are compiled, modules loaded, exceptions thrown, garbage is
//! collected. A profiler is a type that implements [`Profiler`]:
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
//! A package with this code whose library is a `cdylib` builds a profiler. The runtime loads it if
//! `CORECLR_ENABLE_PROFILING` is `1`, `CORECLR_PROFILER` is the class id in braces and
//! `CORECLR_PROFILER_PATH` is the path of the library.
//!
//! # Modules
//!
//! The root has the types of every profiler: [`Profiler`] with a method for each callback, [`Setup`], which
//! `initialize` fills in, [`ProfilerInfo`], the handle to the runtime, [`Method`], ids, events and errors.
//! A [`Component`] is a part with callbacks of its own; see [`Setup::attach`]. The rest is in modules:
//!
//! - [`events`]: the types of the callbacks' parameters, and EventPipe.
//! - [`info`]: a trait for each version of `ICorProfilerInfo`, and the values that their calls return.
//! - [`metadata`]: names and signatures of a module, and additions to it.
//! - [`rewrite`]: [`Method::rewrite`] edits the IL of a method before it is compiled; rewritten IL calls
//!   the profiler. The runtime never receives invalid IL.
//! - [`rejit`]: new IL for methods that are already compiled.
//! - [`hooks`]: functions that run when a method is entered, left or tail-called.
//! - [`exceptions`], [`heap`], [`sampling`]: components for exceptions, for objects and allocations, and for
//!   stack traces.
//! - [`il`]: tokens, signatures, and method bodies; also a crate of its own.
//!
//! The [`prelude`] has the types that signatures of callbacks use, and all traits of the runtime's
//! interfaces.
//!
//! # Features
//!
//! All are on by default. Without them, a small profiler and its dependencies compile in two thirds of the time.
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
//! The guide, in the repository's folder `docs/src`, explains all of this, from a first profiler to
//! deployment and troubleshooting.
//!
//! # Failures
//!
//! A callback that returns an error or panics does not disturb the program, which continues as if the
//! callback had done nothing; the hook of [`Setup::on_failure`] receives the failure. After a number of
//! panics ([`Setup::panic_limit`]) the profiler is disabled: it receives no more callbacks. If `initialize`
//! fails, the program runs unprofiled. The runtime ignores that silently, so the library writes it to the
//! destination that the environment variable `CLR_PROFILER_DIAGNOSTICS` names, `stderr` or a file. It also
//! writes failures there that no hook receives.
//!
//! Libraries built with `panic = "abort"` cannot keep that promise: [`register!`] refuses to compile in
//! them.

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

// `#[wraps(..)]` documents wrappers in all modules.
#[macro_use(wraps)]
extern crate clr_profiler_macros;

// In order of dependency: each module uses only those before it. Only the modules that allow it here may
// contain `unsafe`.

// Types for native code and users.
#[macro_use]
mod debug;
mod error;
mod event_mask;
#[allow(unsafe_code, reason = "declares the constructors from native numbers")]
mod ids;
#[allow(unsafe_code, reason = "reads memory that other threads replace")]
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

// Entry points for the runtime.
#[allow(unsafe_code, reason = "called by the runtime")]
mod com;
mod register;

pub use clr_profiler_il as il;
pub use clr_profiler_macros::{component, profiler};
pub use error::{Error, ErrorKind, Hresult, OptionalExt, Result};
pub use event_mask::EventMask;
pub use ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, GcHandleId, ModuleId, ObjectId,
    RejitId, ThreadId,
};
pub use info::method::Method;
pub use profiler::{Component, Failure, FailureCause, FailurePlace, Profiler, Setup};
pub use runtime::ProfilerInfo;
pub use uuid::Uuid;

/// The types that signatures of callbacks use, and the traits of the runtime's interfaces.
pub mod prelude {
    pub use crate::{
        AppDomainId, AssemblyId, ClassId, Component, Error, EventMask, Failure, FunctionId,
        GcHandleId, Hresult, Method, ModuleId, ObjectId, OptionalExt, Profiler, ProfilerInfo,
        RejitId, Result, Setup, ThreadId, Uuid, component, profiler, register,
    };

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

/// Items for expanded macros; not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::Uuid;
    pub use crate::com::{Class, ProfilerClass, can_unload_now, get_class_object};
    pub use crate::events::CallbackSet;
}
