//! Patches in C# change methods of a program.

#[cfg(test)]
mod tests;

use std::env;
use std::sync::Arc;

use clr_profiler::instrumentation::Instrumentation;
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
        let mut all = Instrumentation::new().managed_patches(patches);
        if let Ok(path) = env::var("PATCHES_SECOND") {
            all = all.managed_patches(ManagedPatches::open(path)?);
        }
        let all = all.report(|outcome, _| {
            let (state, name) = (outcome.state.name(), &outcome.name);
            let problem = outcome.problem.as_deref().unwrap_or_default();
            log::line(format_args!("{state} {name} {problem}"));
        });
        Ok(Self {
            instrumentation: setup.attach(all).inspect_err(|error| log::line(error))?,
        })
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for problem in self.instrumentation.outcomes().problems {
            log::line(format_args!("problem {problem}"));
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
        let patches = patches.class("Plain.Thousand", "Waits.Program.Work*(); -**.Work5")?;
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
