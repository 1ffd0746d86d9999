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
//! - [`instrumentation`]: a component that changes the methods that patterns select.
//! - [`patches`]: closures that run before, after or instead of methods.
//! - [`hooks`]: functions that run when a method is entered, left or tail-called.
//! - [`contention`], [`exceptions`], [`heap`], [`sampling`]: components for waits for locks, for exceptions, for objects
//!   and allocations, and for stack traces.
//! - [`il`]: tokens, signatures, and method bodies; also a crate of its own.
//!
//! The [`prelude`] has the types that signatures of callbacks use, and all traits of the runtime's
//! interfaces.
//!
//! # Features
//!
//! All are on by default. Without them, a small profiler and its dependencies compile in little more than half of the time.
//!
//! | Feature | Adds |
//! |---|---|
//! | `rewrite` | [`rewrite`], [`rejit`], [`instrumentation`], [`patches`], the calls and metadata interfaces that write, the metadata of files, and in [`il`] all of method bodies; turns on `patterns` |
//! | `patterns` | [`il::pattern`], which a [`Method`] can be matched with |
//! | `hooks` | [`hooks`]; turns on `exceptions` |
//! | `exceptions` | [`exceptions`]; turns on `event_pipe` and `objects` |
//! | `heap` | [`heap`]; turns on `event_pipe` and `objects` |
//! | `objects` | [`Object`](info::Object), which reads objects |
//! | `event_pipe` | EventPipe: [`CorProfilerInfo12`](info::CorProfilerInfo12), and the types of its events; [`contention`] |
//! | `sampling` | [`sampling`] |
//! | `lines` | [`lines`]; adds a dependency, which decompresses embedded PDBs |
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
        feature = "event_pipe",
        feature = "exceptions",
        feature = "heap",
        feature = "hooks",
        feature = "lines",
        feature = "objects",
        feature = "patterns",
        feature = "rewrite",
        feature = "sampling"
    )),
    allow(dead_code, unreachable_pub, unused_imports)
)]

// `#[wraps(..)]` documents wrappers in all modules.
#[macro_use(wraps)]
extern crate clr_profiler_macros;

// In order of dependency: a module uses those of its group and of the groups before it. Only the modules that
// allow it here may contain `unsafe`.

// Types for native code and users.
#[macro_use]
mod debug;
mod error;
mod event_mask;
mod locks;
mod pending_signals;

// Ids, and the time of their validity.
#[allow(unsafe_code, reason = "declares the constructors from native numbers")]
mod ids;
#[allow(unsafe_code, reason = "reads memory that other threads replace")]
mod lifetimes;

// The handle to the runtime.
#[allow(
    unsafe_code,
    reason = "holds the runtime's interface and the library's own handle"
)]
mod runtime;

// The metadata in the memory of the process.
#[allow(unsafe_code, reason = "reads the memory of loaded modules")]
mod image;

// Native calls.
#[macro_use]
#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
mod native;

#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
pub mod metadata;

#[allow(unsafe_code, reason = "calls through the runtime's vtables")]
pub mod info;

// A profiler.
pub mod events;
mod profiler;
#[cfg(feature = "event_pipe")]
mod runtime_events;
#[cfg(any(feature = "rewrite", feature = "sampling"))]
mod worker;

// Source lines.
#[cfg(feature = "lines")]
pub mod lines;

// Components.
#[cfg(feature = "event_pipe")]
pub mod contention;
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
// By `rewrite` and `rejit`.
#[cfg(feature = "rewrite")]
pub mod instrumentation;
// By `instrumentation`.
#[cfg(feature = "rewrite")]
pub mod patches;

// All of them together.
mod overhead;

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
pub use overhead::Overhead;
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
    pub use crate::metadata::Metadata;
    #[cfg(feature = "rewrite")]
    pub use crate::metadata::MetadataWriter;

    #[cfg(feature = "hooks")]
    pub use crate::hooks::CorProfilerInfoHooks;
    #[cfg(feature = "event_pipe")]
    pub use crate::info::CorProfilerInfo12;
    pub use crate::info::{
        CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo5,
        CorProfilerInfo6, CorProfilerInfo7, CorProfilerInfo8, CorProfilerInfo9, CorProfilerInfo10,
        CorProfilerInfo11, CorProfilerInfo13, CorProfilerInfo14, CorProfilerInfo15,
        CorProfilerInfoLegacy, CorProfilerInfoStatics,
    };
    #[cfg(feature = "rewrite")]
    pub use crate::metadata::{
        MetadataAssemblyEmit, MetadataDispenser, MetadataDispenserEx, MetadataEmit, MetadataEmit2,
        MetadataFilter, MetadataValidate, MetadataWinMdImport,
    };
    pub use crate::metadata::{
        MetadataAssemblyImport, MetadataImport, MetadataImport2, MetadataInfo, MetadataTables,
        MetadataTables2,
    };
}

/// Items for expanded macros; not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::Uuid;
    pub use crate::com::{Class, ProfilerClass, can_unload_now, class_id, get_class_object};
    #[cfg(windows)]
    pub use crate::com::{install, register, unregister};
    pub use crate::events::CallbackSet;
}
