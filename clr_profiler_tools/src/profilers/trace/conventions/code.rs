//! The code that reads the values of a rule.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::{TokenNames, TypeSig};
use clr_profiler::il::symbol::{MethodSymbol, TypeSymbol};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{Completion, PathStep, RewriteContext};

use super::Applied;
use super::reader::{self, Reader};
use crate::conventions::{AddsTo, Path, Root, Rule};
use crate::profilers::trace::notes::{self, About};
use crate::spans::IS_LISTED;

const ATTRIBUTES: &str = "[MethodTracer]MethodTracer.Attributes";
const HTTP: &str = "[MethodTracer]MethodTracer.Http";

/// Where the code that runs finds the id of the span.
#[derive(Debug, Clone, Copy)]
pub(super) enum Id {
    Local(u16),
    Argument(u16),
}

impl Id {
    fn load(self, code: &mut Fragment) {
        match self {
            Self::Local(number) => code.ldloc(number),
            Self::Argument(number) => code.ldarg(number),
        };
    }
}

/// How a span is known in the code of its method.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spanned {
    /// By the local with its frame.
    Frame(u16),
    /// By the local with the helper's object: the runtime may suspend the method.
    Suspending(u16),
}

/// The parts of a rule's code, for one method.
#[derive(Default)]
pub(crate) struct Readers {
    /// After the span has begun.
    pub(crate) before: Fragment,
    /// When the method has returned, with the local to which its result is copied before.
    pub(crate) on_return: Option<(Fragment, Option<u16>)>,
    /// When the task that it returns has completed.
    pub(crate) reader: Option<Reader>,
}

impl Readers {
    /// The parts for a method whose span is in a local.
    pub(crate) fn of(
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
        applied: &Applied<'_>,
        span: Spanned,
        completion: &Completion,
    ) -> Result<Self> {
        let mut parts = Self::default();
        if applied.has_contexts {
            requests(body, cx, applied.rule, &mut parts.before)?;
        }
        let (late, early): (Vec<_>, Vec<_>) = numbered(applied).partition(|(_, path)| path.is_late);
        let follows = matches!(completion, Completion::Task(_));
        if early.is_empty() && (late.is_empty() || follows) {
            parts.reader = reader_of(cx, applied, &late, completion);
            return Ok(parts);
        }
        let id = body.add_local(TypeSig::I8)?;
        let keep = match span {
            Spanned::Frame(local) => {
                parts.before.ldloc(local);
                ("Keep", "int64 (native int)".to_owned())
            }
            Spanned::Suspending(local) => {
                parts.before.ldloc(local);
                let suspending = "class [MethodTracer]MethodTracer.Suspending";
                ("KeepSuspending", format!("int64 ({suspending})"))
            }
        };
        let keep = MethodSymbol::new(ATTRIBUTES, keep.0, &keep.1);
        parts.before.call(&keep).stloc(id);
        let mut reads = Fragment::new();
        for (number, path) in early {
            let code = root(cx, &path.root, None)
                .and_then(|root| read(body, cx, path, &root, (Id::Local(id), number)));
            append(&mut reads, code, applied.rule, path);
        }
        parts.before.append(&unless_zero(id, &reads));
        if follows {
            parts.reader = reader_of(cx, applied, &late, completion);
        } else if !late.is_empty() {
            let returned = cx.return_type()?;
            let result = match returned.is_void() {
                true => None,
                false => Some((body.add_local(returned.clone())?, returned)),
            };
            let mut reads = Fragment::new();
            for (number, path) in late {
                let of = root(cx, &path.root, result.as_ref())
                    .and_then(|root| read(body, cx, path, &root, (Id::Local(id), number)));
                append(&mut reads, of, applied.rule, path);
            }
            let code = unless_zero(id, &reads);
            parts.on_return = Some((code, result.map(|(local, _)| local)));
        }
        Ok(parts)
    }
}

/// Adds the values of a rule to another span.
pub(super) fn add(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    applied: &Applied<'_>,
) -> Result<()> {
    let id = body.add_local(TypeSig::I8)?;
    let span = match applied.rule.adds_to {
        Some(AddsTo::Innermost) => "InnermostFor",
        _ => "First",
    };
    let mut reads = Fragment::new();
    for (number, path) in numbered(applied) {
        let of = root(cx, &path.root, None)
            .and_then(|root| read(body, cx, path, &root, (Id::Local(id), number)));
        append(&mut reads, of, applied.rule, path);
    }
    let mut code = Fragment::new();
    code.ldc_i4(applied.number.cast_signed())
        .call(MethodSymbol::new(ATTRIBUTES, span, "int64 (int32)"))
        .stloc(id)
        .append(&unless_zero(id, &reads));
    body.prologue(&code)?;
    Ok(())
}

/// Code that runs if there is a span. Without any there is no branch, either: the compilers of .NET 9 and 10 crash at one to the next
/// instruction, before a `try`.
fn unless_zero(id: u16, reads: &Fragment) -> Fragment {
    let mut code = Fragment::new();
    if !reads.is_empty() {
        let none = code.label();
        code.ldloc(id).brfalse(none).append(reads).mark(none);
    }
    code
}

/// The paths of a rule with their numbers.
fn numbered<'a>(applied: &Applied<'a>) -> impl Iterator<Item = (u32, &'a Path)> + use<'a> {
    (applied.first..)
        .zip(&applied.rule.paths)
        .map(|(number, path)| match path.is_listed {
            true => (number | IS_LISTED, path),
            false => (number, path),
        })
}

fn reader_of(
    cx: &mut RewriteContext<'_>,
    applied: &Applied<'_>,
    late: &[(u32, &Path)],
    completion: &Completion,
) -> Option<Reader> {
    let Completion::Task(followed) = completion else {
        return None;
    };
    if late.is_empty() {
        return None;
    }
    match reader::of(cx, applied.rule, late, followed) {
        Ok(reader) => Some(reader),
        Err(error) => {
            for (_, path) in late {
                note(applied.rule, path, &error);
            }
            None
        }
    }
}

/// Appends the code of a path, or notes why there is none.
pub(super) fn append(code: &mut Fragment, of: Result<Fragment>, rule: &Rule, path: &Path) {
    match of {
        Ok(of) => {
            code.append(&of);
        }
        Err(error) => note(rule, path, &error),
    }
}

pub(super) fn note(rule: &Rule, path: &Path, error: &Error) {
    let place = format!("{}, `{}`", rule.text.origin, path.text);
    notes::add(About::Value, &place, error);
}

/// The number of an argument, without `this`.
pub(super) fn argument(cx: &RewriteContext<'_>, root: &Root) -> Result<u16> {
    let number = match root {
        Root::Argument(number) => *number,
        Root::Parameter(name) => {
            let names = cx.parameter_names()?;
            let found = names
                .iter()
                .position(|known| known.as_deref() == Some(name.as_str()));
            let found = found.ok_or_else(|| {
                let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                Error::other(match names.is_empty() {
                    true => format!("there is no parameter `{name}`"),
                    false => format!("there is no parameter `{name}`, but {}", names.join(", ")),
                })
            })?;
            found as u16
        }
        Root::This | Root::Return => return Err(Error::other("no argument")),
    };
    match (number as usize) < cx.signature().params.len() {
        true => Ok(number),
        false => Err(Error::other(format!("there is no argument {number}"))),
    }
}

/// Code that loads the value at which a path begins, and its type. The result is in a local.
fn root(
    cx: &mut RewriteContext<'_>,
    root: &Root,
    result: Option<&(u16, TypeSig)>,
) -> Result<(Fragment, TypeSig)> {
    let mut code = Fragment::new();
    let has_this = cx.signature().has_this;
    let (number, of) = match root {
        Root::Return => {
            let (local, of) = result
                .cloned()
                .ok_or_else(|| Error::other("the method has no result here"))?;
            code.ldloc(local);
            return Ok((code, of));
        }
        Root::This if !has_this => {
            return Err(Error::other("the method is static: there is no `this`"));
        }
        Root::This => {
            let of = cx.this_type()?;
            let is_value = matches!(
                of,
                TypeSig::ValueType(_)
                    | TypeSig::GenericInstance {
                        is_value_type: true,
                        ..
                    }
            );
            let of = match is_value {
                true => TypeSig::ByRef(Box::new(of)),
                false => of,
            };
            (0, of)
        }
        other => {
            let number = argument(cx, other)?;
            let of = cx.signature().params.get(usize::from(number)).cloned();
            let of = of.ok_or_else(|| Error::other("no argument"))?;
            (number + u16::from(has_this), of)
        }
    };
    code.ldarg(number);
    match of.unmodified() {
        TypeSig::ByRef(inner) => {
            let inner = (**inner).clone();
            let operand = cx.type_operand(&inner)?;
            code.ldobj(operand);
            Ok((code, inner))
        }
        other => Ok((code, other.clone())),
    }
}

/// Code that reads the value of a path, and adds it to a span.
pub(super) fn read(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    path: &Path,
    (root, of): &(Fragment, TypeSig),
    (id, number): (Id, u32),
) -> Result<Fragment> {
    let code = cx.read_path(body, root, of, &path.steps, |code, of| {
        set(code, of, id, number);
    })?;
    let may_throw = path
        .steps
        .iter()
        .any(|step| !matches!(step, PathStep::Member(_) | PathStep::As { .. }));
    Ok(match may_throw {
        true => guarded(&code),
        false => code,
    })
}

/// Code whose exceptions the program does not see.
fn guarded(code: &Fragment) -> Fragment {
    let mut guarded = Fragment::new();
    guarded
        .try_block(|inner| {
            inner.append(code);
        })
        .catch("[corelib]System.Object", |handler| {
            handler.pop();
        })
        .end();
    guarded
}

/// Passes a value on the stack to the helper.
fn set(code: &mut Fragment, of: &TypeSig, id: Id, number: u32) {
    let (name, parameter) = match of {
        TypeSig::String => ("SetText", "string"),
        TypeSig::Bool => ("SetBool", "bool"),
        TypeSig::I1 | TypeSig::I2 | TypeSig::I4 | TypeSig::I8 => {
            code.conv_i8();
            ("SetNumber", "int64")
        }
        TypeSig::U1 | TypeSig::U2 | TypeSig::U4 | TypeSig::U8 => {
            code.conv_u8();
            ("SetNumber", "int64")
        }
        TypeSig::R4 | TypeSig::R8 => {
            code.conv_r8();
            ("SetDouble", "float64")
        }
        _ => ("Set", "!!0"),
    };
    let mut method = MethodSymbol::new(
        ATTRIBUTES,
        name,
        &format!("void ({parameter}, int64, int32)"),
    );
    if name == "Set" {
        method.type_arguments = vec![of.text(&TokenNames).to_string().into()];
    }
    id.load(code);
    code.ldc_i4(number.cast_signed()).call(&method);
}

/// The contexts of requests: of the caller, and for a request that the method makes.
fn requests(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    rule: &Rule,
    code: &mut Fragment,
) -> Result<()> {
    if let Some(context) = &rule.extract {
        let mut locals = Vec::new();
        let mut reads = Fragment::new();
        for path in [Some(&context.parent), context.state.as_ref()] {
            let local = body.add_local(TypeSig::String)?;
            locals.push(local);
            let Some(path) = path else {
                continue;
            };
            let of = root(cx, &path.root, None).and_then(|(root, of)| {
                cx.read_path(body, &root, &of, &path.steps, |code, _| {
                    code.stloc(local);
                })
            });
            // A method runs more than once in a frame only in loops, which return to its own code.
            reads.ldnull().stloc(local);
            append(&mut reads, of.map(|of| guarded(&of)), rule, path);
        }
        code.append(&reads);
        for local in locals {
            code.ldloc(local);
        }
        code.call(MethodSymbol::new(HTTP, "Receives", "void (string, string)"));
    }
    if let Some(carrier) = &rule.inject {
        let value = body.add_local(TypeSig::String)?;
        let path = &carrier.into;
        let of = root(cx, &path.root, None).and_then(|(root, of)| {
            cx.read_path(body, &root, &of, &path.steps, |code, of| {
                let owner = TypeSymbol::new(&of.text(&TokenNames).to_string());
                let on = |method: &MethodSymbol| MethodSymbol {
                    owner: owner.clone(),
                    ..method.clone()
                };
                let end = code.label();
                let call = |code: &mut Fragment, method: &MethodSymbol| {
                    code.callvirt(on(method));
                    if !method.signature.starts_with("instance void ") {
                        code.pop();
                    }
                };
                let put = |code: &mut Fragment, header: &str| {
                    if let Some(remove) = &carrier.remove {
                        code.dup().ldstr(header);
                        call(code, remove);
                    }
                    code.dup().ldstr(header).ldloc(value);
                    call(code, &carrier.set);
                };
                match &carrier.has {
                    Some(has) => code.dup().ldstr("traceparent").callvirt(on(has)),
                    None => code.ldc_i4(0),
                };
                code.call(MethodSymbol::new(HTTP, "Parent", "string (bool)"));
                code.stloc(value).ldloc(value).brfalse(end);
                put(code, "traceparent");
                code.call(MethodSymbol::new(HTTP, "State", "string ()"));
                code.stloc(value).ldloc(value).brfalse(end);
                put(code, "tracestate");
                code.mark(end).pop();
            })
        });
        append(code, of.map(|of| guarded(&of)), rule, path);
    }
    Ok(())
}
