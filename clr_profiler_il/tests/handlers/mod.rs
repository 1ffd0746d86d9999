//! All kinds of exception handling.

use clr_profiler_il::fragment::Fragment;

/// A fragment with every kind of exception handler, nested and at the end.
pub(crate) fn handlers() -> Fragment {
    let mut fragment = Fragment::new();
    fragment
        .nop()
        .try_block(|body| {
            body.try_block(|body| {
                body.nop();
            })
            .catch("[A]First", |handler| {
                handler.pop();
            })
            .catch("class [A]Second`1<int>", |handler| {
                handler.pop().try_block(|_| {}).fault(|_| {}).end();
            })
            .filter(
                |filter| {
                    filter.pop().ldc_i4(1);
                },
                |handler| {
                    handler.pop();
                },
            )
            .end();
        })
        .finally(|handler| {
            handler.nop();
        })
        .end();
    fragment
}
