//! Calls about modules, assemblies and the runtime itself.

use clr_profiler::prelude::*;

use super::calls::Random;
use super::world::{Module, Runtime, State};

type Outcome = Option<Result<bool>>;

/// With any known module.
fn with(state: &State, random: &mut Random, ask: impl FnOnce(&Module) -> Result<bool>) -> Outcome {
    random.pick(&state.modules).map(ask)
}

fn with_runtime(state: &State, ask: impl FnOnce(&Runtime) -> Result<bool>) -> Outcome {
    state.runtime.as_ref().map(ask)
}

pub(super) fn module_info(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |module| {
        let facts = info.module_info(module.id)?;
        Ok((facts.name, facts.assembly) == (module.path.clone(), Some(module.assembly)))
    })
}

pub(super) fn module_info2(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |module| {
        let (facts, _) = info.module_info2(module.id)?;
        Ok(facts.name == module.path && facts.base_address.is_some())
    })
}

pub(super) fn assembly_info(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |module| {
        let facts = info.assembly_info(module.assembly)?;
        Ok((facts.name.as_str(), facts.module) == (&module.assembly_name, Some(module.id)))
    })
}

pub(super) fn app_domain_info(info: &ProfilerInfo, state: &State, _: &mut Random) -> Outcome {
    with_runtime(state, |runtime| {
        let facts = info.app_domain_info(runtime.app_domain)?;
        let process = std::process::id() as usize;
        Ok((facts.name.as_str(), facts.process_id) == (&runtime.app_domain_name, process))
    })
}

pub(super) fn app_domains_containing_module(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    let runtime = state.runtime.as_ref()?;
    with(state, random, |module| {
        let domains = info.app_domains_containing_module(module.id)?;
        Ok(domains == [runtime.app_domain])
    })
}

pub(super) fn modules(info: &ProfilerInfo, state: &State, _: &mut Random) -> Outcome {
    // An unused module is no longer enumerated some time before it is unloaded.
    with_runtime(state, |runtime| {
        let all = info.modules()?.collect::<Result<Vec<_>>>()?;
        Ok(runtime.modules.iter().all(|module| all.contains(module)))
    })
}

pub(super) fn threads(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    // Their ids are only valid while they live.
    let threads = || Ok(info.threads()?.collect::<Result<Vec<_>>>()?.len() > 1);
    Some(threads())
}

pub(super) fn runtime_information(info: &ProfilerInfo, state: &State, _: &mut Random) -> Outcome {
    with_runtime(state, |runtime| {
        Ok(info.runtime_information()? == runtime.information)
    })
}

pub(super) fn event_mask2(info: &ProfilerInfo, state: &State, _: &mut Random) -> Outcome {
    with_runtime(state, |runtime| Ok(info.event_mask2()? == runtime.events))
}

pub(super) fn string_layout2(info: &ProfilerInfo, state: &State, _: &mut Random) -> Outcome {
    with_runtime(state, |runtime| {
        Ok(info.string_layout2()? == runtime.string_layout)
    })
}

pub(super) fn current_thread_id(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    // A thread of the profiler has none, unless it has collected: the runtime knows it then.
    Some(info.current_thread_id().map(|thread| thread.raw() != 0))
}

pub(super) fn environment_variable(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    let value = info.environment_variable("SCENARIO_STRESS");
    Some(value.map(|value| value.as_deref() == Some("begins")))
}

pub(super) fn loh_object_size_threshold(
    info: &ProfilerInfo,
    state: &State,
    _: &mut Random,
) -> Outcome {
    with_runtime(state, |runtime| {
        Ok(info.loh_object_size_threshold()? == runtime.large)
    })
}

pub(super) fn generation_bounds(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    Some(info.generation_bounds().map(|bounds| !bounds.is_empty()))
}

pub(super) fn force_gc(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    Some(info.force_gc().map(|()| true))
}
