use clr_profiler::il::wrap::{TailCalls, Wrap};
use clr_profiler::on_native_panic;
use clr_profiler::prelude::*;

use super::census::Census;
use super::{counts, helper, logger};
use crate::log;

/// Makes an object of every result and gives it to the helper; what that says of it goes to the
/// profiler.
pub(crate) struct InspectsShapes {
    census: Census,
    helper: HelperAssembly,
}

#[profiler(clsid = "C0DE0000-0000-4000-8000-0000000000E2")]
impl Profiler for InspectsShapes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        on_native_panic(|message| log::line(format_args!("told {message}")));
        Ok(Self {
            census: Census::new(),
            helper: helper()?,
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if self.census.take(info, module)? {
            self.helper.load_into(info, module)?;
        }
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
        self.census.rewrite(info, function, |body, cx| {
            cx.refer_to(&self.helper)?;
            let number = counts::number(cx.full_name());
            let look = logger("Look", "int32 (object)");
            let returned = cx.return_type()?;
            let boxed = cx.box_value(&returned)?.code;
            let looked = cx.call_native(&counts::looked())?;
            let begun = cx.call_native(&counts::begun())?;
            let is_void = returned.is_void();
            let wrap = Wrap::new()
                .tail_calls(TailCalls::StripPrefix)
                .before(move |code, _| {
                    code.ldc_i4(number).append(&begun);
                })
                .on_return(move |code, wrapped| {
                    if let (Some(result), false) = (wrapped.result, is_void) {
                        code.ldloc(result);
                    }
                    code.append(&boxed)
                        .call(&look)
                        .ldc_i4(number)
                        .append(&looked);
                });
            body.wrap(&wrap, &cx.shape()?)?;
            Ok(())
        })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.census.report();
        counts::report(|[begun, returned, ..]| begun >= returned);
        Ok(())
    }
}
