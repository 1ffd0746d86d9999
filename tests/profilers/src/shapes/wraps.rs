use clr_profiler::il::body::MethodBody;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::wrap::{Caught, TailCalls, Wrap};
use clr_profiler::on_native_panic;
use clr_profiler::prelude::*;

use super::census::Census;
use super::{counts, variable};
use crate::log;

/// Puts code around whole methods: before, on return, on exceptions, in a finally.
pub(crate) struct WrapsShapes {
    census: Census,
}

/// Wraps one body, which then tells of everything that happens to it.
pub(super) fn wrap(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let number = counts::number(cx.full_name());
    let [begun, returned, threw, ended] = [
        cx.call_native(&counts::begun())?,
        cx.call_native(&counts::returned())?,
        cx.call_native(&counts::threw())?,
        cx.call_native(&counts::ended())?,
    ];
    let threw_other = threw.clone();
    let tail_calls = match variable("SHAPES_TAIL").as_str() {
        "strip" => TailCalls::StripPrefix,
        _ => TailCalls::Skip,
    };
    let wrap = Wrap::new()
        .tail_calls(tail_calls)
        .local(TypeSig::I4)
        .before(move |code, wrapped| {
            code.ldc_i4(number).stloc(wrapped.local(0));
            code.ldloc(wrapped.local(0)).append(&begun);
        })
        .on_return(move |code, wrapped| {
            code.ldloc(wrapped.local(0)).append(&returned);
        })
        .on_exception(
            "[corelib]System.Exception",
            Caught::Rethrow,
            move |code, wrapped, _| {
                code.ldloc(wrapped.local(0)).append(&threw);
            },
        )
        // A module that does not say otherwise sees what is no `System.Exception` as it is.
        .on_exception(
            "[corelib]System.Object",
            Caught::Rethrow,
            move |code, wrapped, _| {
                code.ldloc(wrapped.local(0)).append(&threw_other);
            },
        )
        .finally(move |code, wrapped| {
            code.ldloc(wrapped.local(0)).append(&ended);
        });
    body.wrap(&wrap, &cx.shape()?)?;
    cx.map_offsets(true);
    Ok(())
}

/// Whether what a wrapped method told adds up: it returned or threw as often as it began.
pub(super) fn is_balanced([begun, returned, threw, ended]: [u64; 4]) -> bool {
    begun == returned + threw && begun == ended
}

#[profiler(clsid = "C0DE0000-0000-4000-8000-0000000000E3")]
impl Profiler for WrapsShapes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        on_native_panic(|message| log::line(format_args!("told {message}")));
        Ok(Self {
            census: Census::new(),
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        self.census.take(info, module)?;
        Ok(())
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        self.census.may_inline(info, callee)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.census.rewrite(info, function, wrap)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.census.report();
        counts::report(is_balanced);
        Ok(())
    }
}
