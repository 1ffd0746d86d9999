//! Methods that the runtime itself makes asynchronous: their code, their types without metadata, their calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, HookFailure, LeaveCall};
use clr_profiler::prelude::*;

use crate::common::{check, class_name, clsid, locked, log, method_name, report_failures};

/// Checks the code of `Fails`, and counts the callbacks about its exception.
#[derive(Default)]
pub(crate) struct AsyncApis {
    target: Mutex<Option<FunctionId>>,
    counts: Mutex<BTreeMap<&'static str, u32>>,
}

impl AsyncApis {
    fn count(&self, what: &'static str) {
        *locked(&self.counts).entry(what).or_default() += 1;
    }

    fn is_target(info: &ProfilerInfo, function: FunctionId) -> bool {
        method_name(info, function).is_ok_and(|name| name == "Work.Fails")
    }

    fn is_known(&self, function: FunctionId) -> bool {
        *locked(&self.target) == Some(function)
    }
}

#[profiler(clsid = clsid("AsyncApis"))]
impl Profiler for AsyncApis {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_EXCEPTIONS);
        Ok(Self::default())
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        if Self::is_target(info, f) {
            self.count("compilation started");
        }
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _: bool,
    ) -> Result<()> {
        if !Self::is_target(info, function) {
            return Ok(());
        }
        check(status.is_ok(), status);
        self.count("compilation finished");
        *locked(&self.target) = Some(function);
        let ranges = info.code_info2(function)?;
        check(!ranges.is_empty(), "no code");
        for range in ranges.iter().take(1) {
            let found = info.function_from_ip(range.start)?;
            check(found == function, "the code of another function");
            self.count("found by address");
        }
        let mapping = info.il_to_native_mapping(function)?;
        check(!mapping.is_empty(), "no map of offsets");
        self.count("mapped");
        Ok(())
    }

    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        Ok(!Self::is_target(info, function))
    }

    fn jit_cached_function_search_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        result: JitCacheResult,
    ) -> Result<()> {
        check(
            !(Self::is_target(info, function) && result == JitCacheResult::Found),
            "precompiled code in spite of the refusal",
        );
        Ok(())
    }

    fn exception_thrown(&self, _: &ProfilerInfo, _: ObjectId<'_>) -> Result<()> {
        self.count("thrown");
        Ok(())
    }

    fn exception_search_function_enter(&self, _: &ProfilerInfo, f: FunctionId) -> Result<()> {
        if self.is_known(f) {
            self.count("searched or unwound");
        }
        Ok(())
    }

    fn exception_unwind_function_enter(&self, _: &ProfilerInfo, f: FunctionId) -> Result<()> {
        if self.is_known(f) {
            self.count("searched or unwound");
        }
        Ok(())
    }

    fn exception_catcher_enter(
        &self,
        _: &ProfilerInfo,
        _: FunctionId,
        _: ObjectId<'_>,
    ) -> Result<()> {
        self.count("caught");
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for what in locked(&self.counts).keys() {
            log::line(what);
        }
        Ok(())
    }
}

/// Watches the types in which the runtime keeps the state of suspended methods: they have no metadata.
#[derive(Default)]
pub(crate) struct AsyncTypes {
    loading: Mutex<BTreeSet<ClassId>>,
    counts: Mutex<BTreeMap<&'static str, u32>>,
    collection: Mutex<Collection>,
}

/// The objects of one collection, by their addresses.
#[derive(Default)]
struct Collection {
    classes: BTreeMap<usize, ClassId>,
    /// The targets of references of objects that keep the state of a method.
    targets: Vec<usize>,
}

impl AsyncTypes {
    fn count(&self, what: &'static str) {
        *locked(&self.counts).entry(what).or_default() += 1;
    }

    /// Whether all calls about the type are refused because it has no metadata.
    fn has_no_metadata(&self, gc: &GcScope, class: ClassId) -> bool {
        fn is_incomplete<T>(answer: Result<T>) -> bool {
            answer.is_err_and(|error| error.is(Hresult::CORPROF_E_DATAINCOMPLETE))
        }
        let facts = is_incomplete(gc.class_id_info2(class));
        let first = is_incomplete(gc.class_id_info(class));
        let layout = is_incomplete(gc.class_layout(class));
        check(
            facts == first && first == layout,
            format_args!("info {first}, info2 {facts}, layout {layout}"),
        );
        if facts {
            self.count("info, info2 and layout refused");
        }
        facts
    }
}

#[profiler(clsid = clsid("AsyncTypes"))]
impl Profiler for AsyncTypes {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_GC);
        Ok(Self::default())
    }

    fn class_load_started(&self, _: &ProfilerInfo, class: ClassId) -> Result<()> {
        locked(&self.loading).insert(class);
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        check(status.is_ok(), status);
        check(
            locked(&self.loading).remove(&class),
            "a load without a begin",
        );
        if info.array_class_info(class)?.is_some() {
            self.count("arrays loaded");
            return Ok(());
        }
        match info.class_id_info2(class) {
            Err(error) if error.is(Hresult::CORPROF_E_DATAINCOMPLETE) => {
                self.count("types without metadata loaded");
                Ok(())
            }
            Err(error) => Err(error),
            Ok(_) => {
                let name = class_name(info, class).unwrap_or_default();
                if name == "System.Runtime.CompilerServices.Continuation" {
                    self.count("a continuation with metadata loaded");
                }
                Ok(())
            }
        }
    }

    fn garbage_collection_started(&self, _: &GcScope, _: GenerationSet, _: GcReason) -> Result<()> {
        self.count("collections");
        *locked(&self.collection) = Collection::default();
        Ok(())
    }

    fn object_references(
        &self,
        gc: &GcScope,
        object: ObjectId<'_>,
        class: Option<ClassId>,
        references: ObjectIds<'_>,
    ) -> Result<()> {
        let Some(class) = class else {
            return Ok(());
        };
        let keeps_state = self.has_no_metadata(gc, class);
        let mut collection = locked(&self.collection);
        collection.classes.insert(object.address(), class);
        if keeps_state {
            self.count("objects without metadata");
            let targets = references.iter().map(|target| target.address());
            collection.targets.extend(targets);
        }
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        let collection = locked(&self.collection);
        for target in &collection.targets {
            if let Some(class) = collection.classes.get(target)
                && let Some(array) = gc.array_class_info(*class)?
                && array.rank == 1
            {
                self.count("arrays that they refer to");
            }
        }
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        let loading = locked(&self.loading).len();
        check(loading == 0, format_args!("{loading} loads without an end"));
        for what in locked(&self.counts).keys() {
            log::line(what);
        }
        Ok(())
    }
}

/// Enters and leaves by method.
static CALLS: Mutex<BTreeMap<String, [u32; 2]>> = Mutex::new(BTreeMap::new());

struct CountsCalls;

impl CallHooksWithInfo for CountsCalls {
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        let mut calls = locked(&CALLS);
        let [enters, leaves] = calls.entry(call.function().data().clone()).or_default();
        check(enters == leaves, "a call within a call");
        *enters += 1;
        Ok(())
    }

    fn leave(&self, call: &LeaveCall<'_, String>) -> Result<()> {
        let mut calls = locked(&CALLS);
        let [enters, leaves] = calls.entry(call.function().data().clone()).or_default();
        *leaves += 1;
        check(enters == leaves, "an end without a begin");
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(format_args!("FAILED {failure}"));
    }
}

/// Counts how often methods are entered and left: at their calls, and each time that they continue.
pub(crate) struct AsyncCalls;

#[profiler(clsid = clsid("AsyncCalls"))]
impl Profiler for AsyncCalls {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.hooks_with_info(CountsCalls, |info, function| {
            let name = method_name(info, function).unwrap_or_default();
            let name = name.strip_prefix("Work.");
            let is_counted = |name: &&str| ["Whole", "Nothing", "Real"].contains(name);
            Ok(name.filter(is_counted).map(str::to_owned))
        })?;
        Ok(Self)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for (name, calls) in locked(&CALLS).iter() {
            log::line(format_args!("{name} {calls:?}"));
        }
        Ok(())
    }
}
