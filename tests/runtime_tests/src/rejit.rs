//! ReJIT of a method together with the methods that have inlined it.

use std::collections::BTreeSet;
use std::sync::Mutex;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::opcode::Opcode;
use clr_profiler::info::RejitFlags;
use clr_profiler::prelude::*;

use crate::common::{
    Count, answer_calls, check, clsid, locked, log, method_name, on_own_thread, report_failures,
};

const TARGET: &str = "RuntimeTests.Inlined.Target";

/// The method, and the names of those that have inlined it.
static KNOWN: Mutex<Option<(ModuleId, MethodDef)>> = Mutex::new(None);
static INLINERS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Gives `Target` other strings when the program asks for it with 0, and reverts it with 1.
#[derive(Default)]
pub(crate) struct RejitsInliners {
    started: Count,
    finished: Count,
}

fn answer(info: &ProfilerInfo, what: i32) -> Result<i32> {
    let method = *locked(&KNOWN);
    let method = method.ok_or_else(|| Error::other("the method was not seen"))?;
    on_own_thread(info, move |info| {
        if what == 1 {
            let statuses = info.request_revert(&[method])?;
            check(statuses == [Hresult::S_OK], format_args!("{statuses:?}"));
            return Ok(0);
        }
        precompiled_inliners(info, method)?;
        let flags = RejitFlags::BLOCK_INLINING | RejitFlags::INLINING_CALLBACKS;
        info.request_rejit_with_inliners(flags, &[method])?;
        Ok(0)
    })
}

/// Precompiled methods that have inlined the method; the request includes them.
fn precompiled_inliners(
    info: &ProfilerInfo,
    (module, method): (ModuleId, MethodDef),
) -> Result<()> {
    for inliners in info.modules()? {
        let inliners = inliners?;
        match info.ngen_module_methods_inlining_this_method(inliners, module, method) {
            Ok(found) => {
                for inliner in found.methods {
                    let (module, method) = inliner?;
                    match info.function_from_token(module, method) {
                        Ok(function) => seen(info, function)?,
                        // Not compiled yet, or generic.
                        Err(error) => log::line(format_args!("inliner without code: {error}")),
                    }
                }
            }
            // The module is not precompiled.
            Err(error) => check(error.is(Hresult::CORPROF_E_DATAINCOMPLETE), error),
        }
    }
    Ok(())
}

/// Each version of a function that has code has addresses of it.
fn seen(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    for rejit in info.rejit_ids(function)? {
        let starts = info.native_code_start_addresses(function, rejit)?;
        check(
            !starts.contains(&0),
            format_args!("no code of {function:?} {rejit:?}"),
        );
    }
    Ok(())
}

#[profiler(clsid = clsid("RejitsInliners"))]
impl Profiler for RejitsInliners {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        answer_calls(info, f, answer)
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: Hresult,
        _: bool,
    ) -> Result<()> {
        seen(info, function)
    }

    fn jit_cached_function_search_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: JitCacheResult,
    ) -> Result<()> {
        seen(info, function)
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        let method = info.method(callee)?;
        if method.name()? == "Target" && method_name(info, callee)? == TARGET {
            *locked(&KNOWN) = Some((method.module(), method.token()));
            locked(&INLINERS).insert(method_name(info, caller)?);
        }
        Ok(true)
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let is_target = *locked(&KNOWN) == Some((module, method));
        control.rewrite(info, module, method, |body, _| {
            let strings: Vec<_> = body
                .instructions()
                .filter(|one| is_target && one.opcode() == Opcode::Ldstr)
                .map(|one| one.id())
                .collect();
            for id in strings {
                let mut code = Fragment::new();
                code.ldstr("rejitted");
                body.replace(id, &code)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn rejit_compilation_started(
        &self,
        _: &ProfilerInfo,
        _: FunctionId,
        _: RejitId,
        _: bool,
    ) -> Result<()> {
        self.started.one();
        Ok(())
    }

    fn rejit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        status: Hresult,
        _: bool,
    ) -> Result<()> {
        check(status.is_ok() && rejit != RejitId::ORIGINAL, status);
        let ids = info.rejit_ids(function)?;
        check(
            ids.contains(&rejit),
            format_args!("{rejit:?} not in {ids:?}"),
        );
        self.finished.one();
        Ok(())
    }

    fn rejit_error(
        &self,
        _: &ProfilerInfo,
        _: ModuleId,
        method: MethodDef,
        _: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        check(false, format_args!("{method} {status}"));
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        let inliners = locked(&INLINERS);
        log::line(format_args!("inliners {inliners:?}"));
        log::line(format_args!(
            "rejitted {} {}",
            self.started.get() as usize == inliners.len() + 1,
            self.finished.get() as usize == inliners.len() + 1
        ));
        Ok(())
    }
}
