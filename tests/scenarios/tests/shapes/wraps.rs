use clr_profiler::il::body::MethodBody;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;
use scenario_support::clsid;

use super::counts;

rewrites_shapes! {
    /// Wraps whole methods: before, on return, on exceptions, in a finally.
    #[profiler(clsid = clsid("WrapsShapes"))]
    impl Profiler for WrapsShapes, helper: false, wrap, adds_up: is_balanced
}

/// Wraps one body, which then reports all its events.
pub(super) fn wrap(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let number = counts::number(cx.full_name());
    let [begun, returned, threw, ended] = [
        cx.call_native(&counts::begun())?,
        cx.call_native(&counts::returned())?,
        cx.call_native(&counts::threw())?,
        cx.call_native(&counts::ended())?,
    ];
    let threw_other = threw.clone();
    let wrap = Wrap::new()
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
        // A module without a setting sees thrown objects other than `System.Exception` unwrapped.
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
    if !super::variable("SHAPES_UNMAPPED").is_empty() {
        cx.map_offsets(false);
    }
    Ok(())
}

/// Whether the counts of a wrapped method are consistent: it returned or threw as often as it began.
pub(super) fn is_balanced([begun, returned, threw, ended]: [u64; 4]) -> bool {
    begun == returned + threw && begun == ended
}
