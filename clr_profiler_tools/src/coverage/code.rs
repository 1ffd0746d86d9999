//! The instructions of a body with their ways in: by which edges control reaches each.

use std::ops::Deref;
use std::slice;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::opcode::{FlowControl, Opcode};
use clr_profiler::il::token::Token;

/// An instruction with the offsets of its targets.
pub(super) struct Step {
    pub(super) offset: u32,
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
    pub(super) targets: Targets,
}

/// The targets of an instruction, in memory of their own only if there are several.
pub(super) enum Targets {
    None,
    One(u32),
    Many(Vec<u32>),
}

impl Targets {
    fn of(mut all: impl Iterator<Item = u32>) -> Self {
        match (all.next(), all.next()) {
            (None, _) => Self::None,
            (Some(one), None) => Self::One(one),
            (Some(first), Some(second)) => {
                Self::Many([first, second].into_iter().chain(all).collect())
            }
        }
    }
}

impl Deref for Targets {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::None => &[],
            Self::One(one) => slice::from_ref(one),
            Self::Many(all) => all,
        }
    }
}

impl Step {
    /// Whether control continues at one of several places.
    pub(super) fn is_conditional(&self) -> bool {
        self.opcode.flow_control() == FlowControl::ConditionalBranch
    }
}

/// The instructions of a body as it was compiled.
#[derive(Default)]
pub(crate) struct Code {
    pub(super) steps: Vec<Step>,
    /// The number of edges that lead to each instruction, without that of the instruction before.
    ways: Vec<u32>,
    /// The offsets of handlers, and of filters.
    pub(super) entries: Vec<u32>,
}

impl Code {
    pub(crate) fn of(body: &MethodBody) -> Self {
        let mut code = Self::default();
        code.read(body);
        code
    }

    /// Whether its memory may be kept for other bodies.
    #[cfg(feature = "profilers")]
    pub(crate) const fn is_small(&self) -> bool {
        self.steps.capacity() < 0x1000
    }

    /// Reads the instructions of another body, in the same memory.
    pub(crate) fn read(&mut self, body: &MethodBody) {
        let Self {
            steps,
            ways,
            entries,
        } = self;
        let all = body.original_instructions().map(|one| Step {
            offset: one.offset(),
            opcode: one.opcode(),
            token: one.token(),
            constant: one.int32(),
            loads: one.local().filter(|_| is_load(one.opcode())),
            stores: one.local().filter(|_| is_store(one.opcode())),
            targets: Targets::of(one.targets()),
        });
        steps.clear();
        steps.extend(all);
        *entries = body.handler_offsets();
        ways.clear();
        ways.resize(steps.len(), 0);
        let branches = steps.iter().flat_map(|step| step.targets.iter());
        for at in branches.chain(&*entries) {
            if let Some(ways) = find(steps, *at).and_then(|index| ways.get_mut(index)) {
                *ways += 1;
            }
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
            None => !is_argument(first.opcode),
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

/// Whether an opcode loads the value of a local.
const fn is_load(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Ldloc0
            | Opcode::Ldloc1
            | Opcode::Ldloc2
            | Opcode::Ldloc3
            | Opcode::LdlocS
            | Opcode::Ldloc
    )
}

/// Whether an opcode stores into a local.
const fn is_store(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Stloc0
            | Opcode::Stloc1
            | Opcode::Stloc2
            | Opcode::Stloc3
            | Opcode::StlocS
            | Opcode::Stloc
    )
}

/// Whether an opcode loads an argument.
const fn is_argument(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Ldarg0
            | Opcode::Ldarg1
            | Opcode::Ldarg2
            | Opcode::Ldarg3
            | Opcode::LdargS
            | Opcode::Ldarg
    )
}

/// The index of the instruction at an offset.
fn find(steps: &[Step], offset: u32) -> Option<usize> {
    steps.binary_search_by_key(&offset, |step| step.offset).ok()
}
