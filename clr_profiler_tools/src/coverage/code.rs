//! The instructions of a body with their ways in: by which edges control reaches each.

use clr_profiler::il::body::{HandlerKind, MethodBody};
use clr_profiler::il::instruction::{InstructionId, Operand, Position};
use clr_profiler::il::opcode::{FlowControl, Opcode};
use clr_profiler::il::symbol::Reference;
use clr_profiler::il::token::Token;

/// An instruction with the offsets of its targets.
pub(super) struct Step {
    pub(super) offset: u32,
    pub(super) id: InstructionId,
    pub(super) opcode: Opcode,
    /// The token of its operand.
    pub(super) token: Option<Token>,
    /// The number that it loads.
    pub(super) constant: Option<i32>,
    /// The local that it loads.
    pub(super) loads: Option<u16>,
    /// The local that it stores into.
    pub(super) stores: Option<u16>,
    /// In their order; a `switch` may name one several times.
    pub(super) targets: Vec<u32>,
}

impl Step {
    /// Whether control continues at one of several places.
    pub(super) fn is_conditional(&self) -> bool {
        self.opcode.flow_control() == FlowControl::ConditionalBranch
    }
}

/// The instructions of a body as it was compiled.
pub(crate) struct Code {
    pub(super) steps: Vec<Step>,
    /// The number of edges that lead to each instruction, without that of the instruction before.
    ways: Vec<u32>,
    /// The offsets of handlers, and of filters.
    pub(super) entries: Vec<u32>,
}

impl Code {
    pub(crate) fn of(body: &MethodBody) -> Self {
        let mut steps = Vec::new();
        for one in body.instructions() {
            let Some(offset) = one.original_offset() else {
                continue;
            };
            let targets = one.targets();
            let targets = targets.filter_map(|label| offset_of(body, body.position(label)?));
            let token = match one.operand() {
                Operand::Reference(Reference::Token(token)) => Some(token),
                _ => None,
            };
            steps.push(Step {
                offset,
                id: one.id(),
                opcode: one.opcode(),
                token,
                constant: one.int32(),
                loads: one.local().filter(|_| is_form_of(one.opcode(), "ldloc")),
                stores: one.local().filter(|_| is_form_of(one.opcode(), "stloc")),
                targets: targets.collect(),
            });
        }
        let mut entries = Vec::new();
        for clause in body.clauses() {
            entries.extend(offset_of(body, clause.handler.start));
            if let HandlerKind::Filter { start } = clause.kind {
                entries.extend(offset_of(body, start));
            }
        }
        let mut ways = vec![0; steps.len()];
        let branches = steps.iter().flat_map(|step| &step.targets);
        for at in branches.chain(&entries) {
            if let Some(ways) = find(&steps, *at).and_then(|index| ways.get_mut(index)) {
                *ways += 1;
            }
        }
        Self {
            steps,
            ways,
            entries,
        }
    }

    /// The number of edges to an instruction, without that of the instruction before.
    fn ways(&self, index: usize) -> u32 {
        self.ways.get(index).copied().unwrap_or_default()
    }

    /// Whether an instruction is the target of a branch, or begins a handler.
    pub(super) fn is_target(&self, index: usize) -> bool {
        self.ways(index) > 0
    }

    /// The index of the instruction at an offset.
    pub(super) fn find(&self, offset: u32) -> Option<usize> {
        find(&self.steps, offset)
    }

    /// Whether there is one edge alone to an instruction.
    pub(super) fn has_one_way(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|at| self.steps.get(at));
        let falls = before.is_none_or(|before| !before.opcode.ends_block());
        self.ways(index) + u32::from(falls) == 1
    }

    /// Whether control never reaches an instruction, because a branch before it has a constant condition: debug builds keep such
    /// code.
    pub(super) fn is_dead(&self, index: usize) -> bool {
        for at in (0..=index).rev() {
            let Some(before) = at.checked_sub(1).and_then(|at| self.steps.get(at)) else {
                return false;
            };
            if self.ways(at) > 0 {
                return false;
            }
            if before.opcode.ends_block() || before.is_conditional() {
                let test = at.checked_sub(2).and_then(|at| self.steps.get(at));
                let constant = test.and_then(|test| test.constant);
                return match before.opcode.long_form() {
                    Opcode::Brtrue => constant.is_some_and(|number| number != 0),
                    Opcode::Brfalse => constant == Some(0),
                    _ => false,
                };
            }
        }
        false
    }

    /// Whether hidden code continues the statement that begins at an offset. It does not if it begins with a variable, or with a value
    /// that the statement has not stored: of a `switch` over a variable, release builds have no line, so that the line before
    /// is that of another statement. That of a `switch` expression in a debug build has a branch with a constant condition alone.
    pub(super) fn continues(
        &self,
        statement: u32,
        hidden: u32,
        is_variable: impl Fn(u16, u32) -> bool,
    ) -> bool {
        let (Some(from), Some(to)) = (self.find(statement), self.find(hidden)) else {
            return true;
        };
        let Some(first) = self.steps.get(to) else {
            return true;
        };
        let statement = self.steps.get(from..to).unwrap_or_default();
        let is_marker = |step: &Step| {
            step.opcode == Opcode::Nop || step.constant.is_some() || !step.targets.is_empty()
        };
        if statement.iter().all(is_marker) && statement.iter().any(Step::is_conditional) {
            return true;
        }
        match first.loads {
            Some(local) => {
                let mut steps = statement.iter();
                !is_variable(local, hidden) && steps.any(|step| step.stores == Some(local))
            }
            None => !is_form_of(first.opcode, "ldarg"),
        }
    }

    /// The instructions at which a basic block begins.
    pub(super) fn leaders(&self) -> impl Iterator<Item = &Step> {
        let steps = self.steps.iter().enumerate();
        let leads = steps.filter(|(index, _)| {
            let before = index.checked_sub(1).and_then(|at| self.steps.get(at));
            let follows_jump =
                before.is_none_or(|before| before.opcode.ends_block() || before.is_conditional());
            follows_jump || self.ways(*index) > 0
        });
        leads.map(|(_, step)| step)
    }

    /// Whether control can return to an earlier instruction.
    pub(super) fn has_loops(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.targets.iter().any(|target| *target <= step.offset))
    }
}

/// Whether an opcode is another one or a shorter form of it, such as `ldloc.0` of `ldloc`.
fn is_form_of(opcode: Opcode, name: &str) -> bool {
    let rest = opcode.mnemonic().strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The index of the instruction at an offset.
fn find(steps: &[Step], offset: u32) -> Option<usize> {
    steps.binary_search_by_key(&offset, |step| step.offset).ok()
}

fn offset_of(body: &MethodBody, position: Position) -> Option<u32> {
    match position {
        Position::Before(id) => body.instruction(id)?.original_offset(),
        Position::End => None,
    }
}
