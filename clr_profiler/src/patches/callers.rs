//! Patches of calls in other methods.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use super::code::{Generator, Locals};
use super::plan;
use super::site::{Hooks, Site};
use super::slot::{Home, Stage, bits};
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::info::method_facts::definition;
use crate::info::names::assembly_name;
use crate::metadata::{
    Metadata, MetadataAssemblyImport, MetadataImport, MetadataImport2, nested_names,
};
use crate::rewrite::RewriteContext;
use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::{InstructionId, Operand};
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::pattern::{AttributeOwner, GenericOwner, MethodFacts, MethodPatterns};
use clr_profiler_il::signature::{CallingConvention, MethodSig, TypeSig};
use clr_profiler_il::symbol::Reference;
use clr_profiler_il::token::{
    AssemblyRef, MemberRef, MethodDef, MethodSpec, Token, TypeRef, TypeToken,
};

/// A method that is called, as its caller refers to it.
pub(super) struct Callee {
    /// The assembly of the reference.
    assembly: String,
    path: String,
    /// The type as the caller refers to it.
    parent: TypeToken,
    name: String,
    parameters: Vec<String>,
    /// Its parameters' names, if its definition is loaded.
    names: Vec<Option<String>>,
}

impl Callee {
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.path, self.name)
    }

    pub(super) fn parent(&self) -> TypeToken {
        self.parent
    }

    /// Its assembly, the path of its type with `+` before nested types, and its name.
    pub(super) fn parts(&self) -> [&str; 3] {
        [&self.assembly, &self.path, &self.name]
    }
}

impl MethodFacts for Callee {
    type Error = Error;

    fn assembly(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.assembly))
    }

    fn type_path(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.path))
    }

    fn method_name(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.name))
    }

    /// References do not tell; a method that is called is accessible.
    fn access(&self) -> Result<MemberAccess> {
        Ok(MemberAccess::Public)
    }

    fn parameters(&self) -> Result<Vec<String>> {
        Ok(self.parameters.clone())
    }

    fn generic_parameters(&self, _: GenericOwner) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn generic_arguments(&self, _: GenericOwner) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn attributes(&self, _: AttributeOwner) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn base_types(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn interfaces(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// The assembly to which a module refers for a type.
fn assembly_of(
    cx: &RewriteContext<'_>,
    metadata: &Metadata<'_>,
    class: TypeToken,
) -> Result<String> {
    let mut next = class;
    while let TypeToken::Ref(class) = next {
        let scope = metadata.type_ref_props(class)?.resolution_scope;
        if let Ok(assembly) = AssemblyRef::try_from(scope) {
            return Ok(metadata.assembly_ref_props(assembly)?.name);
        }
        match TypeRef::try_from(scope) {
            Ok(outer) if outer != class && !outer.is_nil() => next = TypeToken::Ref(outer),
            _ => break,
        }
    }
    assembly_name(cx.info(), cx.module(), metadata)
}

/// The method that a token means; `None` for those that have no name, such as methods of arrays.
pub(super) fn callee(
    cx: &RewriteContext<'_>,
    token: Token,
    signature: &MethodSig,
) -> Result<Option<Callee>> {
    let metadata = cx.info().module_metadata(cx.module())?;
    let token = match MethodSpec::try_from(token) {
        Ok(instance) => metadata.method_spec_props(instance)?.parent,
        Err(_) => token,
    };
    let (parent, name) = match (MethodDef::try_from(token), MemberRef::try_from(token)) {
        (Ok(method), _) => {
            let props = metadata.method_props(method)?;
            (props.class.into(), props.name)
        }
        (_, Ok(member)) => {
            let props = metadata.member_ref_props(member)?;
            (props.parent, props.name)
        }
        _ => return Ok(None),
    };
    let Ok(parent) = TypeToken::try_from(parent) else {
        return Ok(None);
    };
    let class = match parent {
        TypeToken::Spec(class) => metadata.generic_definition(class)?,
        class => Some(class),
    };
    let Some(class) = class.filter(|class| !matches!(class, TypeToken::Spec(_))) else {
        return Ok(None);
    };
    let parameters = signature.params.iter();
    let mut callee = Callee {
        assembly: assembly_of(cx, &metadata, class)?,
        path: nested_names(&metadata, class)?.join("+"),
        parent,
        name,
        parameters: parameters.map(|one| cx.type_name(one)).collect(),
        names: vec![None; signature.params.len()],
    };
    let found = definition(cx.info(), cx.module(), &metadata, parent);
    if let Ok(Some((module, class))) = found {
        let metadata = cx.info().module_metadata(module)?;
        for method in metadata.methods_with_name(class, &callee.name)? {
            let method = method?;
            let found = metadata.method_props(method)?.signature()?;
            if found.params.len() == signature.params.len() {
                callee.names = plan::parameter_names(&metadata, method, found.params.len())?;
            }
        }
    }
    Ok(Some(callee))
}

/// The code around the calls of one method.
struct Prepared {
    generator: Generator,
    at: Locals,
    /// As the code calls it.
    callee: MethodSig,
    signature: MethodSig,
}

/// The signature of a method as an instruction uses it: a constructor that makes an object takes none, and returns it. `None` if it is
/// not known whether this is a struct.
pub(super) fn as_called(
    cx: &RewriteContext<'_>,
    opcode: Opcode,
    token: Token,
    callee: &MethodSig,
) -> Option<MethodSig> {
    let mut signature = callee.clone();
    if opcode == Opcode::Newobj {
        signature.has_this = false;
        signature.return_type = cx.resolver().declaring_type(Reference::Token(token))?;
    }
    Some(signature)
}

/// Calls a method that is called by an instruction.
pub(super) fn emit_call(code: &mut Fragment, opcode: Opcode, callee: (Token, &MethodSig)) {
    match opcode {
        Opcode::Callvirt => code.callvirt(callee),
        Opcode::Newobj => code.newobj(callee),
        _ => code.call(callee),
    };
}

/// The calls in a body that can be surrounded. One with a prefix is left alone: `tail.` ends the method, `constrained.` calls
/// on a value of any type.
pub(super) fn plain_calls(body: &MethodBody) -> Vec<(InstructionId, Opcode, Token)> {
    body.instructions()
        .filter(|one| {
            let calls = [Opcode::Call, Opcode::Callvirt, Opcode::Newobj];
            calls.contains(&one.opcode())
        })
        .filter(|one| one.prefixes().next().is_none())
        .filter_map(|one| match one.operand() {
            Operand::Reference(Reference::Token(token)) => Some((one.id(), one.opcode(), token)),
            _ => None,
        })
        .collect()
}

/// Surrounds the calls of these methods in a body.
pub(super) fn apply(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    hooks: &Arc<Hooks>,
    callees: &MethodPatterns,
    sites: &Mutex<Vec<&'static Site>>,
) -> Result<()> {
    // The calls of one method share their locals: the code of one has ended before that of the next begins.
    let mut known: Vec<((Token, bool), Option<Prepared>)> = Vec::new();
    for (id, opcode, token) in plain_calls(body) {
        let key = (token, opcode == Opcode::Newobj);
        let index = match known.iter().position(|(of, _)| *of == key) {
            Some(index) => index,
            None => {
                let prepared = prepare(body, cx, hooks, callees, (opcode, token), sites)?;
                known.push((key, prepared));
                known.len() - 1
            }
        };
        if let Some((_, Some(prepared))) = known.get(index) {
            let code = prepared.around(cx, hooks, opcode, token)?;
            body.replace(id, &code)?;
        }
    }
    Ok(())
}

fn prepare(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    hooks: &Arc<Hooks>,
    callees: &MethodPatterns,
    (opcode, token): (Opcode, Token),
    sites: &Mutex<Vec<&'static Site>>,
) -> Result<Option<Prepared>> {
    let Some(called) = cx.resolver().method(Reference::Token(token)) else {
        return Ok(None);
    };
    let Some(callee) = callee(cx, token, &called)? else {
        return Ok(None);
    };
    if !callees.matches(&callee)? {
        return Ok(None);
    }
    let refuse = |why: &str| {
        let name = format!("{}.{}", callee.path, callee.name);
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
    let this = cx.resolver().declaring_type(Reference::Token(token));
    let this = this.filter(|_| signature.has_this && !signature.explicit_this);
    let mut planned = Vec::new();
    let mut arguments = Vec::new();
    if signature.has_this {
        let Some(this) = this else {
            return refuse("the type of `this` is unknown");
        };
        let is_by_ref = plan::is_value_type(&this);
        let home = Home::Argument {
            number: 0,
            is_by_ref,
        };
        planned.push(plan::value(cx, "this".into(), None, home, &this)?);
        arguments.push(match is_by_ref {
            true => TypeSig::ByRef(Box::new(this)),
            false => this,
        });
    }
    for ((index, param), name) in (0..).zip(&signature.params).zip(&callee.names) {
        let number = arguments.len() as u16;
        let (param, name) = (param.unmodified(), name.clone());
        let name = name.unwrap_or_else(|| format!("argument {index}"));
        planned.push(plan::argument(cx, name, index, number, param)?);
        arguments.push(param.clone());
    }
    let result = signature.return_type.unmodified().clone();
    if !result.is_void() {
        let home = Home::Result;
        planned.push(plan::value(cx, "result".into(), None, home, &result)?);
    }
    plan::place(&mut planned, hooks.values.as_deref())?;
    let method = format!("{}.{}", callee.path.replace('+', "."), callee.name);
    let generator = Generator::new(cx, &method, hooks, planned, sites)?;
    let [frame, mask] = generator.locals(cx)?;
    let (frame, mask) = (body.add_local(frame)?, body.add_local(mask)?);
    let mut first = mask + 1;
    for pinned in generator.pinned() {
        body.add_local(pinned)?;
        first += 1;
    }
    for argument in arguments {
        body.add_local(argument)?;
    }
    let result = match result.is_void() {
        true => None,
        false => Some(body.add_local(result)?),
    };
    // The code reads the word of the state before it is written.
    body.set_init_locals(true);
    Ok(Some(Prepared {
        generator,
        at: Locals {
            frame,
            mask,
            pinned: mask + 1,
            arguments: Some(first),
            result,
        },
        callee: called,
        signature,
    }))
}

impl Prepared {
    /// The code in place of a call.
    fn around(
        &self,
        cx: &mut RewriteContext<'_>,
        hooks: &Hooks,
        opcode: Opcode,
        token: Token,
    ) -> Result<Fragment> {
        let at = &self.at;
        let mut code = Fragment::new();
        let count = self.signature.params.len() as u16 + u16::from(self.signature.has_this);
        let first = at.arguments.unwrap_or_default();
        for number in (0..count).rev() {
            code.stloc(first + number);
        }
        let skipped = code.label();
        if hooks.has(Stage::Before) {
            if let Some(result) = at.result {
                let operand = cx.type_operand(self.signature.return_type.unmodified())?;
                code.ldloca(result).initobj(operand);
            }
            self.generator.stage(&mut code, at, Stage::Before);
            code.ldloc(at.mask).ldc_i8(bits::SKIP.cast_signed()).and();
            code.brtrue(skipped);
        }
        for number in 0..count {
            code.ldloc(first + number);
        }
        emit_call(&mut code, opcode, (token, &self.callee));
        if let Some(result) = at.result {
            code.stloc(result);
        }
        code.mark(skipped);
        if hooks.has(Stage::After) {
            self.generator.stage(&mut code, at, Stage::After);
        }
        match at.result {
            Some(result) => code.ldloc(result),
            None => code.nop(),
        };
        Ok(code)
    }
}
