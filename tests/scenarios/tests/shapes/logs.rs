use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;
use scenario_support::clsid;

use super::{counts, logger};

rewrites_shapes! {
    /// Edits as of a logger: a prologue, an epilogue at every exit, a local, calls of a helper assembly and
    /// of the profiler.
    #[profiler(clsid = clsid("LogsShapes"))]
    impl Profiler for LogsShapes, helper: true, log_calls,
    // Exceptions leave without an epilogue.
    adds_up: |[begun, returned, ..]| begun >= returned
}

fn log_calls(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
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
    Ok(())
}
