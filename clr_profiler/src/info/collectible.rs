//! Collectible modules, and the calls that are refused for them.

use std::collections::BTreeSet;

use super::depends::{dependencies, dependencies_of_class};
use super::hot_reload::refuse_hot_reload;
use super::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags, ProfilerInfo};
use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::image::Images;
use crate::info::Sealed;
use crate::lifetimes::seen::Kind;
use crate::lifetimes::{TargetState, seen};
use crate::metadata::{AnySignature, MetadataImport};
use crate::native::CallContext;
use clr_metadata::ImageLayout;
use clr_profiler_il::token::MethodDef;

/// The newest interface of .NET Core 3.1.
pub(crate) const NEWEST_OF_3_1: u8 = 11;

/// Whether a module is collectible.
pub(crate) fn is_collectible(info: &ProfilerInfo, module: ModuleId) -> bool {
    let known = seen::is_collectible(module.raw());
    known.unwrap_or_else(|| note_module(info, module))
}

/// Records whether a loaded module is collectible, and returns it.
pub(crate) fn note_module(info: &ProfilerInfo, module: ModuleId) -> bool {
    match info.module_info2(module) {
        Ok((module_info, flags)) => {
            if let Some(base) = module_info.base_address {
                let layout = match flags.contains(ModuleFlags::FLAT_LAYOUT) {
                    true => ImageLayout::File,
                    false => ImageLayout::Mapped,
                };
                let images = info.extension::<Images>();
                images.module_has_loaded(module, base, layout);
            }
            let is_collectible = flags.contains(ModuleFlags::COLLECTIBLE);
            seen::module_has_loaded(module.raw(), is_collectible);
            is_collectible
        }
        // A module whose flags are not available here is treated as collectible, which is safe.
        Err(_) => {
            seen::may_be_collectible();
            true
        }
    }
}

/// Refuses methods that cannot be rejitted.
///
/// For methods of a collectible module, .NET Core 3.1 accepts the request, and the next thread that calls
/// the method never returns; newer runtimes accept it and do nothing.
pub(super) fn last(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    methods: &[(ModuleId, MethodDef)],
) -> Result<()> {
    let mut modules: Vec<ModuleId> = methods.iter().map(|(module, _)| *module).collect();
    modules.sort_unstable();
    modules.dedup();
    for module in &modules {
        // Runtimes accept the request, and do nothing.
        refuse_hot_reload(info.handle(), call, *module)?;
    }
    match modules
        .iter()
        .find(|module| is_collectible(info.handle(), **module))
    {
        None => Ok(()),
        Some(module) => Err(Error::rule(
            call,
            format!(
                "{module:?} can be unloaded, and runtimes do not rejit methods of such modules: \
                 set their bodies in `jit_compilation_started`"
            ),
        )),
    }
}

/// Like [`last`], for requests that also rejit the methods that have inlined these.
///
/// .NET Core 3.1 follows a null pointer for a method whose type is not loaded, and dangling pointers to
/// unloaded methods that had inlined something.
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
            "this program has unloaded modules: .NET Core 3.1 still lists their methods as inliners, and \
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
                "the type of {method} in {module:?} is not loaded yet, and .NET Core 3.1 would crash"
            ),
        )),
    }
}

/// Records whether modules were unloaded before the profiler was attached.
///
/// The runtime does not report this, but before it frees the modules of a context, it finalizes a managed
/// object for them: if the finalizer was prepared, modules were unloaded, or are about to be.
pub(crate) fn note_earlier_unloads(info: &ProfilerInfo) {
    // Without an answer, the calls that depend on it are refused.
    if has_code(info, "System.Reflection.LoaderAllocatorScout", "Finalize").unwrap_or(true) {
        seen::note_unloads();
    }
}

/// Whether a method of the core library has code.
fn has_code(info: &ProfilerInfo, type_name: &str, method: &str) -> Result<bool> {
    let file = format!("{}.dll", info.core_library());
    for module in info.modules()? {
        let module = module?;
        if !info.module_info(module)?.name.ends_with(&file) {
            continue;
        }
        let metadata = info.module_metadata(module)?;
        let of_type = metadata.find_type_def_by_name(type_name, None)?;
        let method = metadata.find_method(Some(of_type), method, AnySignature)?;
        let function = info.function_from_token(module, method);
        return Ok(function
            .and_then(|function| info.code_info(function))
            .is_ok());
    }
    Err(Error::other("the core library is not loaded"))
}

/// Refuses enumerations of all code once modules were unloaded: the runtimes read code that is being freed.
pub(super) fn all_code(_info: &(impl Sealed + ?Sized), call: &'static str) -> Result<()> {
    if !seen::has_unloaded() {
        // A module is unloaded only after calls in flight have returned.
        return Ok(());
    }
    Err(Error::rule(
        call,
        "this program has unloaded modules, and runtimes crash here when they read code that is being \
         freed",
    ))
}

/// Whether a module exists. Memory that is about to be freed may name one that never existed.
fn is_loaded(info: &ProfilerInfo, module: ModuleId) -> bool {
    if module.state() == TargetState::Gone {
        return false;
    }
    let is_known = seen::is_collectible(module.raw()).is_some();
    // Those that were loaded before the profiler was attached may not be recorded.
    is_known
        || info
            .modules()
            .is_ok_and(|mut modules| modules.any(|it| it.is_ok_and(|it| it == module)))
}

/// Refuses a function that was found by its address if its memory is about to be freed: its module is gone,
/// or that of one of its type arguments.
pub(super) fn of_living(context: &CallContext<'_>, function: FunctionId) -> Result<()> {
    let Some(info) = context.info.filter(|_| seen::has_unloaded()) else {
        return Ok(());
    };
    // A function that was seen before is known to exist.
    if !seen::takes_unresolved(Kind::Function, function.raw()) {
        return Ok(());
    }
    let mut classes = BTreeSet::new();
    let facts = info.function_info(function);
    let exists = facts.is_ok_and(|facts| {
        classes.extend(facts.class);
        is_loaded(info, facts.module)
    });
    let modules = exists
        .then(|| dependencies(info, function, &mut classes))
        .flatten();
    let exists = settle(function.raw(), modules);
    if exists {
        return Ok(());
    }
    // The types were named just now, and may be gone with the function. Each names others.
    while let Some(class) = classes.pop_first() {
        if seen::takes_unresolved(Kind::Class, class.raw()) {
            settle(
                class.raw(),
                dependencies_of_class(info, class, &mut classes),
            );
        }
    }
    Err(Error::rule_with_code(
        context.call,
        "the address is in code of a module that was unloaded",
        Hresult::CORPROF_E_DATAINCOMPLETE,
    ))
}

/// Records the modules that a target depends on, and returns whether all of them exist.
fn settle(number: usize, modules: Option<BTreeSet<usize>>) -> bool {
    let modules = modules.filter(|modules| {
        modules
            .iter()
            .all(|module| seen::is_collectible(*module).is_some())
    });
    seen::resolved(number, modules.as_ref());
    modules.is_some()
}
