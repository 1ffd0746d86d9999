use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::on_native_panic;
use clr_profiler::prelude::*;

use super::census::Census;
use super::{counts, helper, logger};
use crate::log;

/// As a logger does: a prologue, an epilogue at every exit, a local, calls of a helper assembly and
/// of the profiler.
pub(crate) struct LogsShapes {
    census: Census,
    helper: HelperAssembly,
}

#[profiler(clsid = "C0DE0000-0000-4000-8000-0000000000E1")]
impl Profiler for LogsShapes {
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
            let local = body.add_local(TypeSig::I4)?;
            // The number has to survive the helper, the local and the whole method.
            let mut before = Fragment::new();
            before
                .ldc_i4(number)
                .call(logger("Nothing", "int32 (int32)"))
                .stloc(local)
                .ldloc(local)
                .append(&cx.call_native(&counts::begun())?);
            let mut after = Fragment::new();
            after
                .ldloc(local)
                .append(&cx.call_native(&counts::returned())?);
            body.before_ret(&after)?;
            body.prologue(&before)?;
            cx.map_offsets(true);
            Ok(())
        })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.census.report();
        // Exceptions leave without an epilogue.
        counts::report(|[begun, returned, ..]| begun >= returned);
        Ok(())
    }
}
