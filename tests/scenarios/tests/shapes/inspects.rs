use clr_profiler::il::body::MethodBody;
use clr_profiler::il::wrap::{TailCalls, Wrap};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;
use scenario_support::clsid;

use super::{counts, logger};

rewrites_shapes! {
    /// Boxes every result and passes it to the helper, which describes it to the
    /// profiler.
    #[profiler(clsid = clsid("InspectsShapes"))]
    impl Profiler for InspectsShapes, helper: true, inspect,
    adds_up: |[begun, returned, ..]| begun >= returned
}

fn inspect(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
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
}
