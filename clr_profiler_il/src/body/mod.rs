//! Method bodies (ECMA-335 II.25.4): decoding, encoding, and the model between.
//!
//! [`MethodBody::decode`] reads header, instructions and exception clauses;
//! [`MethodBody::encode`] writes them in the smallest form. Between the two nothing counts offsets:
//! branches and regions refer to instructions, and an instruction keeps its
//! [`InstructionId`] whatever is edited around it.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::opcode::Opcode;
//! use clr_profiler_il::symbol::NoTokens;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A tiny header and `ldc.i4.s 42; ret`.
//! let bytes = [0x0e, 0x1f, 42, 0x2a];
//! let body = MethodBody::decode(&bytes)?;
//! let opcodes: Vec<_> = body.instructions().map(|one| one.opcode()).collect();
//! assert_eq!(opcodes, [Opcode::LdcI4S, Opcode::Ret]);
//!
//! let mut out = Vec::new();
//! body.encode(&mut NoTokens, &mut out)?;
//! assert_eq!(out, bytes);
//! # Ok(())
//! # }
//! ```

mod clause;
mod decode;
mod encode;
mod error;
mod instructions;
mod layout;
mod length;
mod link;
mod sections;

use crate::code::Code;
use crate::instruction::{Instruction, InstructionId, Instructions, Label, Position};
use crate::signature::LocalsSig;
use crate::token::Token;

pub use clause::{ExceptionClause, HandlerKind, Region};
pub use encode::EncodeBuffers;
pub use error::{BodyError, BodyErrorKind, EncodeError};
pub use length::encoded_length;

pub(crate) use layout::Layout;

/// The method body of a tiny header has room for this many values on the stack (II.25.4.2).
const TINY_MAX_STACK: u16 = 8;

/// A method body that can be edited.
#[derive(Clone, Debug)]
pub struct MethodBody {
    /// What the header declared, or was computed.
    pub(crate) max_stack: u16,
    /// What inserted code needs beside it.
    pub(crate) added_stack: AddedStack,
    init_locals: bool,
    pub(crate) locals: Locals,
    pub(crate) code: Code,
    /// Memory for what an edit looks for, to be used again.
    pub(crate) scratch: Vec<u32>,
}

/// What inserted code needs on the stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddedStack {
    /// The most that one insertion needs above the values that are there.
    pub(crate) above: u32,
    /// The sum of what insertions leave there.
    pub(crate) left: u32,
    /// The most that one needs where the stack is empty.
    pub(crate) at_entry: u32,
}

/// The signature of the locals: its token, and its types if they were told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locals {
    pub(crate) token: u32,
    pub(crate) signature: Option<LocalsSig>,
    pub(crate) changed: bool,
}

impl MethodBody {
    /// A body without instructions, without locals and with `init_locals` set.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_stack: 0,
            added_stack: AddedStack::default(),
            init_locals: true,
            locals: Locals {
                signature: Some(LocalsSig::default()),
                ..Locals::default()
            },
            code: Code::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of values that the stack holds at most: what the header declared and what
    /// inserted code needs beside it.
    ///
    /// Never less than needed if the declared one was right; more than needed where code was
    /// inserted at a place where the stack is not full.
    #[must_use]
    #[doc(alias = "maxstack")]
    pub fn max_stack(&self) -> u32 {
        let added = &self.added_stack;
        let above = u32::from(self.max_stack)
            .saturating_add(added.left)
            .saturating_add(added.above);
        above.max(added.at_entry)
    }

    /// Declares the number of values that the stack holds at most.
    pub fn set_max_stack(&mut self, max_stack: u16) {
        self.max_stack = max_stack;
        self.added_stack = AddedStack::default();
    }

    /// Whether locals and the memory of `localloc` start as zeros (II.25.4.4).
    #[must_use]
    #[doc(alias = "CorILMethod_InitLocals")]
    pub const fn init_locals(&self) -> bool {
        self.init_locals
    }

    /// Says whether locals and the memory of `localloc` start as zeros.
    pub const fn set_init_locals(&mut self, init_locals: bool) {
        self.init_locals = init_locals;
    }

    /// The `StandAloneSig` token of the locals that the header names; `None` without locals.
    #[must_use]
    pub fn locals_token(&self) -> Option<Token> {
        (self.locals.token != 0).then_some(Token::new(self.locals.token))
    }

    /// The locals, if they were told by [`set_locals`](Self::set_locals) or are none.
    #[must_use]
    pub fn locals(&self) -> Option<&LocalsSig> {
        self.locals.signature.as_ref()
    }

    /// The number of instructions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instructions().count()
    }

    /// Whether there are no instructions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instructions().next().is_none()
    }

    /// The instructions, in order.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'_> {
        self.code.instructions()
    }

    /// The instructions that were inserted since the body was decoded, in any order.
    pub fn inserted(&self) -> impl Iterator<Item = Instruction<'_>> {
        let nodes = self.code.original.count + 1..self.code.nodes.len() as u32;
        nodes.filter_map(|node| self.code.instruction(InstructionId(node)))
    }

    /// One instruction; `None` if it was removed or is another body's.
    #[must_use]
    pub fn instruction(&self, id: InstructionId) -> Option<Instruction<'_>> {
        self.code.instruction(id)
    }

    /// The first instruction.
    #[must_use]
    pub fn first(&self) -> Option<InstructionId> {
        self.instructions().next().map(|first| first.id())
    }

    /// The place that a label names; `None` if it was never put anywhere, or is another body's.
    #[must_use]
    pub fn position(&self, label: Label) -> Option<Position> {
        let place = self.code.place(label);
        (place != crate::code::UNPLACED && self.code.owns(label)).then(|| self.code.position(place))
    }
}

impl Default for MethodBody {
    fn default() -> Self {
        Self::new()
    }
}
