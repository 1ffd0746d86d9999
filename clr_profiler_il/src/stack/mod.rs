//! The depth of the evaluation stack along the control flow (ECMA-335 III.1.7.4, III.1.7.5).
//!
//! [`MethodBody::stack_depths`] returns the depth before every instruction and the maximum;
//! [`MethodBody::compute_max_stack`] declares the maximum.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; ldarg.1; add; ret`; a tiny header always implies a depth of 8.
//! let mut body = MethodBody::decode(&[0x12, 0x02, 0x03, 0x58, 0x2a])?;
//! assert_eq!(body.max_stack(), 8);
//! body.compute_max_stack(&())?;
//! assert_eq!(body.max_stack(), 2);
//! # Ok(())
//! # }
//! ```

use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;

use crate::body::MethodBody;
use crate::flow::{Arrivals, At, Domain, Walk, effect_of, in_order};
use crate::instruction::InstructionId;
use crate::messages::messages;
use crate::symbol::Resolver;

/// A violation of a rule about the depth of the stack, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackError {
    /// The instruction.
    pub instruction: InstructionId,
    /// Its offset in the decoded code; `None` if it was inserted.
    pub offset: Option<u32>,
    /// The broken rule.
    pub kind: StackErrorKind,
}

messages! {
    /// The rules that a [`StackError`] reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum StackErrorKind {
        /// The resolver does not know the callee.
        UnknownCall => "a call of an unknown method";
        /// The instruction takes more values than there are (III.1.7.4).
        Underflow {
            /// The number of values on the stack.
            depth: u32,
            /// The number of values that it takes.
            pops: u32,
        } => "{pops} values are taken from a stack of {depth}";
        /// Control reaches the instruction with different depths (III.1.7.5).
        Mismatch {
            /// The first depth.
            depth: u32,
            /// The other depth.
            other: u32,
        } => "control arrives with {depth} and with {other} values on the stack";
        /// More values than 16 bits can count (II.25.4.3).
        TooDeep(depth: u32) => "{depth} values on the stack";
    }
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        match self.offset {
            Some(offset) => write!(f, "(at IL_{offset:04x})"),
            None => write!(f, "(at inserted instruction {})", self.instruction.0),
        }
    }
}

impl Error for StackError {}

/// The depth of the stack before every instruction.
#[derive(Clone, Debug, Default)]
pub struct StackDepths {
    by_node: Arrivals<u32>,
    most: u32,
}

impl StackDepths {
    /// The maximum depth.
    #[must_use]
    pub const fn max(&self) -> u32 {
        self.most
    }

    /// The depth before an instruction. For an unreachable one, that of an empty stack, as the
    /// standard prescribes.
    #[must_use]
    pub fn before(&self, id: InstructionId) -> Option<u32> {
        self.by_node.get(id.0)
    }
}

impl MethodBody {
    /// Computes the depth of the stack before every instruction, in one pass from the start of the
    /// code to its end.
    ///
    /// The depth is 0 at the entry, in a `finally` and in a `fault`, and 1 in a filter, after it,
    /// and in a `catch`. After an instruction that does not fall through, it is that of an earlier
    /// branch to the next instruction, otherwise 0. In code that no earlier branch reaches, missing
    /// values are not errors.
    ///
    /// # Errors
    ///
    /// See [`StackErrorKind`].
    pub fn stack_depths(&self, resolver: &impl Resolver) -> Result<StackDepths, StackError> {
        let mut depths = Depths { resolver, most: 0 };
        match in_order(&self.code, &mut depths) {
            ControlFlow::Continue(by_node) => Ok(StackDepths {
                by_node,
                most: depths.most,
            }),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// Declares the maximum depth of the stack, instead of the declared depth and the additional
    /// need of inserted code.
    ///
    /// # Errors
    ///
    /// See [`StackErrorKind`]. The body is then unchanged.
    pub fn compute_max_stack(&mut self, resolver: &impl Resolver) -> Result<u16, StackError> {
        let most = self.stack_depths(resolver)?.max();
        let Ok(most) = u16::try_from(most) else {
            let first = InstructionId(self.code.first());
            return Err(StackError {
                instruction: first,
                offset: Some(0),
                kind: StackErrorKind::TooDeep(most),
            });
        };
        self.set_max_stack(most);
        Ok(most)
    }
}

/// Tracks only the depth. Code that may be unreachable is not reported.
struct Depths<'r, R> {
    resolver: &'r R,
    most: u32,
}

impl<R: Resolver> Domain for Depths<'_, R> {
    type Stack = u32;
    type Stop = StackError;

    const EMPTY: u32 = 0;

    fn caught(&mut self) -> u32 {
        1
    }

    #[inline]
    fn step(&mut self, at: At<'_>, depth: u32) -> Walk<Self, Option<u32>> {
        let Some(effect) = effect_of(at.instruction, self.resolver) else {
            return error(at, StackErrorKind::UnknownCall);
        };
        let pops = effect.pops.unwrap_or(depth);
        if pops > depth && at.reached {
            return error(at, StackErrorKind::Underflow { depth, pops });
        }
        let after = depth.saturating_sub(pops).saturating_add(effect.pushes);
        self.most = self.most.max(depth).max(after);
        ControlFlow::Continue(Some(after))
    }

    #[inline]
    fn join(&mut self, at: At<'_>, depth: u32, other: u32) -> Walk<Self, u32> {
        if depth != other && at.reached {
            return error(at, StackErrorKind::Mismatch { depth, other });
        }
        ControlFlow::Continue(depth)
    }
}

#[cold]
fn error<T>(at: At<'_>, kind: StackErrorKind) -> ControlFlow<StackError, T> {
    ControlFlow::Break(StackError {
        instruction: at.instruction.id,
        offset: at.instruction.original_offset(),
        kind,
    })
}
