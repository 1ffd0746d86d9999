//! Follows the values on the stack along every way that control can take.

use std::collections::HashMap;

use super::kind::{Kind, Kinds, Want};
use super::rule::Wanted;
use super::stack::{Stack, Values};
use super::{MethodContext, Rule, Violation};
use crate::body::MethodBody;
use crate::code::{ClauseKind, END, NONE, UNPLACED};
use crate::instruction::{Instruction, InstructionId, Label};
use crate::signature::LocalsSig;

pub(super) struct Pass<'a> {
    pub(super) body: &'a MethodBody,
    pub(super) context: &'a MethodContext<'a>,
    pub(super) kinds: Kinds<'a>,
    pub(super) values: Values,
    pub(super) arguments: Vec<Kind>,
    /// `None` if they are unknown.
    pub(super) locals: Option<Vec<Kind>>,
    /// The stack with which control arrives, by node.
    arriving: Vec<Option<Stack>>,
    /// Where control was seen to arrive and was not followed yet.
    waiting: Vec<u32>,
    /// The nodes at which try regions begin, with their clauses.
    tries: Vec<(u32, usize)>,
    most: u32,
    deepest: u32,
    found: Vec<Violation>,
    /// Which of them are an instruction's.
    noted: HashMap<InstructionId, Vec<usize>>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        body: &'a MethodBody,
        context: &'a MethodContext<'a>,
        mut kinds: Kinds<'a>,
    ) -> Self {
        let signature = context.signature;
        let this = match context.this_is_pointer {
            _ if !signature.has_this || signature.explicit_this => None,
            true => Some(Kind::ByRef),
            false => Some(Kind::Object),
        };
        let mut arguments: Vec<Kind> = this.into_iter().collect();
        arguments.extend(signature.params.iter().map(|param| kinds.of(param)));
        let resolver = kinds.resolver;
        let mut of_locals = |locals: &LocalsSig| -> Vec<Kind> {
            locals.locals.iter().map(|local| kinds.of(local)).collect()
        };
        let locals = match (body.locals(), body.locals_token()) {
            (Some(locals), _) => Some(of_locals(locals)),
            (None, None) => Some(Vec::new()),
            (None, Some(token)) => resolver.locals(token).as_ref().map(&mut of_locals),
        };
        let mut tries: Vec<_> = body
            .code
            .clauses
            .iter()
            .enumerate()
            .map(|(index, clause)| (body.code.place(clause.try_start), index))
            .collect();
        tries.sort_unstable();
        Self {
            body,
            context,
            kinds,
            values: Values::default(),
            arguments,
            locals,
            arriving: vec![None; body.code.nodes.len()],
            waiting: Vec::new(),
            tries,
            most: 0,
            deepest: END,
            found: Vec::new(),
            noted: HashMap::new(),
        }
    }

    pub(super) fn run(mut self) -> Vec<Violation> {
        self.enter(self.body.code.first(), Stack::EMPTY);
        while let Some(node) = self.waiting.pop() {
            self.block(node);
        }
        let declared = self.body.max_stack();
        if self.most > declared
            && let Some(instruction) = self.body.code.instruction(InstructionId(self.deepest))
        {
            let depth = self.most;
            self.blame(&instruction, Rule::MaxStack { declared, depth });
        }
        self.found
    }

    /// Follows one way until it ends, or comes to where it may meet others.
    fn block(&mut self, first: u32) {
        let Some(mut stack) = self.arriving.get(first as usize).copied().flatten() else {
            return;
        };
        self.enter_tries(first, stack);
        let mut index = first;
        while let Some(instruction) = self.body.code.instruction(InstructionId(index)) {
            let Some(after) = self.step(&instruction, stack) else {
                return;
            };
            if after.depth > self.most {
                (self.most, self.deepest) = (after.depth, index);
            }
            for target in instruction.targets() {
                self.go(&instruction, self.place(target), after);
            }
            let next = instruction.code.next(instruction.id.0);
            if instruction.opcode().ends_block() || next == END {
                return;
            }
            // Branches and regions have labels.
            let met = self
                .body
                .code
                .node(next)
                .is_none_or(|node| node.labels != NONE);
            if met {
                self.go(&instruction, next, after);
                return;
            }
            (index, stack) = (next, after);
        }
    }

    fn place(&self, label: Label) -> u32 {
        self.body.code.place(label)
    }

    fn enter(&mut self, node: u32, stack: Stack) {
        if node != END
            && node != UNPLACED
            && let Some(slot) = self.arriving.get_mut(node as usize)
            && slot.is_none()
        {
            *slot = Some(stack);
            self.most = self.most.max(stack.depth);
            self.waiting.push(node);
        }
    }

    /// Control goes from an instruction to a node.
    fn go(&mut self, from: &Instruction<'_>, node: u32, stack: Stack) {
        let Some(known) = self.arriving.get(node as usize).copied().flatten() else {
            self.enter(node, stack);
            return;
        };
        if known.depth != stack.depth {
            let (depth, other) = (stack.depth, known.depth);
            self.blame(from, Rule::JoinDepth { depth, other });
            return;
        }
        match self.values.join(known, stack) {
            Ok(both) if both == known => {}
            Ok(both) => {
                if let Some(slot) = self.arriving.get_mut(node as usize) {
                    *slot = Some(both);
                    self.waiting.push(node);
                }
            }
            Err(clash) => {
                let rule = Rule::JoinKind {
                    value: stack.depth.saturating_sub(clash.from_top),
                    found: self.kinds.public(clash.other),
                    other: self.kinds.public(clash.kind),
                };
                self.blame(from, rule);
            }
        }
    }

    /// Try regions are entered with an empty stack; from there control may go to their handlers.
    fn enter_tries(&mut self, node: u32, stack: Stack) {
        let start = self.tries.partition_point(|&(at, _)| at < node);
        let mut index = start;
        while let Some(&(at, clause)) = self.tries.get(index)
            && at == node
        {
            index += 1;
            if index == start + 1
                && let Some(instruction) = self.body.code.instruction(InstructionId(node))
            {
                self.must_be_empty(&instruction, stack);
            }
            let Some(clause) = self.body.code.clauses.get(clause) else {
                continue;
            };
            let caught = match clause.kind {
                ClauseKind::Catch | ClauseKind::Filter => {
                    self.values.push(Stack::EMPTY, Kind::Object)
                }
                ClauseKind::Finally | ClauseKind::Fault => Stack::EMPTY,
            };
            self.enter(self.place(clause.handler_start), caught);
            if clause.kind == ClauseKind::Filter {
                self.enter(self.place(clause.filter), caught);
            }
        }
    }

    /// Notes a violation once, however often control comes by.
    pub(super) fn blame(&mut self, instruction: &Instruction<'_>, rule: Rule) {
        let violation = Violation {
            instruction: Some(instruction.id),
            offset: instruction.original_offset(),
            clause: None,
            rule,
        };
        let noted = self.noted.entry(instruction.id).or_default();
        if noted
            .iter()
            .all(|&index| self.found.get(index) != Some(&violation))
        {
            noted.push(self.found.len());
            self.found.push(violation);
        }
    }

    pub(super) fn blame_operand(
        &mut self,
        instruction: &Instruction<'_>,
        index: usize,
        wanted: Wanted,
        found: Kind,
    ) {
        let rule = Rule::Operand {
            operand: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
            wanted,
            found: self.kinds.public(found),
        };
        self.blame(instruction, rule);
    }

    pub(super) fn must_be_empty(&mut self, instruction: &Instruction<'_>, stack: Stack) {
        if stack.depth > 0 {
            self.blame(instruction, Rule::NotEmpty { depth: stack.depth });
        }
    }

    /// Whether there are so many values.
    pub(super) fn has(
        &mut self,
        instruction: &Instruction<'_>,
        stack: Stack,
        count: usize,
    ) -> Option<()> {
        let (depth, pops) = (stack.depth, u32::try_from(count).unwrap_or(u32::MAX));
        if pops > depth {
            self.blame(instruction, Rule::Underflow { depth, pops });
            return None;
        }
        Some(())
    }

    /// Takes values of any kind, the deepest first.
    pub(super) fn take<const N: usize>(
        &mut self,
        instruction: &Instruction<'_>,
        mut stack: Stack,
    ) -> Option<(Stack, [Kind; N])> {
        self.has(instruction, stack, N)?;
        let mut kinds = [Kind::Unknown; N];
        for slot in kinds.iter_mut().rev() {
            (*slot, stack) = self.values.pop(stack)?;
        }
        Some((stack, kinds))
    }

    /// Takes one value as the operand of that index.
    pub(super) fn pop(
        &mut self,
        instruction: &Instruction<'_>,
        stack: Stack,
        index: usize,
        want: Want,
    ) -> Option<Stack> {
        let (found, below) = self.values.pop(stack)?;
        if !want.accepts(found) {
            let wanted = match want {
                Want::Kind(kind) => Wanted::Kind(self.kinds.public(kind)),
                Want::Anything | Want::Convertible | Want::Pinnable => Wanted::Number,
                Want::Address => Wanted::Address,
                Want::Index => Wanted::Index,
                Want::Condition => Wanted::Condition,
                Want::Instance | Want::InstanceOrValue(_) => Wanted::Instance,
            };
            self.blame_operand(instruction, index, wanted, found);
        }
        Some(below)
    }
}
