//! Control flow: the order of the instructions, the regions that contain them, and the stack with
//! which control reaches each of them (ECMA-335 II.19, III.1.7).
//!
//! - [`Ranks`]: the rank of each instruction in the order.
//! - [`Regions`]: the regions of the exception clauses as a tree.
//! - [`effect()`]: how many values an instruction pops and pushes.
//! - [`in_order()`] and [`InOrder`]: one pass from the start of the code to its end (III.1.7.5),
//!   including unreachable code.
//! - [`along_paths`]: every path of control, until a fixed point.
//!
//! The two walks track a [`Domain`]: the depth of the stack, the kinds of its values, or whether
//! `this` is on it. A domain defines the effect of an instruction on a stack, the join of two
//! stacks where paths meet, and when to stop.

mod effect;
mod in_order;
mod paths;
mod ranks;
mod regions;

use std::ops::ControlFlow;

use crate::code::ClauseKind;
use crate::instruction::Instruction;

pub(crate) use effect::{Effect, call_shape, effect, effect_of};
pub(crate) use in_order::{InOrder, in_order};
pub(crate) use paths::{PathsMemory, along_paths};
pub(crate) use ranks::Ranks;
pub(crate) use regions::{Fault, OUTSIDE, RegionKind, Regions};

/// The result of a domain at a step of a walk, unless it ends the walk.
pub(crate) type Walk<D, T> = ControlFlow<<D as Domain>::Stop, T>;

/// The position of a walk.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) instruction: &'a Instruction<'a>,
    /// Whether the instruction is known to be reachable.
    pub(crate) reached: bool,
}

/// The state that a walk tracks through the code.
pub(crate) trait Domain {
    /// The stack at one position.
    type Stack: Copy + PartialEq;
    /// The result that ends the walk early: an error, or the object of a search.
    type Stop;

    /// The stack at the entry of a method, of a finally and of a fault.
    const EMPTY: Self::Stack;

    /// The stack at the entry of a catch, of a filter and of its handler: only the exception.
    fn caught(&mut self) -> Self::Stack;

    /// The stack after an instruction; `None` if it cannot be determined.
    fn step(&mut self, at: At<'_>, stack: Self::Stack) -> Walk<Self, Option<Self::Stack>>;

    /// The join of the stack `arriving` with the stack `known` from elsewhere. `at` is the branch,
    /// or the instruction that control falls through to.
    fn join(
        &mut self,
        at: At<'_>,
        known: Self::Stack,
        arriving: Self::Stack,
    ) -> Walk<Self, Self::Stack>;

    /// Called where control enters try regions at their first instruction.
    fn enter_try(&mut self, _first: &Instruction<'_>, _stack: Self::Stack) {}

    /// The stack at the entry of a handler.
    fn at_handler(&mut self, kind: ClauseKind) -> Self::Stack {
        match kind {
            ClauseKind::Catch | ClauseKind::Filter => self.caught(),
            ClauseKind::Finally | ClauseKind::Fault => Self::EMPTY,
        }
    }
}

/// The stacks on arrival, by node or by label.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals<S>(Vec<Option<S>>);

impl<S> Default for Arrivals<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Copy> Arrivals<S> {
    /// No stack is known yet for any of the nodes.
    fn at(nodes: usize) -> Self {
        Self(vec![None; nodes])
    }

    /// As [`at`](Self::at), in the same memory.
    fn restart(&mut self, nodes: usize) {
        self.0.clear();
        self.0.resize(nodes, None);
    }

    pub(crate) fn get(&self, index: u32) -> Option<S> {
        self.0.get(index as usize).copied().flatten()
    }

    /// Ignores an index without a node.
    fn set(&mut self, index: u32, stack: S) {
        if let Some(slot) = self.0.get_mut(index as usize) {
            *slot = Some(stack);
        }
    }
}
