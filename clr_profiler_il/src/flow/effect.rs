use crate::instruction::Instruction;
use crate::opcode::Opcode;
use crate::symbol::{CallShape, Reference, Resolver, Symbol};
use crate::token::TokenTable;

/// The number of values that an instruction pops and pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// `None`: all values on the stack.
    pub(crate) pops: Option<u32>,
    pub(crate) pushes: u32,
}

impl Effect {
    const fn new(pops: u32, pushes: u32) -> Self {
        Self {
            pops: Some(pops),
            pushes,
        }
    }
}

/// The effect of an instruction; `None` if the resolver does not know its callee.
#[inline]
pub(crate) fn effect_of(instruction: &Instruction<'_>, resolver: &impl Resolver) -> Option<Effect> {
    effect(instruction.opcode(), || {
        call_shape(instruction.reference(), resolver)
    })
}

/// The effect of an opcode; for a call, of one with this shape. `None` if the shape is unknown.
#[inline]
pub(crate) fn effect(opcode: Opcode, shape: impl FnOnce() -> Option<CallShape>) -> Option<Effect> {
    let count = |count: Option<usize>| count.map_or(0, |count| count as u32);
    Some(match opcode {
        Opcode::Newobj => Effect::new(shape()?.constructor_arguments(), 1),
        Opcode::Call | Opcode::Callvirt => {
            let shape = shape()?;
            Effect::new(shape.arguments(), u32::from(shape.returns))
        }
        Opcode::Calli => {
            let shape = shape()?;
            let pops = shape.arguments().saturating_add(1);
            Effect::new(pops, u32::from(shape.returns))
        }
        Opcode::Ret | Opcode::Leave | Opcode::Endfinally => Effect {
            pops: None,
            pushes: 0,
        },
        _ => Effect::new(count(opcode.pop_count()), count(opcode.push_count())),
    })
}

/// The shape of a call; a symbol contains it.
pub(crate) fn call_shape(name: Reference<'_>, resolver: &impl Resolver) -> Option<CallShape> {
    match name {
        Reference::Symbol(Symbol::Method(method)) => Some(method.shape()),
        Reference::Symbol(Symbol::Signature(signature)) => Some(signature.into()),
        Reference::Token(token) if token.table() == TokenTable::STAND_ALONE_SIG => {
            resolver.signature_shape(name)
        }
        _ => resolver.method_shape(name),
    }
}
