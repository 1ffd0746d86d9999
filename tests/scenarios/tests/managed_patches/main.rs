//! Patches in C# change methods of a program.

#[cfg(test)]
mod of_core;
#[cfg(test)]
mod tests;

use std::env;
use std::sync::Arc;

use clr_profiler::instrumentation::{Instrumentation, MethodState, PatchWay};
use clr_profiler::patches::ManagedPatches;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Applies the patches of an assembly: those with attributes, and classes with the patterns that `PATCHES` lists.
pub(crate) struct ManagedPatched {
    instrumentation: Arc<Instrumentation>,
}

#[profiler(clsid = clsid("ManagedPatched"))]
impl Profiler for ManagedPatched {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let path = env::var("PATCHES_FILE").map_err(Error::other)?;
        let mut patches = match env::var_os("PATCHES_IN_MEMORY") {
            Some(_) => ManagedPatches::in_memory(std::fs::read(path)?.leak()),
            None => ManagedPatches::open(path),
        }?;
        for line in env::var("PATCHES").unwrap_or_default().lines() {
            let (class, patterns) = line.split_once(' ').unwrap_or((line, ""));
            patches = match patterns.strip_prefix("calls ") {
                Some(callees) => patches.calls(class, callees)?,
                None => patches.class(class, patterns)?,
            };
        }
        if env::var_os("PATCHES_FOR_ALL_CALLERS").is_some() {
            patches = patches.for_all_callers();
        }
        let mut all = Instrumentation::new().managed_patches(patches);
        if let Ok(path) = env::var("PATCHES_SECOND") {
            all = all.managed_patches(ManagedPatches::open(path)?);
        }
        if env::var_os("PATCHES_UNREPORTED").is_none() {
            all = all.report(|outcome, _| {
                let (state, name) = (outcome.state.name(), &outcome.name);
                let problem = outcome.problem.as_deref().unwrap_or_default();
                log::line(format_args!("{state} {name} {problem}"));
            });
        }
        Ok(Self {
            instrumentation: setup.attach(all).inspect_err(|error| log::line(error))?,
        })
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        let outcomes = self.instrumentation.outcomes();
        for problem in outcomes.problems {
            log::line(format_args!("problem {problem}"));
        }
        let methods = outcomes.methods.iter();
        // All methods of the program are read for calls.
        for method in methods.filter(|one| one.state != MethodState::NotCompiled) {
            let ways: Vec<&str> = method.ways.iter().map(PatchWay::name).collect();
            let (ways, state, name) = (ways.join(" "), method.state.name(), &method.name);
            let problem = method.problem.as_deref().unwrap_or_default();
            log::line(format_args!("ways {ways} {state} {name} {problem}"));
        }
        for callee in outcomes.callees {
            let (calls, pattern) = (callee.methods, callee.pattern);
            log::line(format_args!("patched {calls} calls of {pattern}"));
        }
        Ok(())
    }
}

/// Patches methods of `Waits`, whose methods `Work5` and `Work6` switch the patches off and on.
pub(crate) struct ManagedSwitched(Arc<Instrumentation>);

#[profiler(clsid = clsid("ManagedSwitched"))]
impl Profiler for ManagedSwitched {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let path = env::var("PATCHES_FILE").map_err(Error::other)?;
        let patches = ManagedPatches::open(path)?;
        let patches = match env::var_os("PATCHES_OF_TIMES") {
            Some(_) => patches.for_all_callers(),
            None => patches.class("Plain.Thousand", "Waits.Program.Work*(); -**.Work5")?,
        };
        let mut all = Instrumentation::new().managed_patches(patches).switchable();
        if let Ok(path) = env::var("PATCHES_SECOND") {
            let second = ManagedPatches::open(path)?;
            all = all.managed_patches(second.class("Third.Million", "Waits.Program.Work1()")?);
        }
        Ok(Self(setup.attach(all)?))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match info.method(function)?.name()?.as_str() {
            "Work5" => self.0.off(),
            "Work6" => self.0.on(),
            _ => Ok(()),
        }
    }
}
