use std::ops::ControlFlow;

use super::{Arrivals, At, Domain, Walk};
use crate::code::{ClauseKind, Code, END};

/// The state of a pass over code in linear order (III.1.7.5). An instruction is executed with the
/// stack of the one before it. After an instruction that never falls through, it is executed with
/// the stack of an earlier branch, otherwise with an empty one.
#[derive(Clone, Debug)]
pub(crate) struct InOrder<S> {
    /// The stack after the last instruction, if it falls through.
    pub(crate) falling: Option<S>,
    /// Whether the position is known to be reachable. A loop body that is reached only by a later
    /// branch is not: it may be dead code.
    reached: bool,
    /// By node, or by label while labels have no positions.
    arrivals: Arrivals<S>,
}

impl<S: Copy> InOrder<S> {
    /// The state at the entry of the code.
    pub(crate) const fn new(entry: S, arrivals: Arrivals<S>) -> Self {
        Self {
            falling: Some(entry),
            reached: true,
            arrivals,
        }
    }

    /// Makes room for labels up to this one.
    pub(crate) fn make_room(&mut self, label: u32) {
        let count = label as usize + 1;
        if self.arrivals.0.len() < count {
            self.arrivals.0.resize(count, None);
        }
    }

    /// The stack at the next position in order.
    #[inline]
    pub(crate) fn arrive<B>(
        &mut self,
        at: u32,
        empty: S,
        join: impl FnOnce(S, S, bool) -> ControlFlow<B, S>,
    ) -> ControlFlow<B, S> {
        let known = self.arrivals.get(at);
        let stack = match (known, self.falling) {
            (Some(known), Some(arriving)) => join(known, arriving, self.reached)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => empty,
        };
        self.reached = known.is_some() || (self.reached && self.falling.is_some());
        self.arrivals.set(at, stack);
        ControlFlow::Continue(stack)
    }

    /// Adds the stack of a branch to its target.
    #[inline]
    pub(crate) fn bring<B>(
        &mut self,
        to: u32,
        stack: S,
        join: impl FnOnce(S, S, bool) -> ControlFlow<B, S>,
    ) -> ControlFlow<B> {
        let stack = match self.arrivals.get(to) {
            Some(known) => join(known, stack, self.reached)?,
            None => stack,
        };
        self.arrivals.set(to, stack);
        ControlFlow::Continue(())
    }
}

/// Runs a domain over the code once, from start to end, and returns the stack before each
/// instruction.
pub(crate) fn in_order<D: Domain>(code: &Code, domain: &mut D) -> Walk<D, Arrivals<D::Stack>> {
    let mut pass = InOrder::new(D::EMPTY, Arrivals::at(code.nodes.len()));
    for clause in &code.clauses {
        let stack = domain.at_handler(clause.kind);
        pass.arrivals.set(code.node_of(clause.handler_start), stack);
        if clause.kind == ClauseKind::Filter {
            pass.arrivals.set(code.node_of(clause.filter), stack);
        }
    }
    for instruction in code.instructions() {
        let at = |reached| At {
            instruction: &instruction,
            reached,
        };
        let stack = pass.arrive(instruction.id.0, D::EMPTY, |known, arriving, reached| {
            domain.join(at(reached), known, arriving)
        })?;
        let after = domain.step(at(pass.reached), stack)?;
        if let Some(after) = after
            && instruction.opcode().is_branch()
        {
            for target in instruction.targets() {
                let to = code.node_of(target);
                if to != END {
                    pass.bring(to, after, |known, arriving, reached| {
                        domain.join(at(reached), known, arriving)
                    })?;
                }
            }
        }
        pass.falling = after.filter(|_| !instruction.opcode().ends_block());
    }
    ControlFlow::Continue(pass.arrivals)
}
