//! The code around traced methods.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{Boxing, Completion, RewriteContext};

use super::SPANS;
use super::notes::{self, About};

const TRACER: &str = "[MethodTracer]MethodTracer.Tracer";
const SPAN: &str = "class [MethodTracer]MethodTracer.Span";
/// The largest number of arguments for which the helper has generic methods.
const TYPED: usize = 4;

/// Wraps a method; with its arguments in the span, or without.
pub(crate) fn trace(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    arguments: bool,
) -> Result<()> {
    let completion = cx.completion(body)?;
    let mut begin = begin(cx, arguments)?;
    if cx.shape()?.is_runtime_async() {
        begin.call(MethodSymbol::new(
            TRACER,
            "Suspends",
            &format!("{SPAN} ({SPAN})"),
        ));
    }
    let end = MethodSymbol::new(TRACER, "End", &format!("void ({SPAN}, object)"));
    let span = cx.type_sig(SPAN)?;
    let span = body.add_local(span)?;
    let mut wrap = Wrap::new()
        .before(move |code, _| {
            code.append(&begin).stloc(span);
        })
        // It is only kept for `finally`.
        .observe_exception(|_, _, _| {})
        .finally(move |code, method| {
            code.ldloc(span);
            match method.exception {
                Some(exception) => code.ldloc(exception),
                None => code.ldnull(),
            };
            code.call(&end);
        })
        // An exception that left the code and was replaced by another one, which the code catches.
        .on_return(|code, method| {
            if let Some(exception) = method.exception {
                code.ldnull().stloc(exception);
            }
        });
    match completion {
        Completion::Task(followed) => {
            let completes = followed.method(TRACER, "Completes", SPAN);
            wrap = wrap.replace_result(move |code, _, result| {
                code.ldloc(span).ldloc(result).call(&completes);
            });
        }
        Completion::Unobservable(reason) => {
            notes::add(About::UpToReturn, cx.full_name(), reason);
        }
        _ => {}
    }
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

/// Code that begins a span and leaves it.
fn begin(cx: &mut RewriteContext<'_>, arguments: bool) -> Result<Fragment> {
    let mut code = Fragment::new();
    code.ldc_i4(SPANS.number(cx.full_name())?.cast_signed());
    let begin =
        |name: &str, params: &str| MethodSymbol::new(TRACER, name, &format!("{SPAN} ({params})"));
    if !arguments {
        code.call(begin("Begin", "int32"));
        return Ok(code);
    }
    match cx.box_this()? {
        Some(this) => code.append(&this.code),
        None => code.ldnull(),
    };
    let (call, boxing) = match cx.signature().params.len() {
        0 => (begin("BeginWith", "int32, object"), Vec::new()),
        1..=TYPED => {
            let arguments = cx.typed_arguments()?;
            code.append(&arguments.code);
            let call = arguments.method(TRACER, "BeginWith", SPAN, &["int32", "object"]);
            (call, arguments.boxing)
        }
        _ => {
            let arguments = cx.arguments_array()?;
            code.append(&arguments.code);
            (
                begin("BeginWithArray", "int32, object, object[]"),
                arguments.boxing,
            )
        }
    };
    for (number, boxing) in boxing.iter().enumerate() {
        if let Boxing::Skipped(reason) = boxing {
            let name = format!("{}, argument {number}", cx.full_name());
            notes::add(About::Argument, &name, reason);
        }
    }
    code.call(&call);
    Ok(code)
}
