//! Modules that can be unloaded: which they are, and what is not done with them.

use super::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags, ProfilerInfo};
use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::info::Sealed;
use crate::lifetimes::{State, seen};
use crate::native::Asked;
use clr_profiler_il::token::MethodDef;

/// The newest interface of .NET Core 3.1.
const NEWEST_OF_3_1: u8 = 11;

/// Whether a module can be unloaded.
pub(crate) fn is_collectible(info: &ProfilerInfo, module: ModuleId) -> bool {
    let known = seen::is_collectible(module.raw());
    known.unwrap_or_else(|| note_module(info, module))
}

/// Notes whether a module can be unloaded, once it is loaded.
pub(crate) fn note_module(info: &ProfilerInfo, module: ModuleId) -> bool {
    match info.module_info2(module) {
        Ok((_, flags)) => {
            let is_collectible = flags.contains(ModuleFlags::COLLECTIBLE);
            seen::module_has_loaded(module.raw(), is_collectible);
            is_collectible
        }
        // What cannot be told here and now is taken for what needs more care.
        Err(_) => {
            seen::may_be_collectible();
            true
        }
    }
}

/// Refuses methods that cannot be compiled again.
///
/// For those of a collectible module .NET Core 3.1 takes the request, and the thread that calls the method
/// next never returns; newer runtimes take it and do nothing.
pub(super) fn last(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    methods: &[(ModuleId, MethodDef)],
) -> Result<()> {
    let mut modules: Vec<ModuleId> = methods.iter().map(|(module, _)| *module).collect();
    modules.sort_unstable();
    modules.dedup();
    match modules
        .iter()
        .find(|module| is_collectible(info.handle(), **module))
    {
        None => Ok(()),
        Some(module) => Err(Error::rule(
            call,
            format!(
                "{module:?} can be unloaded, and runtimes do not compile methods of such modules again: \
                 set other bodies in `jit_compilation_started`"
            ),
        )),
    }
}

/// The same, where the methods that have inlined them are compiled again, too.
///
/// .NET Core 3.1 follows a null pointer for a method whose type is not loaded, and pointers to methods that
/// were unloaded and had inlined something.
pub(super) fn last_with_inliners(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    methods: &[(ModuleId, MethodDef)],
) -> Result<()> {
    last(info, call, methods)?;
    let info = info.handle();
    if info.version() > NEWEST_OF_3_1 {
        return Ok(());
    }
    if seen::has_unloaded() {
        return Err(Error::rule(
            call,
            "modules of this program were unloaded: .NET Core 3.1 remembers inliners that are gone, and \
             crashes",
        ));
    }
    let is_loaded = |(module, method): &(ModuleId, MethodDef)| match info
        .function_from_token(*module, *method)
    {
        Ok(_) => true,
        Err(error) => error.is(Hresult::CORPROF_E_FUNCTION_IS_PARAMETERIZED),
    };
    match methods.iter().find(|method| !is_loaded(method)) {
        None => Ok(()),
        Some((module, method)) => Err(Error::rule(
            call,
            format!(
                "the type of {method} in {module:?} is not loaded yet, where .NET Core 3.1 crashes"
            ),
        )),
    }
}

/// Whether modules were unloaded; what was before it was attached a profiler does not know.
pub(super) fn may_have_unloaded(info: &ProfilerInfo) -> bool {
    seen::has_unloaded() || info.loaded().by_attach
}

/// Refuses to go through all code once some of it may be about to be freed: the runtimes read it then.
pub(super) fn all_code(_info: &(impl Sealed + ?Sized), call: &'static str) -> Result<()> {
    if !seen::has_unloaded() {
        // A call that is under way is waited for before anything is unloaded.
        return Ok(());
    }
    Err(Error::rule(
        call,
        "modules of this program were unloaded, and runtimes crash here where their code is just being \
         freed",
    ))
}

/// Refuses a function that an address is of, where its module is gone and its memory about to be freed.
pub(super) fn of_living(asked: &Asked<'_>, function: FunctionId) -> Result<()> {
    let Some(info) = asked.info.filter(|_| seen::has_unloaded()) else {
        return Ok(());
    };
    match info.function_info(function) {
        Ok(facts) if facts.module.state() != State::Gone => Ok(()),
        // Dynamic methods are of no module.
        Err(error) if !error.is(Hresult::CORPROF_E_DATAINCOMPLETE) => Ok(()),
        _ => {
            seen::goes(function.raw());
            Err(Error::rule_with_code(
                asked.call,
                "the address is in code of a module that was unloaded",
                Hresult::CORPROF_E_DATAINCOMPLETE,
            ))
        }
    }
}
