use std::ops::Range;

use super::constructor::base_call;
use super::{Constructors, MethodShape, TailCalls, Wrap};
use crate::body::MethodBody;
use crate::code::{Clause, ClauseKind, END};
use crate::edit::{EditError, NotInstrumentable};
use crate::instruction::{InstructionId, Prefix};
use crate::opcode::Opcode;
use crate::signature::CallingConvention;

/// The places of the instructions in the order of the code.
pub(super) struct Ranks {
    by_node: Vec<u32>,
    count: u32,
}

/// Code in a region.
pub(super) struct Covered {
    pub(super) range: Range<u32>,
    /// Nothing may leave it.
    closed: bool,
}

impl Ranks {
    fn new(body: &MethodBody) -> Self {
        let mut by_node = vec![0; body.code.nodes.len()];
        let mut count = 0;
        for instruction in body.instructions() {
            if let Some(slot) = by_node.get_mut(instruction.id.0 as usize) {
                *slot = count;
            }
            count += 1;
        }
        Self { by_node, count }
    }

    pub(super) fn of(&self, node: u32) -> u32 {
        if node == END {
            return self.count;
        }
        self.by_node.get(node as usize).copied().unwrap_or(0)
    }

    pub(super) fn regions(
        &self,
        body: &MethodBody,
        clause: &Clause,
    ) -> impl Iterator<Item = Covered> + use<> {
        let rank = |label| self.of(body.code.place(label));
        let handler_start = rank(clause.handler_start);
        let finally = matches!(clause.kind, ClauseKind::Finally | ClauseKind::Fault);
        let covered = |range, closed| Covered { range, closed };
        [
            covered(rank(clause.try_start)..rank(clause.try_end), false),
            covered(handler_start..rank(clause.handler_end), finally),
            // Empty, unless it is a filter.
            covered(rank(clause.filter)..handler_start, true),
        ]
        .into_iter()
    }
}

/// A `ret` of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) node: u32,
    /// It stands in a region that was there, although it should not.
    pub(super) in_region: bool,
}

/// What of a body matters for wrapping it.
pub(super) struct Survey {
    /// The first instruction that is wrapped.
    pub(super) start: u32,
    pub(super) returns: Vec<Return>,
}

impl Survey {
    /// Looks at a body, and refuses what cannot be wrapped.
    pub(super) fn new(
        body: &MethodBody,
        wrap: &Wrap,
        shape: &MethodShape<'_>,
    ) -> Result<Self, EditError> {
        if shape.signature().convention == CallingConvention::VarArg {
            return Err(NotInstrumentable::VarArg.into());
        }
        let last = body.code.node(body.code.last());
        let last = last.filter(|_| body.code.last() != END);
        if !last.ok_or(EditError::EmptyRegion)?.opcode.ends_block() {
            let id = InstructionId(body.code.last());
            return Err(NotInstrumentable::FallsOffTheEnd(id).into());
        }
        let mut survey = Self {
            start: body.code.first(),
            returns: Vec::new(),
        };
        for instruction in body.instructions() {
            match instruction.opcode() {
                Opcode::Ret => survey.returns.push(Return {
                    node: instruction.id.0,
                    in_region: false,
                }),
                Opcode::Jmp => return Err(NotInstrumentable::Jmp(instruction.id).into()),
                _ if wrap.tail_calls == TailCalls::Skip
                    && instruction.prefixes().any(|prefix| prefix == Prefix::Tail) =>
                {
                    return Err(NotInstrumentable::TailCall(instruction.id).into());
                }
                _ => {}
            }
        }
        let constructor = shape
            .constructor
            .filter(|_| wrap.constructors == Constructors::AfterBaseCall);
        if body.code.clauses.is_empty() && constructor.is_none() {
            return Ok(survey);
        }
        let ranks = Ranks::new(body);
        survey.locate_returns(body, &ranks)?;
        if let Some(resolver) = constructor {
            let call = base_call(body, resolver, &ranks)?;
            survey.start = body.code.next(call);
        }
        Ok(survey)
    }

    /// Notes which `ret`s stand in regions, in time that does not multiply with the clauses.
    fn locate_returns(&mut self, body: &MethodBody, ranks: &Ranks) -> Result<(), EditError> {
        if self.returns.is_empty() || body.code.clauses.is_empty() {
            return Ok(());
        }
        // How many regions begin, less those that end, before each instruction; all, and closed ones.
        let mut changes = vec![[0_i32; 2]; ranks.count as usize + 1];
        for region in body
            .code
            .clauses
            .iter()
            .flat_map(|clause| ranks.regions(body, clause))
        {
            if region.range.is_empty() {
                continue;
            }
            for (at, change) in [(region.range.start, 1), (region.range.end, -1)] {
                if let Some([all, closed]) = changes.get_mut(at as usize) {
                    *all += change;
                    *closed += i32::from(region.closed) * change;
                }
            }
        }
        let mut open = [0, 0];
        let mut done = 0;
        for one in &mut self.returns {
            let rank = ranks.of(one.node) as usize;
            for [all, closed] in changes.get(done..=rank).unwrap_or(&[]) {
                open = [open[0] + all, open[1] + closed];
            }
            done = rank + 1;
            one.in_region = open[0] > 0;
            if open[1] > 0 {
                let id = InstructionId(one.node);
                return Err(NotInstrumentable::RetInHandler(id).into());
            }
        }
        Ok(())
    }
}
