use super::survey::Ranks;
use crate::body::MethodBody;
use crate::code::ClauseKind;
use crate::edit::NotInstrumentable;
use crate::instruction::InstructionId;
use crate::opcode::Opcode;
use crate::stack::effect;
use crate::symbol::Resolver;

/// What is known of the stack. Since it must be empty behind the call of the base constructor,
/// `this` must be its lowest value before; no other one needs to be followed.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    depth: u32,
    /// The lowest value is `this`.
    this: bool,
}

impl State {
    const HANDLER: Self = Self {
        depth: 1,
        this: false,
    };

    const fn merged(self, other: Self) -> Self {
        Self {
            depth: self.depth,
            this: self.this && other.this && self.depth == other.depth,
        }
    }

    const fn after(self, pops: u32, pushes: u32, opcode: Opcode) -> Self {
        let left = self.depth.saturating_sub(pops);
        let kept = left > 0 || matches!(opcode, Opcode::Dup);
        Self {
            depth: left.saturating_add(pushes),
            this: if kept {
                self.this
            } else {
                matches!(opcode, Opcode::Ldarg0)
            },
        }
    }
}

/// The call in a constructor of the base constructor, or of another one of the type: the one place
/// that every way passes exactly once, with nothing on the stack behind it.
pub(super) fn base_call(
    body: &MethodBody,
    resolver: &dyn Resolver,
    ranks: &Ranks,
) -> Result<u32, NotInstrumentable> {
    let call = find(body, resolver)?;
    let rank = ranks.of(call);
    let refusal = NotInstrumentable::ConditionalConstructorCall(InstructionId(call));
    let mut regions = body
        .code
        .clauses
        .iter()
        .flat_map(|clause| ranks.regions(body, clause));
    if regions.any(|region| region.range.contains(&rank)) {
        return Err(refusal);
    }
    for (from, instruction) in body.instructions().enumerate() {
        let before = from as u32 <= rank;
        let returns = matches!(instruction.opcode(), Opcode::Ret | Opcode::Jmp);
        let mut targets = instruction.targets();
        let crosses = targets.any(|label| (ranks.of(body.code.place(label)) <= rank) != before);
        if crosses || (before && returns) {
            return Err(refusal);
        }
    }
    Ok(call)
}

/// The first call of a constructor on `this`.
fn find(body: &MethodBody, resolver: &dyn Resolver) -> Result<u32, NotInstrumentable> {
    let mut recorded: Vec<Option<State>> = vec![None; body.code.nodes.len()];
    for clause in &body.code.clauses {
        if matches!(clause.kind, ClauseKind::Catch | ClauseKind::Filter) {
            for start in [clause.handler_start, clause.filter] {
                record(&mut recorded, body.code.place(start), State::HANDLER);
            }
        }
    }
    let mut arriving = Some(State::default());
    for instruction in body.instructions() {
        let known = recorded.get(instruction.id.0 as usize).copied().flatten();
        let state = match (arriving, known) {
            (Some(one), Some(other)) => one.merged(other),
            (Some(one), None) | (None, Some(one)) => one,
            // Where no earlier instruction goes, the stack is empty (III.1.7.5).
            (None, None) => State::default(),
        };
        let opcode = instruction.opcode();
        if instruction.argument() == Some(0) && opcode != Opcode::Ldarg0 {
            // What `ldarg.0` gives need not be `this`.
            return Err(NotInstrumentable::NoConstructorCall);
        }
        let (pops, pushes) = effect(&instruction, state.depth, &resolver)
            .map_err(|error| NotInstrumentable::UnknownCall(error.instruction))?;
        if opcode == Opcode::Call
            && state.this
            && pops == state.depth
            && resolver.is_constructor(instruction.reference())
        {
            return Ok(instruction.id.0);
        }
        let state = state.after(pops, pushes, opcode);
        for target in instruction.targets() {
            record(&mut recorded, body.code.place(target), state);
        }
        arriving = (!opcode.ends_block()).then_some(state);
    }
    Err(NotInstrumentable::NoConstructorCall)
}

fn record(recorded: &mut [Option<State>], node: u32, state: State) {
    if let Some(slot) = recorded.get_mut(node as usize) {
        *slot = Some(slot.map_or(state, |known| known.merged(state)));
    }
}
