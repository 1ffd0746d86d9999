//! Method bodies (ECMA-335 II.25.4): decoding, encoding, and the model in between.
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
mod lazy;
mod length;
mod link;
mod original;
mod sections;

use crate::code::Code;
use crate::flat::Flat;
use crate::instruction::{Instruction, InstructionId, Instructions, Label, Position};
use crate::signature::LocalsSig;
use crate::token::Token;

pub use clause::{ExceptionClause, HandlerKind, Region};
pub use encode::EncodeBuffers;
pub use error::{BodyError, BodyErrorKind, EncodeError};
pub use length::encoded_length;
pub use original::{OriginalInstruction, OriginalInstructions};

pub(crate) use decode::declared_depth;
pub(crate) use layout::Layout;
pub(crate) use lazy::LazyCode;

/// The depth of the stack that a tiny header implies (II.25.4.2).
const TINY_MAX_STACK: u16 = 8;

/// A method body that can be edited.
#[derive(Clone, Debug)]
pub struct MethodBody {
    /// The declared depth, or the computed one.
    pub(crate) max_stack: u16,
    /// The additional need of inserted code.
    pub(crate) added_stack: AddedStack,
    init_locals: bool,
    pub(crate) locals: Locals,
    pub(crate) code: LazyCode,
    /// Reusable memory for the searches of an edit.
    pub(crate) scratch: Vec<u32>,
}

/// The need of inserted code on the stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddedStack {
    /// The greatest need of a single insertion above the values already on the stack.
    pub(crate) above: u32,
    /// The sum of the values that insertions leave on the stack.
    pub(crate) left: u32,
    /// The greatest need of an insertion at which the stack is empty.
    pub(crate) at_entry: u32,
}

/// The signature of the locals: its token, and its types if they are known.
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
            code: LazyCode::new(Code::new()),
            scratch: Vec::new(),
        }
    }

    /// The maximum depth of the stack: the declared depth and the additional need of inserted code.
    ///
    /// Never too small if the declared depth was right; too large if code was inserted where the
    /// stack is not full.
    #[must_use]
    #[doc(alias = "maxstack")]
    pub fn max_stack(&self) -> u32 {
        let added = &self.added_stack;
        let above = u32::from(self.max_stack)
            .saturating_add(added.left)
            .saturating_add(added.above);
        above.max(added.at_entry)
    }

    /// Declares the maximum depth of the stack.
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

    /// Sets whether locals and the memory of `localloc` start as zeros.
    pub const fn set_init_locals(&mut self, init_locals: bool) {
        self.init_locals = init_locals;
    }

    /// The `StandAloneSig` token of the locals in the header; `None` without locals.
    #[must_use]
    pub fn locals_token(&self) -> Option<Token> {
        (self.locals.token != 0).then_some(Token::new(self.locals.token))
    }

    /// The locals, if [`set_locals`](Self::set_locals) has set them or there are none.
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

    /// The instructions inserted since decoding, in any order.
    pub fn inserted(&self) -> impl Iterator<Item = Instruction<'_>> {
        // Nodes are not made for the answer that there is none.
        let is_as_read = self.code.flat().is_some_and(Flat::is_as_read);
        let nodes = match is_as_read {
            true => 0..0,
            false => self.code.original.count + 1..self.code.nodes.len() as u32,
        };
        nodes.filter_map(|node| self.code.instruction(InstructionId(node)))
    }

    /// Whether instructions were inserted since decoding. Of a body that was decoded [lazily](Self::decode_lazily_into) this takes
    /// less time than to ask for the first of [`inserted`](Self::inserted).
    #[must_use]
    pub fn has_insertions(&self) -> bool {
        match self.code.flat() {
            Some(flat) => !flat.is_as_read(),
            None => self.inserted().next().is_some(),
        }
    }

    /// The instructions inserted since decoding, in any order; those of flat code as in its fragments, each once.
    pub(crate) fn inserted_code(&self) -> impl Iterator<Item = Instruction<'_>> {
        let flat = self.code.flat();
        let planned = flat.into_iter().flat_map(Flat::planned);
        let inserted = flat.is_none().then(|| self.inserted());
        let planned = planned.flat_map(Code::instructions);
        planned.chain(inserted.into_iter().flatten())
    }

    /// One instruction; `None` if it was removed or belongs to another body.
    #[must_use]
    pub fn instruction(&self, id: InstructionId) -> Option<Instruction<'_>> {
        self.code.instruction(id)
    }

    /// The first instruction.
    #[must_use]
    pub fn first(&self) -> Option<InstructionId> {
        self.instructions().next().map(|first| first.id())
    }

    /// The position of a label; `None` if it was never placed or belongs to another body.
    #[must_use]
    pub fn position(&self, label: Label) -> Option<Position> {
        let node = self.code.node_of(label);
        (node != crate::code::UNPLACED && self.code.owns(label)).then(|| self.code.position(node))
    }
}

impl Default for MethodBody {
    fn default() -> Self {
        Self::new()
    }
}
