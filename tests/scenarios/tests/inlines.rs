//! A profiler decides about inlining, and learns about it.
//!
//! The profiler refuses inlining, and queries the inlining of precompiled modules.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::events::CodegenFlags;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Refuses the inlining of `Kept`; later allows no inlining into `CallsFree`.
#[derive(Default)]
pub(crate) struct Inlines {
    methods: Mutex<BTreeMap<String, (ModuleId, MethodDef)>>,
}

impl Inlines {
    fn methods(&self) -> MutexGuard<'_, BTreeMap<String, (ModuleId, MethodDef)>> {
        self.methods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = clsid("Inlines"))]
impl Profiler for Inlines {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? == "Inlines" {
            let name = method.name()?;
            log::line(format_args!("compiling {name}"));
            self.methods()
                .insert(name, (method.module(), method.token()));
        }
        Ok(())
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        let callee = info.method(callee)?;
        if callee.assembly_name()? != "Inlines" {
            return Ok(true);
        }
        let name = callee.name()?;
        log::line(format_args!("{name} into {}", info.method(caller)?.name()?));
        Ok(name != "Kept")
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if name != "again" {
            return Ok(());
        }
        precompiled(info)?;
        let method = self.methods().get("CallsFree").copied();
        let method = method.ok_or_else(|| Error::other("CallsFree was not compiled"))?;
        let info = info.clone();
        let worker = thread::spawn(move || {
            info.initialize_current_thread()?;
            info.request_rejit(&[method])
        });
        let outcome = worker.join();
        outcome.map_err(|_| Error::other("the worker panicked"))?
    }

    fn get_rejit_parameters(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        control.set_codegen_flags(CodegenFlags::DISABLE_INLINING)
    }
}

/// Queries the methods of the core library that have inlined `string.IsNullOrEmpty`.
fn precompiled(info: &ProfilerInfo) -> Result<()> {
    let mut modules = Vec::new();
    for module in info.modules()? {
        let module = module?;
        modules.push((module, info.module_info(module)?.name));
    }
    let find = |name: &str| {
        let found = modules.iter().find(|(_, path)| path.contains(name));
        found.map(|(module, _)| *module)
    };
    let (Some(core), Some(program)) = (find("System.Private.CoreLib"), find("Inlines.dll")) else {
        return Err(Error::other("a module is missing"));
    };
    let metadata = info.module_metadata(core)?;
    let string = metadata.find_type_def_by_name("System.String", None)?;
    let mut is_null_or_empty = None;
    for method in metadata.methods(string) {
        let method = method?;
        if metadata.method_props(method)?.name == "IsNullOrEmpty" {
            is_null_or_empty = Some(method);
        }
    }
    let inlinee = is_null_or_empty.ok_or_else(|| Error::other("no such method"))?;
    let mut inliners = info.ngen_module_methods_inlining_this_method(core, core, inlinee)?;
    let total = inliners.methods.total()?;
    inliners.methods.leave_out(1)?;
    let rest = inliners.methods.try_clone()?.count();
    inliners.methods.reset()?;
    let call: Vec<u8> = std::iter::once(0x28)
        .chain(inlinee.raw().to_le_bytes())
        .collect();
    let (mut all, mut calls, mut elsewhere) = (0, 0, 0);
    for inliner in inliners.methods {
        let (module, method) = inliner?;
        all += 1;
        elsewhere += usize::from(module != core);
        let body = info.il_function_body(module, method)?;
        calls += usize::from(body.windows(call.len()).any(|bytes| bytes == call));
    }
    log::line(format_args!(
        "inliners {}, total {}, rest {}, of another module {elsewhere}, some call it {}",
        all > 10,
        all == total,
        rest + 1 == total,
        calls > 0
    ));

    match info.ngen_module_methods_inlining_this_method(program, core, inlinee) {
        Ok(found) => log::line(format_args!("of the program {}", found.methods.count())),
        Err(error) => log::line(format_args!("of the program: {error}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clr_profiler_tests::{Scenario, compiles_twice};

    use super::Inlines;

    #[test]
    fn what_a_profiler_refuses_is_not_inlined() {
        let scenario = Scenario::new("Inlines")
            .profiled_by::<Inlines>()
            // Only optimised code is inlined.
            .env("COMPlus_TieredCompilation", "0");
        scenario.on_each_runtime(|runtime, profiled| {
        let plain = scenario.run_plain(runtime);
        let inlined = "CallsFree,! CallsKept,! CallsBoth,CallsBoth,!\n";
        assert_eq!(
            plain.output(),
            (Some(8), &*format!("{inlined}{inlined}"), "")
        );
        assert_eq!(
            profiled.output(),
            (
                Some(8),
                "CallsFree,! Kept,! CallsBoth,Kept,!\n\
                 Free,! Kept,! CallsBoth,Kept,!\n",
                ""
            ),
            "{}",
            profiled.log
        );
        let mut lines: Vec<&str> = profiled.log.lines().collect();
        if compiles_twice(runtime) {
            let mut asked = BTreeSet::new();
            lines.retain(|line| !line.contains(" into ") || asked.insert(*line));
        }
        assert_eq!(
            lines,
            [
                "compiling Main",
                "compiling Say",
                "compiling CallsFree",
                "Free into CallsFree",
                "compiling Who",
                "compiling CallsKept",
                "Kept into CallsKept",
                // It was refused.
                "compiling Kept",
                "compiling CallsBoth",
                "Free into CallsBoth",
                "Kept into CallsBoth",
                "compiling .ctor",
                "inliners true, total true, rest true, of another module 0, some call it true",
                // The program is not precompiled.
                "of the program: ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod failed \
                 with CORPROF_E_DATAINCOMPLETE (0x80131351): the runtime has not finished loading \
                 it: try again later",
                "compiling Run",
                // `CallsFree` was compiled again, with nothing inlined.
                "compiling Free",
            ]
        );
    });
    }
}
