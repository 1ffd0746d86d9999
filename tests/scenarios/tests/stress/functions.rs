//! Calls about functions and classes.

use clr_profiler::prelude::*;

use super::calls::Random;
use super::world::{Class, Function, State};

type Outcome = Option<Result<bool>>;

/// With any known function.
fn with(
    state: &State,
    random: &mut Random,
    ask: impl FnOnce(&Function) -> Result<bool>,
) -> Outcome {
    let function = random.pick(&state.functions)?;
    match ask(function) {
        // After an unload, shared generic code may no longer exist.
        Err(error) if function.class.is_none() && error.is(Hresult::CORPROF_E_DATAINCOMPLETE) => {
            None
        }
        outcome => Some(outcome),
    }
}

fn with_class(
    state: &State,
    random: &mut Random,
    ask: impl FnOnce(&Class) -> Result<bool>,
) -> Outcome {
    random.pick(&state.classes).map(ask)
}

pub(super) fn function_info(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let facts = info.function_info(function.id)?;
        Ok((facts.module, facts.token, facts.class)
            == (function.module, function.token, function.class))
    })
}

pub(super) fn function_info2(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let facts = info.function_info2(function.id)?;
        let is_right = (facts.module, facts.token) == (function.module, function.token);
        Ok(is_right && (function.is_generic || facts.type_arguments.is_empty()))
    })
}

pub(super) fn full_name(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        Ok(info.method(function.id)?.full_name()? == function.full_name)
    })
}

pub(super) fn code_info2(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let ranges = info.code_info2(function.id)?;
        Ok(!ranges.is_empty() && ranges.iter().all(|range| range.size > 0))
    })
}

pub(super) fn code_info3(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let ranges = info.code_info3(function.id, RejitId::ORIGINAL)?;
        Ok(!ranges.is_empty() && ranges.iter().all(|range| range.size > 0))
    })
}

pub(super) fn start_addresses(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let mut starts = info
            .native_code_start_addresses(function.id, RejitId::ORIGINAL)?
            .into_iter();
        let all = starts.try_fold(0, |count, start| {
            Ok::<_, Error>(count + info.code_info4(start)?.len())
        });
        Ok(all? > 0)
    })
}

pub(super) fn function_from_ip3(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    with(state, random, |function| {
        let ranges = info.code_info2(function.id)?;
        let Some(range) = ranges.first() else {
            return Ok(false);
        };
        let found = info.function_from_ip3(range.start + range.size / 2)?;
        Ok(found == (function.id, RejitId::ORIGINAL))
    })
}

pub(super) fn il_to_native_mapping(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    with(state, random, |function| {
        Ok(!info.il_to_native_mapping(function.id)?.is_empty())
    })
}

pub(super) fn rejit_ids(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        let ids = info.rejit_ids(function.id)?;
        Ok(ids.iter().all(|id| *id == RejitId::ORIGINAL))
    })
}

pub(super) fn is_function_dynamic(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    with(state, random, |function| {
        Ok(!info.is_function_dynamic(function.id)?)
    })
}

pub(super) fn function_from_token(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    let function = random.pick(&state.functions).filter(|it| !it.is_generic)?;
    let found = info.function_from_token(function.module, function.token);
    Some(found.map(|found| found == function.id))
}

pub(super) fn il_function_body(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with(state, random, |function| {
        Ok(info.il_function_body(function.module, function.token)? == function.body)
    })
}

pub(super) fn token_and_metadata(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
) -> Outcome {
    with(state, random, |function| {
        let (token, metadata) = info.token_and_metadata_from_function(function.id)?;
        Ok(token == function.token && metadata.method_props(token)?.name == function.name)
    })
}

pub(super) fn class_id_info(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with_class(state, random, |class| {
        let facts = info.class_id_info(class.id)?;
        Ok((facts.module, facts.token) == (Some(class.module), class.token))
    })
}

pub(super) fn class_id_info2(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with_class(state, random, |class| {
        let facts = info.class_id_info2(class.id)?;
        let is_right = (facts.module, facts.token) == (Some(class.module), class.token);
        Ok(is_right && facts.type_arguments.is_empty() != class.is_generic)
    })
}

pub(super) fn class_from_token(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    let class = random.pick(&state.classes).filter(|it| !it.is_generic)?;
    // It may load a type, which takes a thread that has run managed code.
    Some(match info.class_from_token(class.module, class.token) {
        Err(error) if error.is(Hresult::CORPROF_E_NOT_MANAGED_THREAD) => Ok(true),
        found => found.map(|found| found == class.id),
    })
}

pub(super) fn array_class_info(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
    with_class(state, random, |class| {
        Ok(info.array_class_info(class.id)?.is_none())
    })
}

pub(super) fn function_from_no_ip(info: &ProfilerInfo, _: &State, _: &mut Random) -> Outcome {
    // The first page of memory has no code.
    Some(info.function_from_ip(0x10).map(|_| false))
}

/// Whether the functions that were compiled first are among those that the runtime enumerates.
pub(super) fn has_all_functions(info: &ProfilerInfo, state: &State) -> Result<bool> {
    let functions = info.jitted_functions2()?.collect::<Result<Vec<_>>>()?;
    let mut first = state.functions.iter().take(3);
    Ok(first.all(|known| functions.iter().any(|(function, _)| *function == known.id)))
}
