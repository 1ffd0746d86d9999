//! The profilers of the tests that the runtime has of its profiling interface, done again with `clr_profiler`.
//!
//! The tests are in `tests`: [`cases`](../tests/runtime/cases.rs) has a row for each. A profiler writes its
//! results to the log, and a line that begins with `FAILED` where something is not as it should be.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "of the tests alone")]
#![allow(missing_debug_implementations, reason = "of the tests alone")]

mod asynchronous;
mod collections;
mod common;
mod exceptions;
mod heap;
mod hooks;
mod life;
mod loading;
mod pipes;
mod rejit;
mod statics;

use clr_profiler::prelude::*;

register!(
    asynchronous::AsyncApis,
    asynchronous::AsyncCalls,
    asynchronous::AsyncTypes,
    collections::BasicCollections,
    collections::CollectedObjects,
    collections::LargeAllocations,
    collections::NeverCollected,
    collections::SkipsClasses,
    exceptions::ExceptionSequence,
    heap::AllocatedClasses,
    heap::DeclinesAttach,
    heap::HeapWalk,
    heap::HeldObjects,
    hooks::CountsTransitions,
    hooks::InlineesEntered,
    hooks::ReadsArguments,
    hooks::ReadsResults,
    life::DetachesAtException,
    life::DetachesOnceAttached,
    life::ReadsEnvironment,
    loading::AssemblyUnloads,
    loading::ClassLoads,
    loading::ModuleLoads,
    loading::OpensScopes,
    loading::SwitchesOptimization,
    loading::ThreadsOfSuspensions,
    pipes::ReadsEvents,
    pipes::WritesEvents,
    rejit::RejitsInliners,
    statics::StaticAddresses,
);
