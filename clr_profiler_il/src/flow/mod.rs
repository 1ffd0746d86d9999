//! Control flow: the order of the instructions, the regions that they are in, and the stack with
//! which control arrives at each of them (ECMA-335 II.19, III.1.7).
//!
//! - [`Ranks`]: which place of the order each instruction has.
//! - [`Regions`]: the regions of the exception clauses as a tree.
//! - [`effect()`]: how many values an instruction pops and pushes.
//! - [`in_order()`] and [`InOrder`]: one pass from the beginning of the code to its end (III.1.7.5);
//!   what control never reaches is passed as well.
//! - [`along_paths`]: every path that control can take, until nothing changes.
//!
//! What the two walks follow is a [`Domain`]: the depth of the stack, the kinds of its values, or
//! whether `this` is on it. It says what an instruction does to a stack, what becomes of two stacks
//! where paths meet, and when to stop.

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
pub(crate) use paths::along_paths;
pub(crate) use ranks::Ranks;
pub(crate) use regions::{Fault, OUTSIDE, RegionKind, Regions};

/// What a domain says at a step of a walk, unless the walk ends there.
pub(crate) type Walk<D, T> = ControlFlow<<D as Domain>::Stop, T>;

/// Where a walk is.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) instruction: &'a Instruction<'a>,
    /// Whether control is known to arrive there.
    pub(crate) reached: bool,
}

/// What is followed through the code.
pub(crate) trait Domain {
    /// The stack at one place.
    type Stack: Copy + PartialEq;
    /// What ends the walk early: an error, or what was looked for.
    type Stop;

    /// The stack at the entry of a method, of a finally and of a fault.
    const EMPTY: Self::Stack;

    /// The stack at the entry of a catch, of a filter and of its handler: the exception alone.
    fn caught(&mut self) -> Self::Stack;

    /// The stack after an instruction; `None` if nothing can be said about it.
    fn step(&mut self, at: At<'_>, stack: Self::Stack) -> Walk<Self, Option<Self::Stack>>;

    /// The stack where control arrives with `arriving`, and from elsewhere with `known`. `at` is the
    /// branch, or the instruction at which control arrives by going on.
    fn join(
        &mut self,
        at: At<'_>,
        known: Self::Stack,
        arriving: Self::Stack,
    ) -> Walk<Self, Self::Stack>;

    /// Control enters try regions at their first instruction.
    fn enter_try(&mut self, _first: &Instruction<'_>, _stack: Self::Stack) {}

    /// The stack at the entry of a handler.
    fn at_handler(&mut self, kind: ClauseKind) -> Self::Stack {
        match kind {
            ClauseKind::Catch | ClauseKind::Filter => self.caught(),
            ClauseKind::Finally | ClauseKind::Fault => Self::EMPTY,
        }
    }
}

/// The stacks with which control arrives, by node or by label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals<S>(Vec<Option<S>>);

impl<S: Copy> Arrivals<S> {
    /// None is known yet of so many nodes.
    fn at(nodes: usize) -> Self {
        Self(vec![None; nodes])
    }

    pub(crate) fn get(&self, index: u32) -> Option<S> {
        self.0.get(index as usize).copied().flatten()
    }

    /// Where there is no such node, nothing.
    fn set(&mut self, index: u32, stack: S) {
        if let Some(slot) = self.0.get_mut(index as usize) {
            *slot = Some(stack);
        }
    }
}
