use std::ops::ControlFlow;

use super::{Arrivals, At, Domain, Walk};
use crate::code::{ClauseKind, Code, END, NONE, UNPLACED};
use crate::instruction::InstructionId;

/// The reusable memory of a walk along all paths.
#[derive(Clone, Debug)]
pub(crate) struct PathsMemory<S> {
    arrivals: Arrivals<S>,
    /// Nodes whose stack has not been followed yet.
    waiting: Vec<u32>,
    /// The nodes where try regions begin, with their clauses.
    tries: Vec<(u32, usize)>,
}

impl<S> Default for PathsMemory<S> {
    fn default() -> Self {
        Self {
            arrivals: Arrivals::default(),
            waiting: Vec::new(),
            tries: Vec::new(),
        }
    }
}

/// The state of a walk along all paths.
struct Paths<'c, S> {
    code: &'c Code,
    arrivals: &'c mut Arrivals<S>,
    waiting: &'c mut Vec<u32>,
    tries: &'c mut Vec<(u32, usize)>,
}

/// Runs a domain along every path of control; repeats where a join changes a stack.
pub(crate) fn along_paths<D: Domain>(
    code: &Code,
    memory: &mut PathsMemory<D::Stack>,
    domain: &mut D,
) -> Walk<D, ()> {
    let tries = code.clauses.iter().enumerate();
    let tries = tries.map(|(index, clause)| (code.node_of(clause.try_start), index));
    let PathsMemory {
        arrivals,
        waiting,
        tries: sorted,
    } = memory;
    arrivals.restart(code.nodes.len());
    waiting.clear();
    sorted.clear();
    sorted.extend(tries);
    sorted.sort_unstable();
    let mut paths = Paths {
        code,
        arrivals,
        waiting,
        tries: sorted,
    };
    paths.enter(code.first(), || D::EMPTY);
    while let Some(node) = paths.waiting.pop() {
        paths.block(node, domain)?;
    }
    ControlFlow::Continue(())
}

impl<S: Copy + PartialEq> Paths<'_, S> {
    /// Follows one path to its end, or to a node where it may meet others.
    fn block<D: Domain<Stack = S>>(&mut self, first: u32, domain: &mut D) -> Walk<D, ()> {
        let Some(mut stack) = self.arrivals.get(first) else {
            return ControlFlow::Continue(());
        };
        self.enter_tries(first, stack, domain);
        let mut index = first;
        while let Some(instruction) = self.code.instruction(InstructionId(index)) {
            let at = At {
                instruction: &instruction,
                reached: true,
            };
            let Some(after) = domain.step(at, stack)? else {
                break;
            };
            let opcode = instruction.opcode();
            if opcode.has_targets() {
                for target in instruction.targets() {
                    self.go(at, self.code.node_of(target), after, domain)?;
                }
            }
            let next = self.code.next(index);
            if opcode.ends_block() || next == END {
                break;
            }
            // Targets of branches and bounds of regions have labels.
            let met = self.code.node(next).is_none_or(|node| node.labels != NONE);
            if met {
                self.go(at, next, after, domain)?;
                break;
            }
            (index, stack) = (next, after);
        }
        ControlFlow::Continue(())
    }

    /// Records the arrival of control at a node that has not been visited.
    fn enter(&mut self, node: u32, stack: impl FnOnce() -> S) {
        let is_node = node != END && node != UNPLACED;
        if is_node && self.arrivals.get(node).is_none() {
            self.arrivals.set(node, stack());
            self.waiting.push(node);
        }
    }

    /// Records the transfer of control from an instruction to a node.
    fn go<D: Domain<Stack = S>>(
        &mut self,
        from: At<'_>,
        node: u32,
        stack: S,
        domain: &mut D,
    ) -> Walk<D, ()> {
        if let Some(known) = self.arrivals.get(node) {
            let joined = domain.join(from, known, stack)?;
            if joined != known {
                self.arrivals.set(node, joined);
                self.waiting.push(node);
            }
        } else {
            self.enter(node, || stack);
        }
        ControlFlow::Continue(())
    }

    /// Where try regions begin, control may transfer to their handlers.
    fn enter_tries<D: Domain<Stack = S>>(&mut self, node: u32, stack: S, domain: &mut D) {
        let mut index = self.tries.partition_point(|&(at, _)| at < node);
        if self.tries.get(index).is_some_and(|&(at, _)| at == node)
            && let Some(instruction) = self.code.instruction(InstructionId(node))
        {
            domain.enter_try(&instruction, stack);
        }
        while let Some(&(at, clause)) = self.tries.get(index)
            && at == node
        {
            index += 1;
            if let Some(clause) = self.code.clauses.get(clause) {
                let handler = self.code.node_of(clause.handler_start);
                self.enter(handler, || domain.at_handler(clause.kind));
                if clause.kind == ClauseKind::Filter {
                    self.enter(self.code.node_of(clause.filter), || domain.caught());
                }
            }
        }
    }
}
