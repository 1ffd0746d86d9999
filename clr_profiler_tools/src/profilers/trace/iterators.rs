//! Spans for enumerations: from the first `MoveNext` to the end, an exception, or `Dispose`.
//!
//! The code of an iterator is in the state machine that the compiler has made, and runs in pieces. The span of the enumeration is the
//! innermost one of its thread while a piece runs, and ends with the last one. The program keeps its objects.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::completion::CompletionContext;
use clr_profiler::il::instruction::Operand;
use clr_profiler::il::opcode::Opcode;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::token::{TypeDef, TypeToken};
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::{Instrumentation, SelectedMethod};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

use super::SPANS;
use super::keys;
use super::methods;
use super::notes::{self, About};
use crate::report::lock;
use crate::spans::Recording;

const HELPER: &str = "[MethodTracer]MethodTracer.Enumerations";

/// The methods of state machines that are wrapped.
const METHODS: &str = "\
    generated **.MoveNext\n\
    generated **.'System.IDisposable.Dispose'\n\
    generated **.'System.Threading.Tasks.Sources.IValueTaskSource<System.Boolean>.GetResult'\n\
    generated **.'System.Threading.Tasks.Sources.IValueTaskSource.GetResult'";

static PATTERNS: LazyLock<Option<MethodPatterns>> =
    LazyLock::new(|| MethodPatterns::parse(METHODS).ok());

/// The numbers of the enumerations by their state machines, and whether these are asynchronous.
type Machines = HashMap<(ModuleId, TypeDef), (u32, bool)>;

static MACHINES: LazyLock<Mutex<Machines>> = LazyLock::new(Mutex::default);

/// Another run of the tool begins.
pub(super) fn forget() {
    lock(&MACHINES).clear();
}

/// Adds the changes of state machines. The methods that make them register them.
pub(super) fn follow(instrumentation: Instrumentation) -> Instrumentation {
    instrumentation.edit_where_present(METHODS, edit)
}

/// Whether it may be one of the methods of a state machine.
pub(super) fn selects(method: &SelectedMethod<'_>) -> bool {
    let patterns = PATTERNS.as_ref();
    patterns.is_some_and(|patterns| method.matching(patterns).is_ok_and(|all| !all.is_empty()))
}

/// Registers the state machine that an iterator makes. Returns whether there is one.
pub(super) fn register(body: &MethodBody, cx: &RewriteContext<'_>, is_async: bool) -> Result<bool> {
    let Some(machine) = made(body, cx)? else {
        return Ok(false);
    };
    let number = SPANS.number(&format!("enumeration of {}", cx.full_name()))?;
    lock(&MACHINES).insert((cx.module(), machine), (number, is_async));
    Ok(true)
}

/// The type that the compiler has made for a method, `<All>d__0` for `All`, if the method makes an object of it.
fn made(body: &MethodBody, cx: &RewriteContext<'_>) -> Result<Option<TypeDef>> {
    let start = format!("<{}>", cx.props().name);
    for instruction in body.instructions() {
        if instruction.opcode() != Opcode::Newobj {
            continue;
        }
        let Operand::Reference(reference) = instruction.operand() else {
            continue;
        };
        let class = match CompletionContext::resolver(cx).declaring_type(reference) {
            Some(TypeSig::Class(class)) => class,
            Some(TypeSig::GenericInstance { definition, .. }) => definition,
            _ => continue,
        };
        if let TypeToken::Def(class) = class
            && cx.type_def_name(class)?.starts_with(&start)
        {
            return Ok(Some(class));
        }
    }
    Ok(None)
}

fn edit(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let machine = (cx.module(), cx.props().class);
    let known = lock(&MACHINES).get(&machine).copied();
    let Some((number, is_async)) = known else {
        return Ok(());
    };
    keys::add(number, cx);
    // A wrap that only counts would cost nearly as much.
    if SPANS.recording(number) != Recording::Spans {
        let reason = "its enumerations have too many pieces";
        notes::add(About::GivenUp, &SPANS.name(number), reason);
        return Ok(());
    }
    let wrap = match (is_async, cx.props().name.as_str()) {
        (false, "MoveNext") => piece(body, number)?,
        (true, "MoveNext") => async_piece(body, number)?,
        (false, "System.IDisposable.Dispose") => disposal(body)?,
        (true, name) if name.ends_with(".GetResult") => result(),
        _ => return Ok(()),
    };
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

/// The locals of a piece: the enumeration and the frame.
fn locals(body: &mut MethodBody) -> Result<(u16, u16)> {
    Ok((
        body.add_local(TypeSig::Object)?,
        body.add_local(TypeSig::NativeInt)?,
    ))
}

fn enter(wrap: Wrap, number: u32, (enumeration, frame): (u16, u16)) -> Wrap {
    wrap.before(move |code, _| {
        code.ldc_i4(number.cast_signed())
            .ldarg(0)
            .ldloca(frame)
            .call(MethodSymbol::new(
                HELPER,
                "Enter",
                "object (int32, object, native int&)",
            ))
            .stloc(enumeration);
    })
}

/// `MoveNext` of a synchronous iterator, whose result is false at the end.
fn piece(body: &mut MethodBody, number: u32) -> Result<Wrap> {
    let locals @ (enumeration, frame) = locals(body)?;
    let wrap = enter(methods::observed(), number, locals);
    Ok(leave(wrap, (enumeration, frame), true))
}

fn leave(wrap: Wrap, (enumeration, frame): (u16, u16), has_result: bool) -> Wrap {
    wrap.finally(move |code, method| {
        code.ldloc(enumeration).ldarg(0).ldloc(frame);
        match method.result {
            Some(result) if has_result => code.ldloc(result),
            _ => code.ldc_i4(0),
        };
        match method.exception {
            Some(exception) => code.ldloc(exception),
            None => code.ldnull(),
        };
        code.call(MethodSymbol::new(
            HELPER,
            "Leave",
            "void (object, object, native int, bool, object)",
        ));
    })
}

/// `MoveNext` of an async iterator, which catches its exceptions.
fn async_piece(body: &mut MethodBody, number: u32) -> Result<Wrap> {
    let locals @ (enumeration, frame) = locals(body)?;
    let wrap = enter(Wrap::new(), number, locals);
    Ok(wrap.finally(move |code, _| {
        code.ldloc(enumeration)
            .ldarg(0)
            .ldloc(frame)
            .call(MethodSymbol::new(
                HELPER,
                "LeaveAsync",
                "void (object, object, native int)",
            ));
    }))
}

/// `Dispose` of a synchronous iterator, which ends the enumeration.
fn disposal(body: &mut MethodBody) -> Result<Wrap> {
    let locals @ (enumeration, frame) = locals(body)?;
    let wrap = methods::observed().before(move |code, _| {
        code.ldarg(0)
            .ldloca(frame)
            .call(MethodSymbol::new(
                HELPER,
                "EnterDispose",
                "object (object, native int&)",
            ))
            .stloc(enumeration);
    });
    Ok(leave(wrap, locals, false))
}

/// The results of an async iterator for those who wait for them.
fn result() -> Wrap {
    methods::observed().finally(|code, method| {
        code.ldarg(0);
        match method.exception {
            Some(exception) => code.ldloc(exception),
            None => code.ldnull(),
        };
        code.call(MethodSymbol::new(HELPER, "Gives", "void (object, object)"));
    })
}
