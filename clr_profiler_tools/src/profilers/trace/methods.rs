//! The code around traced methods.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{Boxing, Completion, RewriteContext, Unobservable};

use super::SPANS;
use super::conventions::{Applied, Readers, Spanned};
use super::iterators;
use super::keys;
use super::native::Call;
use super::notes::{self, About};
use super::values::{self, Values};
use crate::spans::Recording;

const RESULTS: &str = "[MethodTracer]MethodTracer.Results";
const COMPLETIONS: &str = "[MethodTracer]MethodTracer.Completions";
const TRACER: &str = "[MethodTracer]MethodTracer.Tracer";
const SUSPENDING: &str = "class [MethodTracer]MethodTracer.Suspending";
/// The largest number of arguments for which the helper has generic methods.
const TYPED: usize = 4;

/// Wraps a method; with the values in the span that the user has asked for, or without. A rule has its spans say more.
pub(crate) fn trace(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    has_values: bool,
    applied: Option<&Applied<'_>>,
) -> Result<()> {
    let number = SPANS.number(cx.full_name())?;
    let values = match has_values {
        true => values::recorded(),
        false => Values::default(),
    };
    if values.arguments || values.results {
        name_values(cx, number)?;
    }
    if let Some(applied) = applied {
        SPANS.apply_rule(number, applied.number);
    }
    let recording = SPANS.recording(number);
    keys::add(number, cx);
    let number = number.cast_signed();
    match recording {
        Recording::Spans => {}
        Recording::Counts => {
            let mut code = Fragment::new();
            code.ldc_i4(number).append(&Call::Count.code(cx)?);
            body.prologue(&code)?;
            return Ok(());
        }
        Recording::Nothing => return Ok(()),
    }
    if cx.shape()?.is_runtime_async() {
        return suspending(body, cx, number, &values, applied);
    }
    let completion = cx.completion(body)?;
    let is_enumerated = values.iterators
        && match &completion {
            Completion::Unobservable(Unobservable::Iterator) => {
                iterators::register(body, cx, false)?
            }
            Completion::Unobservable(Unobservable::AsyncIterator) => {
                iterators::register(body, cx, true)?
            }
            _ => false,
        };
    let begin = match values.arguments {
        true => begin_with(cx, number)?,
        false => begin(cx, number)?,
    };
    let native_end = Call::End.code(cx)?;
    let end = MethodSymbol::new(TRACER, "End", "void (int32, native int, object)");
    let frame = body.add_local(TypeSig::NativeInt)?;
    let readers = match applied {
        Some(applied) => Readers::of(body, cx, applied, Spanned::Frame(frame), &completion)?,
        None => Readers::default(),
    };
    let Readers {
        before,
        on_return,
        reader,
    } = readers;
    let mut wrap = reading(observed(), on_return);
    if values.results && !matches!(completion, Completion::Task(_)) {
        wrap = returning(wrap, cx, "Returns", "native int", frame)?;
    }
    wrap = wrap
        .before(move |code, _| {
            code.append(&begin).stloc(frame).append(&before);
        })
        .finally(move |code, method| {
            let (rest, done) = (code.label(), code.label());
            code.ldloc(frame);
            match method.exception {
                Some(exception) => code.ldloc(exception).ldnull().cgt_un(),
                None => code.ldc_i4(0),
            };
            code.append(&native_end).dup().brtrue(rest).pop().br(done);
            code.mark(rest).ldloc(frame);
            match method.exception {
                Some(exception) => code.ldloc(exception),
                None => code.ldnull(),
            };
            code.call(&end).mark(done);
        });
    match completion {
        Completion::Task(followed) => {
            wrap = match reader {
                None => {
                    let class = match values.results {
                        true => RESULTS,
                        false => TRACER,
                    };
                    let completes = followed.method(class, "Completes", "native int");
                    wrap.replace_result(move |code, _, result| {
                        code.ldloc(frame).ldloc(result).call(&completes);
                    })
                }
                Some(reader) => {
                    let state = "native int, object[], native int";
                    let completes = followed.method(COMPLETIONS, "Completes", state);
                    wrap.replace_result(move |code, _, result| {
                        code.ldloc(frame)
                            .append(&reader.roots)
                            .ldftn(&reader.method);
                        code.ldloc(result).call(&completes);
                    })
                }
            };
        }
        Completion::Unobservable(reason) if !is_enumerated => {
            notes::add(About::UpToReturn, cx.full_name(), reason);
        }
        _ => {}
    }
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

/// Adds the code that reads values when the method has returned.
fn reading(wrap: Wrap, on_return: Option<(Fragment, Option<u16>)>) -> Wrap {
    let Some((code, copy)) = on_return else {
        return wrap;
    };
    wrap.on_return(move |all, method| {
        if let (Some(result), Some(copy)) = (method.result, copy) {
            all.ldloc(result).stloc(copy);
        }
        all.append(&code);
    })
}

/// Adds the code that passes the result to a method of the helper, with the local by which the span is known.
fn returning(
    wrap: Wrap,
    cx: &mut RewriteContext<'_>,
    name: &str,
    span: &str,
    local: u16,
) -> Result<Wrap> {
    let of = cx.return_type()?;
    if of.is_void() {
        return Ok(wrap);
    }
    let boxed = cx.box_value(&of)?;
    if let Boxing::Skipped(reason) = &boxed.boxing {
        notes::add(
            About::Argument,
            &format!("{}, result", cx.full_name()),
            reason,
        );
        return Ok(wrap);
    }
    let returns = MethodSymbol::new(RESULTS, name, &format!("void ({span}, object)"));
    Ok(wrap.on_return(move |code, method| {
        if let Some(result) = method.result {
            code.ldloc(local)
                .ldloc(result)
                .append(&boxed.code)
                .call(&returns);
        }
    }))
}

/// Names the values of a method, and hides those that are not to be recorded.
fn name_values(cx: &RewriteContext<'_>, number: u32) -> Result<()> {
    let parameters = cx.parameter_names()?;
    let parameters = parameters.into_iter().enumerate();
    let parameters = parameters.map(|(number, name)| name.unwrap_or_else(|| number.to_string()));
    let names: Vec<String> = ["this".to_owned()].into_iter().chain(parameters).collect();
    values::hide(number, &cx.props().name, &names);
    SPANS.name_arguments(number, names);
    Ok(())
}

/// A wrap that keeps the exception for `finally`.
pub(super) fn observed() -> Wrap {
    Wrap::new()
        .observe_exception(|_, _, _| {})
        // An exception that left the code and was replaced by another one, which the code catches.
        .on_return(|code, method| {
            if let Some(exception) = method.exception {
                code.ldnull().stloc(exception);
            }
        })
}

/// Wraps a method that the runtime itself makes asynchronous.
fn suspending(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    number: i32,
    values: &Values,
    applied: Option<&Applied<'_>>,
) -> Result<()> {
    let mut begin = Fragment::new();
    begin.ldc_i4(number);
    let (name, params) = match values.arguments {
        true => {
            this(cx, &mut begin)?;
            let arguments = cx.arguments_array()?;
            begin.append(&arguments.code);
            skipped(cx, &arguments.boxing);
            ("BeginSuspendingWith", "int32, object, object[]")
        }
        false => ("BeginSuspending", "int32"),
    };
    begin.call(MethodSymbol::new(
        TRACER,
        name,
        &format!("{SUSPENDING} ({params})"),
    ));
    let end = MethodSymbol::new(
        TRACER,
        "EndSuspending",
        &format!("void ({SUSPENDING}, object)"),
    );
    let span = cx.type_sig(SUSPENDING)?;
    let span = body.add_local(span)?;
    let readers = match applied {
        Some(applied) => {
            let known = Spanned::Suspending(span);
            Readers::of(body, cx, applied, known, &Completion::Return)?
        }
        None => Readers::default(),
    };
    let Readers {
        before, on_return, ..
    } = readers;
    let mut wrap = reading(observed(), on_return);
    if values.results {
        wrap = returning(wrap, cx, "ReturnsSuspending", SUSPENDING, span)?;
    }
    let wrap = wrap
        .before(move |code, _| {
            code.append(&begin).stloc(span).append(&before);
        })
        .finally(move |code, method| {
            code.ldloc(span);
            match method.exception {
                Some(exception) => code.ldloc(exception),
                None => code.ldnull(),
            };
            code.call(&end);
        });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

/// Code that begins a span and leaves its frame.
fn begin(cx: &mut RewriteContext<'_>, number: i32) -> Result<Fragment> {
    let mut code = Fragment::new();
    let begun = code.label();
    code.ldc_i4(number)
        .append(&Call::Begin.code(cx)?)
        .dup()
        .brtrue(begun)
        .pop()
        .ldc_i4(number)
        .call(MethodSymbol::new(TRACER, "Begin", "native int (int32)"))
        .mark(begun);
    Ok(code)
}

/// The same, with the arguments in the span.
fn begin_with(cx: &mut RewriteContext<'_>, number: i32) -> Result<Fragment> {
    let mut code = Fragment::new();
    code.ldc_i4(number);
    this(cx, &mut code)?;
    let begin = |name: &str, params: &str| {
        MethodSymbol::new(TRACER, name, &format!("native int ({params})"))
    };
    let (call, boxing) = match cx.signature().params.len() {
        0 => (begin("BeginWith", "int32, object"), Vec::new()),
        1..=TYPED => {
            let arguments = cx.typed_arguments()?;
            code.append(&arguments.code);
            let call = arguments.method(TRACER, "BeginWith", "native int", &["int32", "object"]);
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
    skipped(cx, &boxing);
    code.call(&call);
    Ok(code)
}

/// Code that leaves `this` as an object, or null.
fn this(cx: &mut RewriteContext<'_>, code: &mut Fragment) -> Result<()> {
    match cx.box_this()? {
        Some(this) => code.append(&this.code),
        None => code.ldnull(),
    };
    Ok(())
}

/// Notes the arguments that cannot be recorded.
fn skipped(cx: &RewriteContext<'_>, boxing: &[Boxing]) {
    for (number, boxing) in boxing.iter().enumerate() {
        if let Boxing::Skipped(reason) = boxing {
            let name = format!("{}, argument {number}", cx.full_name());
            notes::add(About::Argument, &name, reason);
        }
    }
}
