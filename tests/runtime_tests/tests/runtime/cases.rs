//! A row for each case: the test, and a line of docs/runtime-tests.md.

use clr_profiler_tests::Runtime;

use On::{Cannot, Passes, Shown, Without};

/// The runtimes of the columns.
pub(crate) const MAJORS: [u32; 4] = [3, 8, 9, 10];

/// A case of the runtime's tests.
pub(crate) struct Case {
    /// The runtime's test, with its case if it has several.
    pub(crate) of: &'static str,
    /// The test here.
    pub(crate) name: &'static str,
    /// The runtimes, in the order of [`MAJORS`].
    pub(crate) on: [On; 4],
    /// The assertions without which the test would pass with a wrong profiler or runtime.
    pub(crate) asserts: &'static str,
    /// Runs it on one runtime.
    pub(crate) run: fn(&Runtime, On),
}

/// The outcome of a case on a runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// It passes.
    Passes,
    /// It passes, apart from a part that the runtime does not have.
    Without(&'static str),
    /// It cannot pass, and the run shows why.
    Shown(&'static str),
    /// It cannot be run.
    Cannot(&'static str),
}

impl Case {
    /// The outcome on this runtime; newer ones are as the newest.
    pub(crate) fn on(&self, major: u32) -> On {
        let column = MAJORS.iter().rposition(|known| *known <= major);
        self.on[column.unwrap_or(0)]
    }
}

/// Declares the rows and their tests.
macro_rules! cases {
    ($(
        $name:ident $of:literal [$($on:expr),*] $asserts:literal = $run:path;
    )*) => {
        /// The rows.
        pub(crate) const CASES: &[Case] = &[$(Case {
            of: $of,
            name: stringify!($name),
            on: [$($on),*],
            asserts: $asserts,
            run: $run,
        }),*];

        $(
            #[test]
            fn $name() {
                let case = CASES.iter().find(|case| case.name == stringify!($name));
                super::run(case.unwrap());
            }
        )*
    };
}

const NO_PINNED_HEAP: &str = "Without the heap of pinned objects, which .NET 5 introduced.";
const NO_HANDLES: &str =
    "`CreateHandle` needs `ICorProfilerInfo13` (.NET 7): the call is refused, and says so.";
const NO_WALK: &str = "`EnumerateGCHeapObjects` needs `ICorProfilerInfo15` (.NET 9): the call is refused, and says so.";
const NO_PROVIDERS: &str = "`EventPipeCreateProvider2` needs `ICorProfilerInfo14` (.NET 8): the call is refused, and says so.";
const NO_SESSIONS: &str = "`EventPipeStartSession` needs `ICorProfilerInfo12` (.NET 5): the call is refused, and says so.";
const NO_FROZEN: &str = "`EnumerateNonGCObjects` needs `ICorProfilerInfo14` (.NET 8), and this runtime allocates no object \
     that is never collected.";
const NO_CALLERS: &str = "`UnmanagedCallersOnlyAttribute` is of .NET 5.";
const NO_PORTS: &str = "Diagnostic ports to which the runtime connects are of .NET 5, and `StartupProfiler` of .NET 6.";
const NO_NOTIFICATION: &str = ".NET Core 3.1 has no notification profilers.";
const TEARDOWN: &str = "The profiler declines the attach by a detach. If it returns an error instead, as in the runtime's test, these \
     runtimes destroy their object of it while a collection calls it, and can end the program with `pure virtual method called`.";
const NO_ASYNC: &str = "The runtime makes methods asynchronous from .NET 10 on.";
const WINDOWS: &str =
    "C++/CLI: compilers and runtimes for it exist on Windows only, and these runs are on Linux.";
const NEW_FLAG: &str = "The flag `COR_PRF_HIGH_MONITOR_GC_SKIP_ALLOCATED_BY_CLASS_STATISTIC` (0x200) is newer than .NET 10: these \
     runtimes accept it and count all the same.";
const NO_STRUCTURES: &str = "Without returned structures: `GetFunctionLeave3Info` of .NET Core 3.1 reports other bytes, and the library \
     refuses the call.";
const FIXED_FLAGS: &str = "`COR_PRF_DISABLE_OPTIMIZATIONS` and `COR_PRF_DISABLE_INLINING` can be changed after the start from .NET 10 on \
     only: here the library refuses the call (`flags_are_refused_as_the_runtime_would` compares its rules with the runtime).";
const LOST_STATICS: &str = "Without types of collectible modules: .NET Core 3.1 and .NET 8 crash in `GetAppDomainStaticAddress` when such a \
     module is about to be unloaded, and the library refuses the call.";
const CONTINUATIONS: &str = "The types without metadata are newer than .NET 10, which keeps the state of a method in an object of \
     `System.Runtime.CompilerServices.Continuation`: all calls about the type of each object succeed.";
const NO_LEAVES: &str = "The leave hook is called where a method suspends from a newer runtime on: .NET 10 calls it only for a call \
     that completes, and enter also for each continuation.";
const NOT_HERE: &str = "`SuspendRuntime` on a thread of the program, in a call of native code, is refused before .NET 9 with \
     `CORPROF_E_UNSUPPORTED_CALL_SEQUENCE`, and `EnumerateGCHeapObjects` needs `ICorProfilerInfo15`.";

cases! {
    collections_begin_and_end "gc/gcbasic" [Passes, Passes, Passes, Passes]
        "begins and ends of collections in order, both seen; no generation that is not known; on 3.1 an empty generation 1"
        = super::heap::collections_begin_and_end;
    objects_have_generations "gc/gc" [Without(NO_PINNED_HEAP), Passes, Passes, Passes]
        "pinned objects among the references and among the roots; a range that contains its object for each"
        = super::heap::objects_have_generations;
    large_and_pinned_allocations "gc/gcallocate" [Without(NO_PINNED_HEAP), Passes, Passes, Passes]
        "large and pinned allocations, and no others"
        = super::heap::large_and_pinned_allocations;
    objects_that_are_never_collected "gc/nongcheap" [Shown(NO_FROZEN), Passes, Passes, Passes]
        "at each end of a collection as many as were allocated; `CORPROF_E_NOT_GC_OBJECT` for their generation, and a \
         known one for all others"
        = super::heap::objects_that_are_never_collected;
    collections_without_counts_by_class "gc/gcskipobjectsallocatedbyclasscallback"
        [Shown(NEW_FLAG), Shown(NEW_FLAG), Shown(NEW_FLAG), Shown(NEW_FLAG)]
        "the collections that are seen, without a count by class"
        = super::heap::collections_without_counts_by_class;
    counts_by_class_while_a_profiler_declines "gc/gcnotificationprofilerteardown"
        [Cannot(NO_NOTIFICATION), Without(TEARDOWN), Without(TEARDOWN), Without(TEARDOWN)]
        "the exact number of objects of a class over three rounds, before, during and after an attach that is declined"
        = super::heap::counts_by_class_while_a_profiler_declines;
    a_walk_of_the_heap "gcheapenumeration, without a suspension" [Shown(NO_WALK), Shown(NO_WALK), Passes, Passes]
        "500 objects or more, and exactly one of the class of which there is one"
        = super::heap::a_walk_of_the_heap;
    a_walk_within_a_suspension "gcheapenumeration, within a suspension by the profiler"
        [Shown(NOT_HERE), Shown(NOT_HERE), Passes, Passes]
        "the same"
        = super::heap::a_walk_within_a_suspension;
    walks_that_compete_with_collections "gcheapenumeration, with a collection at the same time"
        [Shown(NO_WALK), Shown(NO_WALK), Passes, Passes]
        "the same in each of five walks, while another thread collects in a loop"
        = super::heap::walks_that_compete_with_collections;
    objects_of_handles "handles" [Shown(NO_HANDLES), Passes, Passes, Passes]
        "after each of three induced collections which objects are alive, and that the pinned one has not moved; asked at the \
         next allocation, where objects can be read"
        = super::heap::objects_of_handles;

    arguments_in_hooks "elt/slowpatheltenter" [Passes, Passes, Passes, Passes]
        "the values of integers, floats, strings and structures, in registers and on the stack"
        = super::calls::arguments_in_hooks;
    results_in_hooks "elt/slowpatheltleave"
        [Without(NO_STRUCTURES), Passes, Passes, Passes]
        "the values of strings, numbers and structures of integers, floats and doubles"
        = super::calls::results_in_hooks;
    hooks_and_transitions "elttransitions" [Cannot(NO_CALLERS), Passes, Passes, Passes]
        "both transitions of the call of native code and no hook for it, one hook for the method that native code calls"
        = super::calls::hooks_and_transitions;
    transitions_of_a_function "transitions, `UnmanagedCallersOnly`, blittable" [Cannot(NO_CALLERS), Passes, Passes, Passes]
        "the four transitions in order, each once, with its reason"
        = super::calls::transitions_of_a_function;
    transitions_of_a_function_with_text "transitions, `UnmanagedCallersOnly`, not blittable"
        [Cannot(NO_CALLERS), Passes, Passes, Passes]
        "the same"
        = super::calls::transitions_of_a_function_with_text;
    transitions_of_a_delegate "transitions, delegate, blittable" [Passes, Passes, Passes, Passes]
        "the same"
        = super::calls::transitions_of_a_delegate;
    transitions_of_a_delegate_with_text "transitions, delegate, not blittable" [Passes, Passes, Passes, Passes]
        "the same"
        = super::calls::transitions_of_a_delegate_with_text;
    code_of_two_worlds "ijw" [Cannot(WINDOWS), Cannot(WINDOWS), Cannot(WINDOWS), Cannot(WINDOWS)]
        "–"
        = super::calls::code_of_two_worlds;
    a_method_and_its_inliners "rejit" [Passes, Passes, Passes, Passes]
        "the program's output before, between and after; as many compilations as inliners and one; an address for all code"
        = super::calls::a_method_and_its_inliners;
    inlining_allowed_and_blocked "unittest/inlining" [Passes, Passes, Passes, Passes]
        "the one caller in which the method is entered as a call"
        = super::calls::inlining_allowed_and_blocked;

    events_written "eventpipe" [Shown(NO_PROVIDERS), Passes, Passes, Passes]
        "values of 15 types and of an array, 10,000 events in order, names of events and parameters, and the settings \
         that the provider is told"
        = super::calls::events_written;
    events_read "eventpipe_readevents" [Shown(NO_SESSIONS), Passes, Passes, Passes]
        "exactly three events: names, types and values of their parameters, with arrays and nested objects"
        = super::calls::events_read;
    exceptions_in_order "exception" [Passes, Passes, Passes, Passes]
        "the 13 callbacks in order, with the methods"
        = super::calls::exceptions_in_order;

    a_profiler_by_the_diagnostics_server "reverse_startup" [Cannot(NO_PORTS), Passes, Passes, Passes]
        "variables that the server has changed, set and cleared, in `initialize`"
        = super::life::a_profiler_by_the_diagnostics_server;
    several_profilers_detach "multiple" [Cannot(NO_NOTIFICATION), Passes, Passes, Passes]
        "an exception, a detach and a drop for each of three profilers: a main one, a notification profiler and one that is attached"
        = super::life::several_profilers_detach;
    a_released_profiler "unittest/releaseondetach" [Passes, Passes, Passes, Passes]
        "the profiler is dropped, after it was told that it is detached"
        = super::life::a_released_profiler;
    unloaded_assemblies "assembly/ALCTest"
        [Shown("This runtime never calls `AssemblyUnloadStarted`."), Passes, Passes, Passes]
        "as many begins as ends of unloads, three or more"
        = super::life::unloaded_assemblies;
    loaded_modules "unittest/moduleload" [Passes, Passes, Passes, Passes]
        "as many begins as ends for modules and for assemblies, and the dynamic modules"
        = super::life::loaded_modules;
    loaded_types "unittest/classload" [Passes, Passes, Passes, Passes]
        "begin and end of the load and of the unload of each of the seven types, by name"
        = super::life::loaded_types;
    optimisation_switched "dynamicoptimization"
        [Shown(FIXED_FLAGS), Shown(FIXED_FLAGS), Shown(FIXED_FLAGS), Passes]
        "how the runtime says that it has compiled each of five copies of a method, and which of them inlined"
        = super::life::optimisation_switched;
    scopes_of_files "unittest/metadatagetdispenser" [Passes, Passes, Passes, Passes]
        "the metadata of each file that is loaded as a module opens, at the end of the load: before, the library refuses the id"
        = super::life::scopes_of_files;
    addresses_of_statics "unittest/getappdomainstaticaddress"
        [Without(LOST_STATICS), Without(LOST_STATICS), Passes, Passes]
        "addresses of fields of collectible and of other types, and no error but `CORPROF_E_DATAINCOMPLETE`"
        = super::life::addresses_of_statics;
    threads_of_suspensions "unittest/enumthreads" [Passes, Passes, Passes, Passes]
        "threads are enumerated while the runtime is suspended, and collections begin and end"
        = super::life::threads_of_suspensions;

    asynchronous_code "runtimeasyncapis" [Cannot(NO_ASYNC), Cannot(NO_ASYNC), Cannot(NO_ASYNC), Passes]
        "code, address and offsets of the method; its exception is thrown, searched for and caught"
        = super::life::asynchronous_code;
    asynchronous_types "runtimeasynctypes" [Cannot(NO_ASYNC), Cannot(NO_ASYNC), Cannot(NO_ASYNC), Shown(CONTINUATIONS)]
        "the answers of `GetClassIDInfo`, `GetClassIDInfo2` and `GetClassLayout` for the type of each object: a newer runtime \
         adds a line about types without metadata"
        = super::life::asynchronous_types;
    asynchronous_calls "runtimeasyncelt" [Cannot(NO_ASYNC), Cannot(NO_ASYNC), Cannot(NO_ASYNC), Shown(NO_LEAVES)]
        "25, 3 and 3 enters of three methods, as the runtime's test has them, and 5, 1 and 1 leaves instead of as many"
        = super::life::asynchronous_calls;
}
