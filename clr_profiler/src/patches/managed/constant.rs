//! Methods of patch classes that Harmony runs before the program, such as `TargetMethod`: their code is interpreted here, which
//! works if it calls nothing but the usual look-ups of types and methods.

use std::collections::BTreeMap;

use super::lookup::{Items, Named, Value, accessor};
use super::names::{TypeText, assembly_of};
use crate::error::{Error, Result};
use clr_metadata::token::{
    MemberRef, MethodDef, MethodSpec, Token, TypeDef, TypeToken, UserString,
};
use clr_metadata::{Assembly, MemberRefParent, MethodDefOrRef};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::instruction::{Instruction, Label, Operand, Position};
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{MethodSig, TypeNames, TypeSig, TypeSpecSig};
use clr_profiler_il::symbol::Reference;

/// The number of instructions after which the code is suspected not to end.
const STEP_LIMIT: usize = 20_000;

/// The state of a run.
struct Run<'a, 'b> {
    assembly: &'b Assembly<'a>,
    stack: Vec<Value>,
    locals: Vec<Value>,
    /// Those of the iterator.
    fields: BTreeMap<Token, Value>,
    items: Items,
    steps: usize,
}

/// Why code is no constant.
fn unknown(what: &str) -> Error {
    Error::other(what.to_owned())
}

fn by_instruction(opcode: Opcode) -> Error {
    unknown(&format!("it has the instruction `{}`", opcode.mnemonic()))
}

/// Adds the abilities of such code to the reason.
fn explained(problem: Error, can: &str) -> Error {
    Error::other(format!(
        "{problem}: it is read, not run, since patches are known before the program runs: it can only {can}"
    ))
}

const TARGETS: &str = "look up types and methods by constants: name the method by an attribute, \
                       `HarmonyPatch(typeof(X), \"Method\")`, or several by a pattern, `ManagedPatches::class`";

/// The methods that `TargetMethod` or `TargetMethods` returns.
pub(super) fn targets(assembly: &Assembly<'_>, method: MethodDef) -> Result<Vec<Named>> {
    let mut run = Run::new(assembly);
    let found = run.result(method).and_then(|found| match found {
        Some(Value::Items(number)) => Ok(run.items.get(number).cloned().unwrap_or_default()),
        Some(Value::Iterator(class)) => run.iterated(class),
        found => Ok(found.into_iter().collect()),
    });
    let found = found.and_then(|found| {
        let found = found.into_iter().map(|one| match one {
            Value::Method(named) => Some(named),
            _ => None,
        });
        let found: Option<Vec<Named>> = found.collect();
        let found = found.filter(|found| !found.is_empty());
        found.ok_or_else(|| unknown("it returns no method"))
    });
    found.map_err(|problem| explained(problem, TARGETS))
}

/// Whether the patches of a class are applied, as its `Prepare` says.
pub(super) fn is_prepared(assembly: &Assembly<'_>, method: MethodDef) -> Result<bool> {
    let result = match Run::new(assembly).result(method) {
        Ok(None) => return Ok(true),
        Ok(Some(Value::Number(number))) => return Ok(number != 0),
        Ok(Some(_)) => unknown("it returns no bool"),
        Err(problem) => problem,
    };
    Err(explained(result, "return a constant"))
}

/// Refuses a `Cleanup` that does something.
pub(super) fn check_cleanup(assembly: &Assembly<'_>, method: MethodDef) -> Result<()> {
    let ran = Run::new(assembly).result(method);
    ran.map(drop)
        .map_err(|problem| explained(problem, "do nothing"))
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(assembly: &'b Assembly<'a>) -> Self {
        Self {
            assembly,
            stack: Vec::new(),
            locals: Vec::new(),
            fields: BTreeMap::new(),
            items: Items(Vec::new()),
            steps: 0,
        }
    }

    /// The value that a method returns; `None` if it returns nothing.
    fn result(&mut self, method: MethodDef) -> Result<Option<Value>> {
        let code = self.assembly.body(method).map_err(Error::other)?;
        let code = code.ok_or_else(|| unknown("it has no code"))?;
        let body = MethodBody::decode(code).map_err(Error::other)?;
        if body.clauses().next().is_some() {
            return Err(unknown("it handles exceptions"));
        }
        (self.stack, self.locals) = (Vec::new(), Vec::new());
        let all: Vec<Instruction<'_>> = body.instructions().collect();
        let position = |label: Label| match body.position(label) {
            Some(Position::Before(id)) => all.iter().position(|one| one.id() == id),
            _ => None,
        };
        let mut at = 0;
        while let Some(one) = all.get(at) {
            at += 1;
            self.steps += 1;
            if self.steps > STEP_LIMIT {
                return Err(unknown("it takes too long"));
            }
            if one.opcode() == Opcode::Ret {
                return Ok(self.stack.pop());
            }
            let target = match one.operand() {
                Operand::Target(label) => self.branches(one.opcode())?.then_some(label),
                Operand::Switch(labels) => match self.pop()? {
                    Value::Number(number) => {
                        let index = usize::try_from(number).ok();
                        index.and_then(|index| labels.get(index)).copied()
                    }
                    _ => return Err(unknown("it decides by a value that is no constant")),
                },
                _ => {
                    self.step(one)?;
                    None
                }
            };
            if let Some(label) = target {
                at = position(label).ok_or_else(|| unknown("its code is invalid"))?;
            }
        }
        Err(unknown("its code is invalid"))
    }

    /// Whether a branch is taken.
    fn branches(&mut self, opcode: Opcode) -> Result<bool> {
        let opcode = opcode.long_form();
        if opcode == Opcode::Br {
            return Ok(true);
        }
        let last = self.pop()?;
        if matches!(opcode, Opcode::Brtrue | Opcode::Brfalse) {
            let is_true = !matches!(last, Value::Null | Value::Number(0));
            return Ok(is_true == (opcode == Opcode::Brtrue));
        }
        let (Value::Number(left), Value::Number(right)) = (self.pop()?, last) else {
            return Err(unknown("it decides by a value that is no constant"));
        };
        Ok(match opcode {
            Opcode::Beq => left == right,
            Opcode::BneUn => left != right,
            Opcode::Blt => left < right,
            Opcode::Ble => left <= right,
            Opcode::Bgt => left > right,
            Opcode::Bge => left >= right,
            other => return Err(by_instruction(other)),
        })
    }

    /// The results of an iterator, whose class the compiler has made.
    fn iterated(&mut self, class: TypeDef) -> Result<Vec<Value>> {
        let metadata = &self.assembly.metadata;
        let named = |name: &str| {
            let mut methods = metadata.methods(class);
            methods.find(|method| metadata.member_name(*method) == Ok(name))
        };
        let field = |name: &str| {
            let mut fields = metadata.fields(class);
            fields.find(|field| metadata.member_name(*field) == Ok(name))
        };
        let parts = (
            named("MoveNext"),
            field("<>1__state"),
            field("<>2__current"),
        );
        let (Some(next), Some(state), Some(current)) = parts else {
            return Err(unknown("it makes an object of a class of its own"));
        };
        self.fields = BTreeMap::from([(state.into(), Value::Number(0))]);
        let mut found = Vec::new();
        while self.result(next)? == Some(Value::Number(1)) {
            let value = self.fields.get(&current.into());
            found.push(value.cloned().unwrap_or(Value::Null));
        }
        Ok(found)
    }

    fn pop(&mut self) -> Result<Value> {
        self.stack
            .pop()
            .ok_or_else(|| unknown("its code is invalid"))
    }

    fn step(&mut self, one: &Instruction<'_>) -> Result<()> {
        if let Some(number) = one.int32() {
            self.stack.push(Value::Number(number));
            return Ok(());
        }
        if let Some(local) = one.local() {
            return self.local(one.opcode(), usize::from(local));
        }
        let token = match one.operand() {
            Operand::Reference(Reference::Token(token)) => Some(token),
            _ => None,
        };
        match (one.opcode(), token) {
            (Opcode::Nop | Opcode::Castclass | Opcode::Isinst | Opcode::ConvI4, _) => {}
            (Opcode::Ldnull, _) => self.stack.push(Value::Null),
            (Opcode::Dup, _) => {
                let value = self.pop()?;
                self.stack.extend([value.clone(), value]);
            }
            (Opcode::Pop, _) => drop(self.pop()?),
            (Opcode::Ldstr, Some(token)) => {
                let token = UserString::try_from(token).map_err(Error::other)?;
                let text = self
                    .assembly
                    .metadata
                    .user_string(token)
                    .map_err(Error::other)?;
                self.stack.push(Value::Text(text.to_string_lossy()));
            }
            (Opcode::Ldtoken, Some(token)) => {
                let class = TypeToken::try_from(token).map_err(|_| unknown("it names no type"))?;
                self.stack.push(Value::Type(self.class(class)?, false));
            }
            (Opcode::Newarr, Some(_)) => {
                let Value::Number(count) = self.pop()? else {
                    return Err(unknown("the length of an array is no constant"));
                };
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(STEP_LIMIT);
                self.new_items(vec![Value::Null; count]);
            }
            (Opcode::StelemRef, _) => {
                let (value, index, array) = (self.pop()?, self.pop()?, self.pop()?);
                let place = match (index, array) {
                    (Value::Number(index), Value::Items(number)) => {
                        let items = self.items.get_mut(number);
                        let index = usize::try_from(index).unwrap_or(usize::MAX);
                        items.and_then(|items| items.get_mut(index))
                    }
                    _ => None,
                };
                *place.ok_or_else(|| unknown("an element of an array is no constant"))? = value;
            }
            (Opcode::LdelemRef, _) => {
                let (index, array) = (self.pop()?, self.pop()?);
                let found = match (index, array) {
                    (Value::Number(index), Value::Items(number)) => {
                        let items = self.items.get(number);
                        let index = usize::try_from(index).unwrap_or(usize::MAX);
                        items.and_then(|items| items.get(index)).cloned()
                    }
                    _ => None,
                };
                let found =
                    found.ok_or_else(|| unknown("an element of an array is no constant"))?;
                self.stack.push(found);
            }
            (Opcode::Ldlen, _) => {
                let length = match self.pop()? {
                    Value::Items(number) => self.items.get(number).map(Vec::len),
                    _ => None,
                };
                let length = length.and_then(|length| i32::try_from(length).ok());
                let length =
                    length.ok_or_else(|| unknown("the length of an array is no constant"))?;
                self.stack.push(Value::Number(length));
            }
            (Opcode::Add, _) => match (self.pop()?, self.pop()?) {
                (Value::Number(one), Value::Number(other)) => {
                    self.stack.push(Value::Number(one.wrapping_add(other)));
                }
                _ => return Err(by_instruction(Opcode::Add)),
            },
            // Arguments are those of an iterator: the others have no values.
            (Opcode::Ldarg0, _) if !self.fields.is_empty() => self.stack.push(Value::This),
            (Opcode::Ldfld, Some(field)) => match self.pop()? {
                Value::This => {
                    let value = self.fields.get(&field).cloned();
                    self.stack.push(value.unwrap_or(Value::Null));
                }
                _ => return Err(by_instruction(Opcode::Ldfld)),
            },
            (Opcode::Stfld, Some(field)) => match (self.pop()?, self.pop()?) {
                (value, Value::This) => drop(self.fields.insert(field, value)),
                _ => return Err(by_instruction(Opcode::Stfld)),
            },
            (Opcode::Ldsfld, Some(token)) => self.static_field(token)?,
            (Opcode::Call | Opcode::Callvirt, Some(token)) => self.call(token, false)?,
            (Opcode::Newobj, Some(token)) => self.call(token, true)?,
            (other, _) => return Err(by_instruction(other)),
        }
        Ok(())
    }

    fn local(&mut self, opcode: Opcode, local: usize) -> Result<()> {
        let mnemonic = opcode.mnemonic();
        if mnemonic.starts_with("stloc") {
            let value = self.pop()?;
            if self.locals.len() <= local {
                self.locals.resize(local + 1, Value::Null);
            }
            if let Some(place) = self.locals.get_mut(local) {
                *place = value;
            }
            return Ok(());
        }
        match self.locals.get(local) {
            Some(value) if !mnemonic.starts_with("ldloca") => self.stack.push(value.clone()),
            _ => return Err(unknown("it uses a local that it has not set")),
        }
        Ok(())
    }

    fn new_items(&mut self, items: Vec<Value>) {
        self.stack.push(Value::Items(self.items.0.len()));
        self.items.0.push(items);
    }

    /// `Type.EmptyTypes`, and no other.
    fn static_field(&mut self, token: Token) -> Result<()> {
        let name = self.member(token)?;
        match name == "System.Type.EmptyTypes" {
            true => self.new_items(Vec::new()),
            false => return Err(unknown(&format!("it reads the field `{name}`"))),
        }
        Ok(())
    }

    /// The name of a method or field with that of its type.
    fn member(&self, token: Token) -> Result<String> {
        let metadata = &self.assembly.metadata;
        let name = metadata.member_name(token).map_err(Error::other)?;
        let Ok(member) = MemberRef::try_from(token) else {
            return Ok(name.to_owned());
        };
        let class = match metadata.row(member).map_err(Error::other)?.parent {
            MemberRefParent::TypeRef(class) => class.into(),
            MemberRefParent::TypeDef(class) => class.into(),
            MemberRefParent::TypeSpec(class) => self.definition(class.into())?,
            _ => return Ok(name.to_owned()),
        };
        let class = metadata.full_name(class).map_err(Error::other)?;
        Ok(format!("{class}.{name}"))
    }

    /// The generic type of an instance.
    fn definition(&self, class: TypeToken) -> Result<TypeToken> {
        let TypeToken::Spec(spec) = class else {
            return Ok(class);
        };
        let row = self.assembly.metadata.row(spec).map_err(Error::other)?;
        let signature: TypeSpecSig = self
            .assembly
            .metadata
            .signature(row.signature)
            .map_err(Error::other)?;
        match signature.type_sig {
            TypeSig::GenericInstance { definition, .. } => Ok(definition),
            _ => Err(unknown("it uses a type that has no name")),
        }
    }

    /// A type as text.
    fn class(&self, class: TypeToken) -> Result<TypeText> {
        if let TypeToken::Spec(spec) = class {
            let row = self.assembly.metadata.row(spec).map_err(Error::other)?;
            let signature = self.assembly.metadata.signature(row.signature);
            let signature: TypeSpecSig = signature.map_err(Error::other)?;
            return self.of_sig(&signature.type_sig);
        }
        Ok(TypeText {
            path: self.path(class)?,
            assembly: assembly_of(&self.assembly.metadata, class).map(str::to_owned),
            ..TypeText::default()
        })
    }

    fn path(&self, class: TypeToken) -> Result<String> {
        let name = self
            .assembly
            .metadata
            .full_name(class)
            .map_err(Error::other)?;
        Ok(name.replace('/', "+"))
    }

    fn of_sig(&self, sig: &TypeSig) -> Result<TypeText> {
        let with = |inner: &TypeSig, suffix: &str| {
            let mut text = self.of_sig(inner)?;
            text.suffix.push_str(suffix);
            Ok(text)
        };
        match sig.unmodified() {
            TypeSig::Class(class) | TypeSig::ValueType(class) => self.class(*class),
            TypeSig::SzArray(of) => with(of, "[]"),
            TypeSig::ByRef(of) => with(of, "&"),
            TypeSig::Pointer(of) => with(of, "*"),
            TypeSig::GenericInstance {
                definition,
                arguments,
                ..
            } => {
                let arguments = arguments.iter().map(|one| self.of_sig(one));
                Ok(TypeText {
                    arguments: arguments.collect::<Result<_>>()?,
                    ..self.class(*definition)?
                })
            }
            TypeSig::Var(_) | TypeSig::MVar(_) | TypeSig::FunctionPointer(_) => {
                Err(unknown("it uses a type that has no name"))
            }
            // Patterns know the names of C#.
            simple => Ok(TypeText {
                path: simple.display(&NoNames).to_string(),
                ..TypeText::default()
            }),
        }
    }

    fn call(&mut self, token: Token, is_new: bool) -> Result<()> {
        let token = match MethodSpec::try_from(token) {
            Ok(spec) => match self
                .assembly
                .metadata
                .row(spec)
                .map_err(Error::other)?
                .method
            {
                MethodDefOrRef::MethodDef(method) => method.into(),
                MethodDefOrRef::MemberRef(member) => member.into(),
            },
            Err(_) => token,
        };
        if let (true, Ok(constructor)) = (is_new, MethodDef::try_from(token)) {
            let class = self.assembly.metadata.method_owner(constructor);
            // The first state.
            self.pop()?;
            let class = class.map_err(Error::other)?;
            self.stack.push(Value::Iterator(class));
            return Ok(());
        }
        let name = self.member(token)?;
        let refuse = || unknown(&format!("it calls `{name}`"));
        // A method of the patches themselves may do anything.
        let member = MemberRef::try_from(token).map_err(|_| refuse())?;
        let signature = self
            .assembly
            .metadata
            .row(member)
            .map_err(Error::other)?
            .signature;
        let signature: MethodSig = self
            .assembly
            .metadata
            .signature(signature)
            .map_err(Error::other)?;
        let count = signature.params.len() + usize::from(signature.has_this && !is_new);
        let start = self.stack.len().checked_sub(count).ok_or_else(refuse)?;
        let arguments = self.stack.split_off(start);
        let name_of = |prefix: &str| name.strip_prefix(prefix);
        if let Some(method) = name_of("HarmonyLib.AccessTools.") {
            let value = self
                .items
                .access_tools(method, &arguments)
                .ok_or_else(refuse)?;
            self.stack.push(value);
        } else if let Some(method) = name_of("System.Type.") {
            let value = self.items.of_type(method, &arguments).ok_or_else(refuse)?;
            self.stack.push(value);
        } else if let Some(method) = name_of("System.Reflection.PropertyInfo.") {
            let value = accessor(method, &arguments).ok_or_else(refuse)?;
            self.stack.push(value);
        } else if name == "System.Array.Empty"
            || name == "System.Collections.Generic.List`1..ctor" && is_new
        {
            self.new_items(Vec::new());
        } else if name == "System.Collections.Generic.List`1.Add" {
            let [Value::Items(number), value] = &arguments[..] else {
                return Err(refuse());
            };
            let items = self.items.get_mut(*number).ok_or_else(refuse)?;
            items.push(value.clone());
        } else {
            return Err(refuse());
        }
        Ok(())
    }
}

/// Names that are never asked for.
struct NoNames;

impl TypeNames for NoNames {
    fn type_name(&self, _: TypeToken, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
        out.write_str("?")
    }
}
