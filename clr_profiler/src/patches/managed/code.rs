//! Inserts the calls of patches: around a method, and around calls of other methods.

use std::sync::Arc;

use super::bind::{PatchMethod, Target, TargetParameter};
use super::emit::At;
use super::plan::{Call, Original, Plan};
use super::slots::OfClass;
use super::target;
use crate::error::{Error, Result};
use crate::patches::callers::{Callee, as_called, callee, emit_call, plain_calls};
use crate::patches::fields::Types;
use crate::patches::plan::is_value_type;
use crate::rewrite::{HelperAssembly, RewriteContext};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::signature::{CallingConvention, MethodSig, TypeSig};
use clr_profiler_il::symbol::Reference;
use clr_profiler_il::token::{Token, TypeToken};
use clr_profiler_il::wrap::{Caught, Wrap};

/// Wraps a body in the calls of these patches.
pub(super) fn around_method(
    classes: &[OfClass<'_>],
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<()> {
    if cx.shape()?.is_runtime_async() {
        return Err(Error::other(
            "a runtime-async method cannot be patched: its locals move while it is suspended",
        ));
    }
    let this = match cx.signature().has_this {
        true => Some(cx.this_type()?),
        false => None,
    };
    let class = cx.this_type()?;
    let class = cx.type_operand(&class)?;
    let mut target = target::of_method(cx.info(), cx.module(), cx.token(), this)?;
    // The type of a method that is about to run is loaded: a base that is still unknown stays so.
    target.has_unknown_base = false;
    let original = Original {
        method: cx.own_token()?,
        class,
    };
    let plan = Arc::new(Plan::new(classes, &target, &original, body, cx)?);
    let spare = plan.result;
    let at = At {
        arguments: None,
        run: plan.run,
        result: spare.unwrap_or(u16::MAX),
        exception: plan.exception,
    };
    let with_result = move |result: Option<u16>| At {
        result: result.or(spare).unwrap_or(u16::MAX),
        ..at
    };
    let mut inner = Wrap::new();
    {
        let plan = Arc::clone(&plan);
        inner = inner.before(move |code, method| {
            let at = with_result(method.result);
            code.ldc_i4(1).stloc(at.run);
            code.append(&plan.entry);
            plan.stage(code, |code| prefixes(&plan.prefixes, code, &at));
        });
    }
    if plan.skips() {
        inner = inner.skip_if(move |code, _| {
            code.ldloc(at.run).ldc_i4(0).ceq();
        });
    }
    if !plan.postfixes.is_empty() {
        let plan = Arc::clone(&plan);
        inner = inner.after(move |code, method| {
            let at = with_result(method.result);
            plan.stage(code, |code| {
                for call in &plan.postfixes {
                    call.emit(code, &at);
                }
            });
        });
    } else if spare.is_some() {
        // So that a prefix has the result's local.
        inner = inner.after(|code, _| {
            code.nop();
        });
    }
    let result = body.wrap(&inner, &cx.shape()?)?.result.or(spare);
    if plan.finalizers.is_empty() {
        return Ok(());
    }
    let finalizers = move |plan: &Plan, code: &mut Fragment, at: &At| {
        plan.stage(code, |code| {
            for call in &plan.finalizers {
                call.emit(code, at);
            }
        });
    };
    let on_return = Arc::clone(&plan);
    let outer = Wrap::new()
        .on_return(move |code, method| {
            let at = with_result(method.result);
            code.ldnull().stloc(at.exception);
            finalizers(&on_return, code, &at);
            let end = code.label();
            code.ldloc(at.exception).brfalse(end);
            code.ldloc(at.exception).throw().mark(end).nop();
        })
        .on_exception(
            "[corelib]System.Exception",
            Caught::Swallow,
            move |code, method, exception| {
                let at = with_result(method.result);
                code.ldloc(exception);
                code.castclass("[corelib]System.Exception")
                    .stloc(at.exception);
                // The result that was set before the exception.
                if let (Some(result), Some(outer)) = (result, method.result) {
                    code.ldloc(result).stloc(outer);
                }
                finalizers(&plan, code, &at);
                let (swallowed, replaced) = (code.label(), code.label());
                code.ldloc(at.exception).brfalse(swallowed);
                code.ldloc(at.exception).ldloc(exception).bne_un(replaced);
                code.rethrow().mark(replaced);
                code.ldloc(at.exception).throw().mark(swallowed).nop();
            },
        );
    body.wrap(&outer, &cx.shape()?)?;
    Ok(())
}

/// The calls of prefixes, of which those with effects do not run once one has skipped the method.
fn prefixes(calls: &[Call], code: &mut Fragment, at: &At) {
    let mut may_be_skipped = false;
    for call in calls {
        let next = code.label();
        let is_guarded = may_be_skipped && call.is_guarded;
        if is_guarded {
            code.ldloc(at.run).brfalse(next);
        }
        call.emit(code, at);
        code.mark(next).nop();
        may_be_skipped |= call.returns == super::plan::Returns::Run;
    }
}

/// Patches of the calls of a method.
pub(super) struct OfCalls<'a> {
    pub(super) helper: &'a HelperAssembly,
    pub(super) callees: &'a MethodPatterns,
    pub(super) methods: &'a [PatchMethod],
}

/// The code around the calls of one method.
struct Prepared {
    plan: Plan,
    at: At,
    /// As the code calls it.
    callee: MethodSig,
    signature: MethodSig,
    result: Option<(u16, TypeToken)>,
}

/// Surrounds the calls in a body that these patches select.
pub(super) fn around_calls(
    patches: &[OfCalls<'_>],
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<()> {
    let mut known: Vec<((Token, bool), Option<Prepared>)> = Vec::new();
    for (id, opcode, token) in plain_calls(body) {
        let key = (token, opcode == Opcode::Newobj);
        if !known.iter().any(|(of, _)| *of == key) {
            let prepared = prepare(patches, (opcode, token), body, cx)?;
            known.push((key, prepared));
        }
        let prepared = known.iter().find(|(of, _)| *of == key);
        if let Some((_, Some(prepared))) = prepared {
            let code = prepared.around(opcode, token);
            body.replace(id, &code)?;
        }
    }
    Ok(())
}

fn prepare(
    patches: &[OfCalls<'_>],
    (opcode, token): (Opcode, Token),
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<Option<Prepared>> {
    let Some(called) = cx.resolver().method(Reference::Token(token)) else {
        return Ok(None);
    };
    let Some(callee) = callee(cx, token, &called)? else {
        return Ok(None);
    };
    let mut classes: Vec<OfClass<'_>> = Vec::new();
    for patch in patches {
        if patch.callees.matches(&callee)? {
            cx.refer_to(patch.helper)?;
            classes.push(OfClass {
                methods: patch.methods,
                slots: None,
                is_guarded: false,
            });
        }
    }
    if classes.is_empty() {
        return Ok(None);
    }
    let name = callee.full_name();
    let refuse = |why: &str| {
        Err(Error::other(format!(
            "the call of {name} cannot be patched: {why}"
        )))
    };
    if cx.shape()?.is_runtime_async() {
        return refuse("its caller is runtime-async");
    }
    if called.convention == CallingConvention::VarArg {
        return refuse("it has variable arguments");
    }
    let Some(signature) = as_called(cx, opcode, token, &called) else {
        return refuse("whether it makes an object or a struct is unknown");
    };
    if matches!(signature.return_type.unmodified(), TypeSig::ByRef(_)) {
        return refuse("it returns a reference");
    }
    let mut this = None;
    if signature.has_this {
        this = this_of(cx, opcode, token, callee.parent())?;
        if this.is_none() || signature.explicit_this {
            return refuse(
                "whether `this` is a class or a struct is not known, because no loaded assembly has it",
            );
        }
    }
    let target = target_of(cx, &callee, &signature, this.as_ref())?;
    let mut arguments = Vec::new();
    arguments.extend(this.map(|this| match is_value_type(&this) {
        true => TypeSig::ByRef(Box::new(this)),
        false => this,
    }));
    arguments.extend(signature.params.iter().map(|one| one.unmodified().clone()));
    let original = Original {
        method: token,
        class: callee.parent(),
    };
    let plan = Plan::new(&classes, &target, &original, body, cx)?;
    let mut first = None;
    for argument in arguments {
        let local = body.add_local(argument)?;
        first.get_or_insert(local);
    }
    let result = match (plan.result, &target.result) {
        (Some(local), Some(class)) => Some((local, cx.type_operand(&class.sig)?)),
        _ => None,
    };
    Ok(Some(Prepared {
        at: At {
            arguments: Some(first.unwrap_or_default()),
            run: plan.run,
            result: plan.result.unwrap_or(u16::MAX),
            exception: u16::MAX,
        },
        plan,
        callee: called,
        signature,
        result,
    }))
}

/// The type of `this` at a call; `None` if it is not known.
fn this_of(
    cx: &RewriteContext<'_>,
    opcode: Opcode,
    token: Token,
    parent: TypeToken,
) -> Result<Option<TypeSig>> {
    if let Some(known) = cx.resolver().declaring_type(Reference::Token(token)) {
        return Ok(Some(known));
    }
    Ok(match target::is_struct(cx.info(), cx.module(), parent)? {
        Some(true) => Some(TypeSig::ValueType(parent)),
        Some(false) => Some(TypeSig::Class(parent)),
        // The methods of a struct are called by `call`.
        None => (opcode == Opcode::Callvirt).then_some(TypeSig::Class(parent)),
    })
}

fn target_of(
    cx: &RewriteContext<'_>,
    callee: &Callee,
    signature: &MethodSig,
    this: Option<&TypeSig>,
) -> Result<Target> {
    let types = Types::of(cx.info(), cx.module())?;
    let names = target::names_at_call(cx.info(), cx.module(), callee, &signature.params)?;
    let parameters = signature.params.iter().zip(names);
    let result = signature.return_type.unmodified();
    Ok(Target {
        name: callee.full_name(),
        this: this.map(|this| TargetParameter {
            name: None,
            class: types.class(this),
            is_by_ref: is_value_type(this),
        }),
        parameters: parameters
            .map(|(sig, name)| types.parameter(name, sig))
            .collect(),
        result: (!result.is_void()).then(|| types.class(result)),
        fields: Vec::new(),
        has_unknown_base: false,
        is_call: true,
    })
}

impl Prepared {
    /// The code in place of a call.
    fn around(&self, opcode: Opcode, token: Token) -> Fragment {
        let (plan, at) = (&self.plan, &self.at);
        let mut code = Fragment::new();
        let count = self.signature.params.len() as u16 + u16::from(self.signature.has_this);
        let first = at.arguments.unwrap_or_default();
        for number in (0..count).rev() {
            code.stloc(first + number);
        }
        // A loop runs this code again.
        for (local, operand) in plan.states.iter().chain(&self.result) {
            code.ldloca(*local).initobj(*operand);
        }
        code.ldc_i4(1).stloc(at.run);
        prefixes(&plan.prefixes, &mut code, at);
        let skipped = code.label();
        if plan.skips() {
            code.ldloc(at.run).brfalse(skipped);
        }
        for number in 0..count {
            code.ldloc(first + number);
        }
        emit_call(&mut code, opcode, (token, &self.callee));
        if let Some((result, _)) = self.result {
            code.stloc(result);
        }
        code.mark(skipped).nop();
        for call in &plan.postfixes {
            call.emit(&mut code, at);
        }
        if let Some((result, _)) = self.result {
            code.ldloc(result);
        }
        code
    }
}
