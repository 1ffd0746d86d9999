use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::flow::{Effect, InOrder, effect};
use crate::instruction::Label;
use crate::opcode::Opcode;
use crate::symbol::CallShape;

/// The height of the stack at the end of a fragment relative to its start, updated as instructions
/// are appended.
#[derive(Clone, Debug)]
pub(super) struct Height {
    /// Arrivals are indexed by label.
    pass: InOrder<i64>,
    most: i64,
}

/// The assumed effect of a call of unknown shape: it never underestimates the height.
const UNKNOWN_CALL: Effect = Effect {
    pops: Some(0),
    pushes: 1,
};

impl Height {
    pub(super) fn new() -> Self {
        Self {
            pass: InOrder::new(0, Default::default()),
            most: 0,
        }
    }

    /// The maximum height.
    pub(super) const fn most(&self) -> i64 {
        self.most
    }

    pub(super) const fn now(&self) -> i64 {
        match self.pass.falling {
            Some(height) => height,
            // The next instruction is reached by a label or not at all.
            None => 0,
        }
    }

    /// Whether control reaches the end, from the last instruction or by a label.
    pub(super) const fn is_reached(&self) -> bool {
        self.pass.falling.is_some()
    }

    /// Starts a region, or code after one, that control enters with this many values.
    pub(super) fn enter(&mut self, height: i64) {
        self.pass.falling = Some(height);
        self.most = self.most.max(height);
    }

    /// Executes an instruction and returns the height after it.
    pub(super) fn step(&mut self, opcode: Opcode, shape: Option<CallShape>) -> i64 {
        let effect = effect(opcode, || shape).unwrap_or(UNKNOWN_CALL);
        let left = effect.pops.map_or(0, |pops| self.now() - i64::from(pops));
        let after = left + i64::from(effect.pushes);
        self.most = self.most.max(after);
        self.pass.falling = (!opcode.ends_block()).then_some(after);
        after
    }

    /// Sets the height at a label, unless an earlier branch has.
    pub(super) fn bring(&mut self, label: Label, height: i64) {
        self.pass.make_room(label.index);
        let first = |known, _, _| ControlFlow::<Infallible, _>::Continue(known);
        let ControlFlow::Continue(()) = self.pass.bring(label.index, height, first);
    }

    /// Places a label at the end.
    pub(super) fn arrive(&mut self, label: Label) {
        self.pass.make_room(label.index);
        let falling = |_, arriving, _| ControlFlow::<Infallible, _>::Continue(arriving);
        let ControlFlow::Continue(height) = self.pass.arrive(label.index, 0, falling);
        self.pass.falling = Some(height);
    }

    /// Appends the instructions of another fragment.
    pub(super) fn append(&mut self, other: &Self) {
        let now = self.now();
        self.most = self.most.max(now + other.most);
        self.pass.falling = other.pass.falling.map(|height| now + height);
    }
}
