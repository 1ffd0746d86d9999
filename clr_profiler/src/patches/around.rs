//! The parts of a patch around a method.

use std::sync::{Arc, Mutex};

use super::code::{Generator, Locals, MASK, PINNED, address};
use super::operations::{Operation, Operations};
use super::plan;
use super::site::{Hooks, Site};
use super::slot::{Stage, bits, words};
use super::zeros::{self, Zero};
use crate::error::{Error, Result};
use crate::rewrite::RewriteContext;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::wrap::{Caught, Wrap};

/// Wraps a body in the code of a patch.
pub(super) fn apply(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    hooks: &Arc<Hooks>,
    fields: &[Box<str>],
    operations: &[Operation],
    sites: &Mutex<Vec<&'static Site>>,
) -> Result<()> {
    let shape = cx.shape()?;
    if shape.is_runtime_async() {
        return Err(Error::other(
            "a runtime-async method cannot be patched: its locals move while it is suspended",
        ));
    }
    let all = plan::of_method(cx, hooks.has(Stage::Exception), fields)?;
    let operations = |first| Operations::new(cx, first, operations, &all);
    if !hooks.has_any() {
        let mut operations = operations(0)?;
        let wrap = operations.begin(Wrap::new());
        body.wrap(&operations.end(wrap), &cx.shape()?)?;
        return Ok(());
    }
    let mut planned = all.clone();
    plan::place(&mut planned, hooks.values.as_deref())?;
    let pinned = planned.iter().filter(|one| hooks.pins(&one.slot.kind));
    let mut operations = operations(PINNED + pinned.count() as u16)?;
    let method = cx.full_name().to_owned();
    let generator = Generator::new(cx, &method, hooks, planned, sites)?;
    let [frame, mask] = generator.locals(cx)?;
    let mut wrap = Wrap::new().local(frame).local(mask);
    for pinned in generator.pinned() {
        wrap = wrap.local(pinned);
    }
    let generator = Arc::new(generator);
    let zeros = zeros::of_body(body);
    if let Some(zeros) = zeros.clone() {
        wrap = with_zeros(wrap, cx, &generator, zeros)?;
    }
    let wrap = wrapped(operations.begin(wrap), &generator);
    body.wrap(&operations.end(wrap), &cx.shape()?)?;
    if zeros.is_some() {
        body.set_init_locals(false);
    }
    Ok(())
}

/// Writes the zeros on which the method's code and that of the patch count.
fn with_zeros(
    wrap: Wrap,
    cx: &mut RewriteContext<'_>,
    generator: &Arc<Generator>,
    zeros: Vec<(u16, Zero)>,
) -> Result<Wrap> {
    let result = cx.return_type()?;
    let result = match result.is_void() {
        true => Zero::Reference,
        false => Zero::of(cx, result.unmodified())?,
    };
    let has_state = generator.site.has_state;
    Ok(wrap.before(move |code, method| {
        for (local, zero) in &zeros {
            zero.write(code, *local);
        }
        if let Some(local) = method.result {
            result.write(code, local);
        }
        if has_state {
            address(code, &Locals::of(method), words::STATE);
            code.ldc_i8(0).stind_i8();
        }
    }))
}

/// Gives the wrap its parts.
fn wrapped(mut wrap: Wrap, generator: &Arc<Generator>) -> Wrap {
    let hooks = &generator.site.hooks;
    let of = || Arc::clone(generator);
    if hooks.has(Stage::Before) {
        let generator = of();
        wrap = wrap
            .before(move |code, method| generator.stage(code, &Locals::of(method), Stage::Before));
        wrap = wrap.skip_if(|code, method| {
            let mask = method.local(MASK);
            code.ldloc(mask).ldc_i8(bits::SKIP.cast_signed()).and();
            code.ldc_i8(0).cgt_un();
        });
    }
    if hooks.has(Stage::Exception) {
        let generator = of();
        wrap = wrap.on_exception(
            "[corelib]System.Object",
            Caught::Swallow,
            move |code, method, exception| {
                let at = Locals::of(method);
                generator.exception(code, &at, exception);
                generator.stage(code, &at, Stage::Exception);
                let swallowed = code.label();
                code.ldloc(method.local(MASK));
                code.ldc_i8(bits::SWALLOW.cast_signed()).and();
                code.brtrue(swallowed).rethrow().mark(swallowed).nop();
            },
        );
    } else if hooks.needs_state() {
        let generator = of();
        wrap = wrap.fault(move |code, method| {
            let end = code.label();
            let at = Locals::of(method);
            address(code, &at, words::STATE);
            code.ldind_i8().brfalse(end);
            generator.call(code, &at, Stage::Abandoned);
            code.pop().mark(end).nop();
        });
    }
    if hooks.has(Stage::After) {
        let generator = of();
        wrap = wrap
            .after(move |code, method| generator.stage(code, &Locals::of(method), Stage::After));
    }
    wrap
}
