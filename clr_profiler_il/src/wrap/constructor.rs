use std::ops::ControlFlow;

use crate::body::MethodBody;
use crate::edit::NotInstrumentable;
use crate::flow::{At, Domain, OUTSIDE, Ranks, Regions, Walk, effect_of, in_order};
use crate::instruction::InstructionId;
use crate::opcode::Opcode;
use crate::symbol::Resolver;

/// The known part of the stack. It must be empty after the call of the base constructor, so `this`
/// must be its lowest value before; no other value needs tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    depth: u32,
    /// Whether the lowest value is `this`.
    this: bool,
}

/// The call of the base constructor, or of another one of the type, in a constructor: the only one
/// that every path passes exactly once and that leaves nothing on the stack.
pub(super) fn base_call(
    body: &MethodBody,
    resolver: &dyn Resolver,
    ranks: &Ranks,
    regions: &Regions,
) -> Result<u32, NotInstrumentable> {
    let call = match in_order(&body.code, &mut BaseCall { resolver }) {
        ControlFlow::Break(found) => found?,
        ControlFlow::Continue(_) => return Err(NotInstrumentable::NoConstructorCall),
    };
    let rank = ranks.of(call);
    let refusal = NotInstrumentable::ConditionalConstructorCall(InstructionId(call));
    if regions.at(rank) != OUTSIDE {
        return Err(refusal);
    }
    for (from, instruction) in body.instructions().enumerate() {
        let before = from as u32 <= rank;
        let mut targets = instruction.targets();
        let crosses = targets.any(|label| (ranks.of(body.code.node_of(label)) <= rank) != before);
        if crosses || (before && instruction.opcode().is_exit()) {
            return Err(refusal);
        }
    }
    Ok(call)
}

/// Searches for the first call of a constructor on `this`.
struct BaseCall<'r> {
    resolver: &'r dyn Resolver,
}

impl Domain for BaseCall<'_> {
    type Stack = State;
    type Stop = Result<u32, NotInstrumentable>;

    const EMPTY: State = State {
        depth: 0,
        this: false,
    };

    fn caught(&mut self) -> State {
        State {
            depth: 1,
            this: false,
        }
    }

    fn step(&mut self, at: At<'_>, stack: State) -> Walk<Self, Option<State>> {
        let instruction = at.instruction;
        let opcode = instruction.opcode();
        if instruction.argument() == Some(0) && opcode != Opcode::Ldarg0 {
            // `ldarg.0` may not load the original `this`.
            return ControlFlow::Break(Err(NotInstrumentable::NoConstructorCall));
        }
        let Some(effect) = effect_of(instruction, &self.resolver) else {
            return ControlFlow::Break(Err(NotInstrumentable::UnknownCall(instruction.id)));
        };
        let pops = effect.pops.unwrap_or(stack.depth);
        if opcode == Opcode::Call
            && stack.this
            && pops == stack.depth
            && self.resolver.is_constructor(instruction.reference())
        {
            return ControlFlow::Break(Ok(instruction.id.0));
        }
        let left = stack.depth.saturating_sub(pops);
        let kept = left > 0 || opcode == Opcode::Dup;
        ControlFlow::Continue(Some(State {
            depth: left.saturating_add(effect.pushes),
            this: if kept {
                stack.this
            } else {
                opcode == Opcode::Ldarg0
            },
        }))
    }

    /// Code with different depths at one position is invalid: `this` cannot be located on its
    /// stack.
    fn join(&mut self, at: At<'_>, known: State, arriving: State) -> Walk<Self, State> {
        if at.reached && known.depth != arriving.depth {
            return ControlFlow::Break(Err(NotInstrumentable::NoConstructorCall));
        }
        ControlFlow::Continue(State {
            depth: known.depth,
            this: known.this && known == arriving,
        })
    }
}
