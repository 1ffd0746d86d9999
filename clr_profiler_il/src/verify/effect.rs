//! The effect of each instruction on the values on the stack.

use std::sync::Arc;

use super::Rule;
use super::arithmetic::{Operator, is_integer};
use super::kind::{Kind, Want};
use super::operand::{given, wanted};
use super::rule::Expected;
use super::stack::Stack;
use super::values::Pass;
use crate::flow::call_shape;
use crate::instruction::{Instruction, Prefix};
use crate::opcode::{Opcode, ValueKind};
use crate::signature::{MethodSig, TypeSig};
use crate::symbol::{CallShape, Reference, ResolvedMethod, Symbol};
use crate::token::TokenTable;

/// The callee of a call.
enum Callee {
    Method(Arc<ResolvedMethod>),
    Signature(MethodSig),
    /// Only its shape is known.
    Shape(CallShape),
}

impl Callee {
    fn signature(&self) -> Option<&MethodSig> {
        match self {
            Self::Method(method) => Some(&method.signature),
            Self::Signature(signature) => Some(signature),
            Self::Shape(_) => None,
        }
    }

    fn shape(&self) -> CallShape {
        match self {
            Self::Method(method) => (&method.signature).into(),
            Self::Signature(signature) => signature.into(),
            Self::Shape(shape) => *shape,
        }
    }
}

/// The effect of an instruction, if it is one of the simple ones that are more than half of all.
#[derive(Clone, Copy)]
enum Simple {
    /// Not a simple one.
    No,
    Nothing,
    Push(Kind),
    /// Of an argument or local.
    Load,
    /// To a local.
    Store,
}

impl Simple {
    const fn of(opcode: Opcode) -> Self {
        if opcode.int32(0).is_some() {
            return Self::Push(Kind::Int32);
        }
        match opcode {
            Opcode::Nop | Opcode::Br => Self::Nothing,
            Opcode::Ldstr | Opcode::Ldnull => Self::Push(Kind::Object),
            Opcode::Ldarg
            | Opcode::LdargS
            | Opcode::Ldarg0
            | Opcode::Ldarg1
            | Opcode::Ldarg2
            | Opcode::Ldarg3
            | Opcode::Ldloc
            | Opcode::LdlocS
            | Opcode::Ldloc0
            | Opcode::Ldloc1
            | Opcode::Ldloc2
            | Opcode::Ldloc3 => Self::Load,
            Opcode::Stloc
            | Opcode::StlocS
            | Opcode::Stloc0
            | Opcode::Stloc1
            | Opcode::Stloc2
            | Opcode::Stloc3 => Self::Store,
            _ => Self::No,
        }
    }
}

/// By the number of the opcode.
#[expect(
    clippy::indexing_slicing,
    reason = "the index is below the number of opcodes"
)]
const SIMPLE: [Simple; Opcode::ALL.len()] = {
    let mut simple = [Simple::No; Opcode::ALL.len()];
    let mut number = 0;
    while number < simple.len() {
        simple[number] = Simple::of(Opcode::ALL[number]);
        number += 1;
    }
    simple
};

impl Pass<'_> {
    /// The stack after an instruction; `None` if it cannot be determined.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let opcode = instruction.opcode();
        match SIMPLE.get(opcode as usize).copied().unwrap_or(Simple::No) {
            Simple::No => {}
            Simple::Nothing => return Some(stack),
            Simple::Push(kind) => return Some(self.values.push(stack, kind)),
            Simple::Load => {
                let named = self.named(instruction);
                return Some(self.values.push(stack, named));
            }
            Simple::Store => {
                let want = Want::Kind(self.named(instruction));
                self.has(instruction, stack, 1)?;
                return self.pop(instruction, stack, 0, want);
            }
        }
        if let Some(operator) = Operator::of(opcode) {
            return self.binary(instruction, operator, stack);
        }
        match opcode {
            Opcode::Call | Opcode::Callvirt => self.call(instruction, stack),
            Opcode::Calli => self.calli(instruction, stack),
            Opcode::Newobj => self.newobj(instruction, stack),
            Opcode::Ret => self.ret(instruction, stack),
            Opcode::Neg | Opcode::Not => self.unary(instruction, stack),
            Opcode::Ldfld | Opcode::Ldflda | Opcode::Stfld => self.field(instruction, stack),
            Opcode::Dup => {
                let (below, [kind]) = self.take(instruction, stack)?;
                let one = self.values.push(below, kind);
                Some(self.values.push(one, kind))
            }
            Opcode::Leave => Some(Stack::EMPTY),
            Opcode::Jmp => {
                self.must_be_empty(instruction, stack);
                Some(Stack::EMPTY)
            }
            Opcode::Localloc => {
                let after = self.by_table(instruction, stack)?;
                let (_, below) = self.values.pop(after)?;
                self.must_be_empty(instruction, below);
                Some(after)
            }
            _ => self.by_table(instruction, stack),
        }
    }

    /// The effect according to the opcode table.
    fn by_table(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let opcode = instruction.opcode();
        let named = self.named(instruction);
        let pops = opcode.pops().unwrap_or(&[]);
        let mut stack = self.pop_by_table(instruction, stack, pops, |index, kind| {
            wanted(opcode, index, kind, named)
        })?;
        for &kind in opcode.pushes().unwrap_or(&[]) {
            stack = self.values.push(stack, given(opcode, kind, named));
        }
        Some(stack)
    }

    fn pop_by_table(
        &mut self,
        instruction: &Instruction<'_>,
        mut stack: Stack,
        pops: &[ValueKind],
        want: impl Fn(usize, ValueKind) -> Want,
    ) -> Option<Stack> {
        self.has(instruction, stack, pops.len())?;
        for (index, &kind) in pops.iter().enumerate().rev() {
            stack = self.pop(instruction, stack, index, want(index, kind))?;
        }
        Some(stack)
    }

    /// The kind of an instruction's own operand.
    fn named(&mut self, instruction: &Instruction<'_>) -> Kind {
        use crate::opcode::OperandKind;
        if let Some(number) = instruction.argument() {
            let known = self.arguments.get(usize::from(number)).copied();
            return self.variable(instruction, known, Rule::NoArgument(number));
        }
        if let Some(number) = instruction.local() {
            let known = match self.has_locals {
                true => self.locals.get(usize::from(number)).copied(),
                false => Some(Kind::Unknown),
            };
            return self.variable(instruction, known, Rule::NoLocal(number));
        }
        match instruction.opcode().operand_kind() {
            OperandKind::Type => self.kinds.named(instruction.reference()),
            OperandKind::Field => {
                match self.kinds.resolver.resolved_field(instruction.reference()) {
                    Some(field) => self.kinds.of(&field.field_type),
                    None => Kind::Unknown,
                }
            }
            _ => Kind::Unknown,
        }
    }

    fn variable(&mut self, instruction: &Instruction<'_>, kind: Option<Kind>, rule: Rule) -> Kind {
        kind.unwrap_or_else(|| {
            self.blame(instruction, rule);
            Kind::Unknown
        })
    }

    fn binary(
        &mut self,
        instruction: &Instruction<'_>,
        operator: Operator,
        stack: Stack,
    ) -> Option<Stack> {
        let (below, [left, right]) = self.take(instruction, stack)?;
        let mut result = operator.result(left, right);
        // Compilers compare type parameters where they know more than the constraints tell.
        if operator == Operator::Equality && left == right && self.kinds.is_parameter(left) {
            result = Some(Kind::Int32);
        }
        if result.is_none() {
            let (left, right) = (self.kinds.public(left), self.kinds.public(right));
            self.blame(instruction, Rule::Operands { left, right });
        }
        // A branch compares without a result.
        if instruction.opcode().push_count() == Some(0) {
            return Some(below);
        }
        Some(self.values.push(below, result.unwrap_or(Kind::Unknown)))
    }

    fn unary(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let (below, [kind]) = self.take(instruction, stack)?;
        let float = instruction.opcode() == Opcode::Neg && kind == Kind::Float;
        if float || is_integer(kind) {
            return Some(self.values.push(below, kind));
        }
        let wanted = match instruction.opcode() {
            Opcode::Neg => Expected::Number,
            _ => Expected::Integer,
        };
        self.blame_operand(instruction, 0, wanted, kind);
        Some(self.values.push(below, Kind::Unknown))
    }

    fn field(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let opcode = instruction.opcode();
        let (owner, named) = self.owner_and_type(instruction.reference());
        let of = match owner {
            None => Want::Instance,
            Some(Kind::Object) => Want::Kind(Kind::Object),
            Some(owner) if opcode == Opcode::Ldfld => Want::InstanceOrValue(owner),
            Some(_) => Want::Address,
        };
        let pops = opcode.pops().unwrap_or(&[]);
        let stack = self.pop_by_table(instruction, stack, pops, |index, _| match index {
            0 => of,
            _ => Want::Kind(named),
        })?;
        Some(match opcode {
            Opcode::Ldfld => self.values.push(stack, named),
            Opcode::Ldflda => self.values.push(stack, Kind::ByRef),
            _ => stack,
        })
    }

    /// The kinds of the type that declares a field, if it is known, and of the field.
    fn owner_and_type(&mut self, field: Reference<'_>) -> (Option<Kind>, Kind) {
        match self.kinds.resolver.resolved_field(field) {
            Some(field) => (
                self.owner_of(field.declaring_type.as_ref()),
                self.kinds.of(&field.field_type),
            ),
            None => {
                let owner = self.kinds.resolver.declaring_type(field);
                (self.owner_of(owner.as_ref()), Kind::Unknown)
            }
        }
    }

    /// The kind of the type that declares a method; `None` if unknown.
    fn owner(&mut self, method: Reference<'_>, callee: &Callee) -> Option<Kind> {
        match callee {
            Callee::Method(callee) => self.owner_of(callee.declaring_type.as_ref()),
            _ => {
                let owner = self.kinds.resolver.declaring_type(method);
                self.owner_of(owner.as_ref())
            }
        }
    }

    fn owner_of(&mut self, declaring_type: Option<&TypeSig>) -> Option<Kind> {
        let kind = self.kinds.of(declaring_type?);
        (kind != Kind::Unknown).then_some(kind)
    }

    fn callee(&mut self, instruction: &Instruction<'_>) -> Option<Callee> {
        let resolver = self.kinds.resolver;
        let name = instruction.reference();
        let signature = match name {
            Reference::Symbol(Symbol::Signature(signature)) => {
                Some(Callee::Signature(signature.clone()))
            }
            Reference::Token(token) if token.table() == TokenTable::STAND_ALONE_SIG => {
                resolver.signature(name).map(Callee::Signature)
            }
            _ => resolver.resolved_method(name).map(Callee::Method),
        };
        let callee = signature.or_else(|| call_shape(name, &resolver).map(Callee::Shape));
        if callee.is_none() {
            self.blame(instruction, Rule::UnknownCall);
        }
        callee
    }

    fn call(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let callee = self.callee(instruction)?;
        let shape = callee.shape();
        self.has(instruction, stack, shape.arguments() as usize)?;
        let this = usize::from(shape.has_this);
        let mut stack = self.parameters(instruction, stack, &callee, this)?;
        if shape.has_this {
            let want = self.this(instruction, &callee);
            stack = self.pop(instruction, stack, 0, want)?;
        }
        Some(self.returned(stack, &callee))
    }

    /// The kind of `this` in a call.
    fn this(&mut self, instruction: &Instruction<'_>, callee: &Callee) -> Want {
        let constrained = |prefix| matches!(prefix, Prefix::Constrained(_));
        if instruction.prefixes().any(constrained) {
            return Want::Address;
        }
        match self.owner(instruction.reference(), callee) {
            None => Want::Instance,
            Some(Kind::Object) => Want::Kind(Kind::Object),
            Some(_) => Want::Address,
        }
    }

    fn calli(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let callee = self.callee(instruction)?;
        let shape = callee.shape();
        let arguments = shape.arguments() as usize;
        self.has(instruction, stack, arguments.saturating_add(1))?;
        let pointer = Want::Kind(Kind::NativeInt);
        let stack = self.pop(instruction, stack, arguments, pointer)?;
        let this = usize::from(shape.has_this);
        let mut stack = self.parameters(instruction, stack, &callee, this)?;
        if shape.has_this {
            stack = self.pop(instruction, stack, 0, Want::Instance)?;
        }
        Some(self.returned(stack, &callee))
    }

    fn newobj(&mut self, instruction: &Instruction<'_>, stack: Stack) -> Option<Stack> {
        let callee = self.callee(instruction)?;
        self.has(instruction, stack, callee.shape().params as usize)?;
        let stack = self.parameters(instruction, stack, &callee, 0)?;
        let new = self.owner(instruction.reference(), &callee);
        Some(self.values.push(stack, new.unwrap_or(Kind::Unknown)))
    }

    /// Takes the arguments of the parameters; `first` operands are below them.
    fn parameters(
        &mut self,
        instruction: &Instruction<'_>,
        mut stack: Stack,
        callee: &Callee,
        first: usize,
    ) -> Option<Stack> {
        let Some(signature) = callee.signature() else {
            for index in (0..callee.shape().params as usize).rev() {
                let index = index.saturating_add(first);
                stack = self.pop(instruction, stack, index, Want::Anything)?;
            }
            return Some(stack);
        };
        for (index, param) in signature.params.iter().enumerate().rev() {
            let want = Want::Kind(self.kinds.of(param));
            stack = self.pop(instruction, stack, index.saturating_add(first), want)?;
        }
        Some(stack)
    }

    fn returned(&mut self, stack: Stack, callee: &Callee) -> Stack {
        let kind = match (callee.signature(), callee) {
            (Some(signature), _) if signature.return_type.is_void() => return stack,
            (Some(signature), _) => self.kinds.of(&signature.return_type),
            (None, Callee::Shape(shape)) if !shape.returns => return stack,
            (None, _) => Kind::Unknown,
        };
        self.values.push(stack, kind)
    }

    fn ret(&mut self, instruction: &Instruction<'_>, mut stack: Stack) -> Option<Stack> {
        let returns: &TypeSig = &self.context.signature.return_type;
        if !returns.is_void() {
            let want = Want::Kind(self.kinds.of(returns));
            self.has(instruction, stack, 1)?;
            stack = self.pop(instruction, stack, 0, want)?;
        }
        self.must_be_empty(instruction, stack);
        Some(Stack::EMPTY)
    }
}
