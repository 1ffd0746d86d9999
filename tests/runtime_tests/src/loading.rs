//! Assemblies, modules and types that are loaded and unloaded; options of the JIT; threads during suspensions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use clr_profiler::prelude::*;

use crate::common::{
    Collections, Count, answer_calls, check, class_name, clsid, locked, log, method_name,
    report_failures,
};

/// Counts the assemblies that are unloaded.
#[derive(Default)]
pub(crate) struct AssemblyUnloads {
    started: Count,
    finished: Count,
}

#[profiler(clsid = clsid("AssemblyUnloads"))]
impl Profiler for AssemblyUnloads {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn assembly_unload_started(&self, _: &ProfilerInfo, _: AssemblyId) -> Result<()> {
        self.started.one();
        Ok(())
    }

    fn assembly_unload_finished(
        &self,
        _: &ProfilerInfo,
        _: AssemblyId,
        status: Hresult,
    ) -> Result<()> {
        check(status.is_ok(), status);
        self.finished.one();
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        let (started, finished) = (self.started.get(), self.finished.get());
        log::line(format_args!("unloads {started} {finished}"));
        Ok(())
    }
}

/// Counts the loads of modules and assemblies.
#[derive(Default)]
pub(crate) struct ModuleLoads {
    modules: [Count; 2],
    assemblies: [Count; 2],
}

#[profiler(clsid = clsid("ModuleLoads"))]
impl Profiler for ModuleLoads {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn assembly_load_started(&self, _: &ProfilerInfo, _: AssemblyId) -> Result<()> {
        self.assemblies[0].one();
        Ok(())
    }

    fn assembly_load_finished(&self, _: &ProfilerInfo, _: AssemblyId, _: Hresult) -> Result<()> {
        self.assemblies[1].one();
        Ok(())
    }

    fn module_load_started(&self, _: &ProfilerInfo, _: ModuleId) -> Result<()> {
        self.modules[0].one();
        Ok(())
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        self.modules[1].one();
        let (facts, flags) = info.module_info2(module)?;
        if flags.contains(clr_profiler::info::ModuleFlags::DYNAMIC) {
            log::line(format_args!("dynamic {:?}", facts.base_address.is_some()));
        }
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for (name, [started, finished]) in
            [("modules", &self.modules), ("assemblies", &self.assemblies)]
        {
            let (started, finished) = (started.get(), finished.get());
            log::line(format_args!(
                "{name} {} {}",
                started > 0,
                started == finished
            ));
        }
        Ok(())
    }
}

/// Counts the loads and unloads of the types of the library, by their names.
#[derive(Default)]
pub(crate) struct ClassLoads {
    /// Loads started and finished, unloads started and finished. Names are known only in between.
    counts: Mutex<BTreeMap<ClassId, (String, [u32; 4])>>,
}

impl ClassLoads {
    fn count(&self, class: ClassId, which: usize) {
        let mut counts = locked(&self.counts);
        if which == 0 {
            counts.entry(class).or_default();
        }
        if let Some((_, counts)) = counts.get_mut(&class) {
            counts[which] += 1;
        }
    }
}

#[profiler(clsid = clsid("ClassLoads"))]
impl Profiler for ClassLoads {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn class_load_started(&self, _: &ProfilerInfo, class: ClassId) -> Result<()> {
        self.count(class, 0);
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        check(status.is_ok(), status);
        self.count(class, 1);
        let name = class_name(info, class).unwrap_or_default();
        if let Some((known, _)) = locked(&self.counts).get_mut(&class) {
            *known = name;
        }
        Ok(())
    }

    fn class_unload_started(&self, _: &ProfilerInfo, class: ClassId) -> Result<()> {
        self.count(class, 2);
        Ok(())
    }

    fn class_unload_finished(
        &self,
        _: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        check(status.is_ok(), status);
        self.count(class, 3);
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for (name, counts) in locked(&self.counts).values() {
            if let Some(name) = name.strip_prefix("RuntimeTests.Library.") {
                log::line(format_args!("{name} {counts:?}"));
            }
        }
        Ok(())
    }
}

/// Opens the metadata of each module's file by a dispenser of its own.
#[derive(Default)]
pub(crate) struct OpensScopes {
    opened: Count,
    without_file: Count,
}

#[profiler(clsid = clsid("OpensScopes"))]
impl Profiler for OpensScopes {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    // Before the end of the load, the library refuses the id of the module, because most calls with it would crash.
    fn module_load_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let error = info
            .module_info2(module)
            .err()
            .map(|error| error.to_string());
        let is_refused = error
            .as_ref()
            .is_some_and(|error| error.contains("not valid yet"));
        check(
            is_refused,
            format_args!("the id of a loading module: {error:?}"),
        );
        Ok(())
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let (facts, _) = info.module_info2(module)?;
        let path = Path::new(&facts.name);
        if !path.is_file() {
            // A part of an application that is one file.
            self.without_file.one();
            return Ok(());
        }
        let scope = info.metadata_dispenser()?.open_scope(path)?;
        let name = scope.scope_props()?.name;
        check(!name.is_empty(), "a module without a name");
        self.opened.one();
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "opened {}, without a file {}",
            self.opened.get() > 0,
            self.without_file.get() > 0
        ));
        Ok(())
    }
}

/// Switches optimisation and inlining off and on again while the program runs.
pub(crate) struct SwitchesOptimization;

fn switch(info: &ProfilerInfo, what: i32) -> Result<i32> {
    let switches = EventMask::DISABLE_OPTIMIZATIONS | EventMask::DISABLE_INLINING;
    let others = info.event_mask2()? - switches;
    let events = match what {
        1 => others | EventMask::DISABLE_OPTIMIZATIONS,
        2 => others | EventMask::DISABLE_INLINING,
        _ => others,
    };
    let switched = info.set_event_mask2(events);
    log::line(match switched {
        Ok(()) => format!("switched to {what}"),
        Err(error) => format!("refused: {error}"),
    });
    Ok(0)
}

#[profiler(clsid = clsid("SwitchesOptimization"))]
impl Profiler for SwitchesOptimization {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self)
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        if method_name(info, f)? == "RuntimeTests.Library.LoadedEntry.Optimized" {
            log::line("compiling");
        }
        answer_calls(info, f, switch)
    }

    fn jit_inlining(&self, info: &ProfilerInfo, _: FunctionId, callee: FunctionId) -> Result<bool> {
        if method_name(info, callee)? == "RuntimeTests.Library.LoadedEntry.Small" {
            log::line("inlining");
        }
        Ok(true)
    }
}

/// Enumerates the threads whenever the runtime is suspended.
#[derive(Default)]
pub(crate) struct ThreadsOfSuspensions {
    collections: Collections,
    enumerated: Count,
}

#[profiler(clsid = clsid("ThreadsOfSuspensions"))]
impl Profiler for ThreadsOfSuspensions {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_GC);
        Ok(Self::default())
    }

    fn runtime_suspend_finished(&self, gc: &GcScope) -> Result<()> {
        self.enumerate(gc)
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        _: GenerationSet,
        _: GcReason,
    ) -> Result<()> {
        self.collections.start();
        self.enumerate(gc)
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        self.collections.finish();
        self.enumerate(gc)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        self.collections.report();
        log::line(format_args!("enumerated {}", self.enumerated.get() > 0));
        Ok(())
    }
}

impl ThreadsOfSuspensions {
    fn enumerate(&self, gc: &GcScope) -> Result<()> {
        let mut count = 0;
        for thread in gc.threads()? {
            thread?;
            count += 1;
        }
        check(count > 0, "no thread");
        self.enumerated.one();
        Ok(())
    }
}
