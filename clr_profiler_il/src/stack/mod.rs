//! The depth of the evaluation stack, followed along the control flow (ECMA-335 III.1.7.4,
//! III.1.7.5).
//!
//! [`MethodBody::stack_depths`] gives the depth before every instruction and the greatest of all;
//! [`MethodBody::compute_max_stack`] declares the latter.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; ldarg.1; add; ret`; a tiny header always stands for a depth of 8.
//! let mut body = MethodBody::decode(&[0x12, 0x02, 0x03, 0x58, 0x2a])?;
//! assert_eq!(body.max_stack(), 8);
//! body.compute_max_stack(&())?;
//! assert_eq!(body.max_stack(), 2);
//! # Ok(())
//! # }
//! ```

use std::error::Error;
use std::fmt;

use crate::body::MethodBody;
use crate::code::{ClauseKind, END, NONE, Node};
use crate::instruction::{Instruction, InstructionId};
use crate::opcode::Opcode;
use crate::symbol::{CallShape, Reference, Resolver, Symbol};
use crate::token::TokenTable;

/// What is wrong with the depth of the stack, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackError {
    /// The instruction.
    pub instruction: InstructionId,
    /// Its offset in the decoded code; `None` if it was inserted.
    pub offset: Option<u32>,
    /// The rule that is broken.
    pub kind: StackErrorKind,
}

/// The rules of [`StackError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackErrorKind {
    /// The resolver does not know what the instruction calls.
    UnknownCall,
    /// The instruction takes more values than there are (III.1.7.4).
    Underflow {
        /// How many there are.
        depth: u32,
        /// How many it takes.
        pops: u32,
    },
    /// Control arrives here with different depths (III.1.7.5).
    Mismatch {
        /// The depth that was seen first.
        depth: u32,
        /// Another one.
        other: u32,
    },
    /// More values than 16 bits can count (II.25.4.3).
    TooDeep(u32),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            StackErrorKind::UnknownCall => f.write_str("a call of something unknown")?,
            StackErrorKind::Underflow { depth, pops } => {
                write!(f, "{pops} values are taken from a stack of {depth}")?;
            }
            StackErrorKind::Mismatch { depth, other } => write!(
                f,
                "control arrives with {depth} and with {other} values on the stack"
            )?,
            StackErrorKind::TooDeep(depth) => write!(f, "{depth} values on the stack")?,
        }
        match self.offset {
            Some(offset) => write!(f, " (at IL_{offset:04x})"),
            None => write!(f, " (at inserted instruction {})", self.instruction.0),
        }
    }
}

impl Error for StackError {}

/// The depth of the stack before every instruction.
#[derive(Clone, Debug, Default)]
pub struct StackDepths {
    by_node: Vec<u32>,
    most: u32,
}

impl StackDepths {
    /// The greatest depth anywhere.
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// The depth before an instruction. Where control never arrives, that of an empty stack, as the
    /// standard has it.
    #[must_use]
    pub fn before(&self, id: InstructionId) -> Option<u32> {
        let depth = self.by_node.get(id.0 as usize).copied();
        depth.filter(|&depth| depth != NONE)
    }
}

impl MethodBody {
    /// Follows the depth of the stack through the code, in one pass from the beginning to the end.
    ///
    /// It is 0 at the entry, in a `finally` and in a `fault`, 1 in a filter and behind it and in a
    /// `catch`. Behind an instruction that never goes on, it is what an earlier branch brings there,
    /// else 0. In code that no earlier branch reaches, missing values are not counted as errors.
    ///
    /// # Errors
    ///
    /// See [`StackErrorKind`].
    pub fn stack_depths(&self, resolver: &impl Resolver) -> Result<StackDepths, StackError> {
        let mut pass = Pass {
            body: self,
            depths: StackDepths {
                by_node: vec![NONE; self.code.nodes.len()],
                most: 0,
            },
        };
        for clause in &self.code.clauses {
            let depth = u32::from(matches!(
                clause.kind,
                ClauseKind::Catch | ClauseKind::Filter
            ));
            pass.seed(self.code.place(clause.handler_start), depth);
            if clause.kind == ClauseKind::Filter {
                pass.seed(self.code.place(clause.filter), depth);
            }
        }
        pass.run(resolver)?;
        Ok(pass.depths)
    }

    /// Declares the greatest depth that the stack reaches, in place of the declared one and what
    /// inserted code added to it.
    ///
    /// # Errors
    ///
    /// See [`StackErrorKind`]. The body is then unchanged.
    pub fn compute_max_stack(&mut self, resolver: &impl Resolver) -> Result<u16, StackError> {
        let most = self.stack_depths(resolver)?.most();
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

struct Pass<'a> {
    body: &'a MethodBody,
    depths: StackDepths,
}

impl Pass<'_> {
    fn run(&mut self, resolver: &impl Resolver) -> Result<(), StackError> {
        // What the previous instruction leaves, if it goes on to this one.
        let mut arriving = Some(0);
        // Whether control is known to come here. A loop's body that only a later branch reaches is
        // not: it is followed from an empty stack, and not blamed for what may be dead code.
        let mut reached = true;
        for instruction in self.body.instructions() {
            let index = instruction.id.0;
            let recorded = self.recorded(index);
            let depth = match (arriving, recorded) {
                (Some(depth), Some(other)) if depth != other && reached => {
                    let kind = StackErrorKind::Mismatch {
                        depth: other,
                        other: depth,
                    };
                    return Err(error(&instruction, kind));
                }
                (_, Some(depth)) => {
                    reached = true;
                    depth
                }
                (Some(depth), None) => depth,
                (None, None) => {
                    reached = false;
                    0
                }
            };
            self.seed(index, depth);
            let (pops, pushes) = effect(&instruction, depth, resolver)?;
            if pops > depth && reached {
                let kind = StackErrorKind::Underflow { depth, pops };
                return Err(error(&instruction, kind));
            }
            let after = depth.saturating_sub(pops).saturating_add(pushes);
            self.depths.most = self.depths.most.max(depth).max(after);
            for target in instruction.targets() {
                let target = self.body.code.place(target);
                match self.recorded(target) {
                    Some(depth) if depth != after && reached => {
                        let kind = StackErrorKind::Mismatch {
                            depth,
                            other: after,
                        };
                        return Err(error(&instruction, kind));
                    }
                    Some(_) => {}
                    None => self.seed(target, after),
                }
            }
            arriving = (!instruction.opcode().ends_block()).then_some(after);
        }
        Ok(())
    }

    fn recorded(&self, node: u32) -> Option<u32> {
        let depth = self.depths.by_node.get(node as usize).copied();
        depth.filter(|&depth| depth != NONE)
    }

    fn seed(&mut self, node: u32, depth: u32) {
        if node != END
            && let Some(slot) = self.depths.by_node.get_mut(node as usize)
        {
            *slot = depth;
        }
    }
}

fn error(instruction: &Instruction<'_>, kind: StackErrorKind) -> StackError {
    StackError {
        instruction: instruction.id,
        offset: instruction.original_offset(),
        kind,
    }
}

/// The shape of a call: a symbol says it itself.
pub(crate) fn shape(name: Reference<'_>, resolver: &impl Resolver) -> Option<CallShape> {
    match name {
        Reference::Symbol(Symbol::Method(method)) => Some(method.shape()),
        Reference::Symbol(Symbol::Signature(signature)) => Some(signature.into()),
        Reference::Token(token) if token.table() == TokenTable::STAND_ALONE_SIG => {
            resolver.signature_shape(name)
        }
        _ => resolver.method_shape(name),
    }
}

/// How many values an instruction takes and gives.
pub(crate) fn effect(
    instruction: &Instruction<'_>,
    depth: u32,
    resolver: &impl Resolver,
) -> Result<(u32, u32), StackError> {
    let node: &Node = instruction.node;
    let count = |count: Option<usize>| count.map_or(0, |count| count as u32);
    let known = |shape: Option<CallShape>| {
        shape.ok_or_else(|| error(instruction, StackErrorKind::UnknownCall))
    };
    Ok(match node.opcode {
        Opcode::Call | Opcode::Callvirt => {
            let shape = known(shape(instruction.reference(), resolver))?;
            (shape.arguments(), u32::from(shape.returns))
        }
        Opcode::Newobj => {
            let shape = known(shape(instruction.reference(), resolver))?;
            (shape.constructor_arguments(), 1)
        }
        Opcode::Calli => {
            let shape = known(shape(instruction.reference(), resolver))?;
            (
                shape.arguments().saturating_add(1),
                u32::from(shape.returns),
            )
        }
        // They take whatever is left.
        Opcode::Ret | Opcode::Leave | Opcode::Endfinally => (depth, 0),
        opcode => (count(opcode.pop_count()), count(opcode.push_count())),
    })
}
