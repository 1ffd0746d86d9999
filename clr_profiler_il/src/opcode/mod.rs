//! The instructions of IL (ECMA-335 III): one table of all opcodes, and what derives from it.
//!
//! [`Opcode`] is an enum with one variant for each instruction and prefix; its methods answer what
//! the table says: mnemonic, code, operand, values popped and pushed, and where control goes next.
//!
//! ```
//! use clr_profiler_il::opcode::{FlowControl, Opcode, OperandKind};
//!
//! assert_eq!(Opcode::Ldelema.mnemonic(), "ldelema");
//! assert_eq!(Opcode::from_code(0x8f), Some(Opcode::Ldelema));
//! assert_eq!(Opcode::Ldelema.operand_kind(), OperandKind::Type);
//! assert_eq!(Opcode::Ldelema.pop_count(), Some(2));
//! assert_eq!(Opcode::Ceq.code(), 0xfe01);
//! assert_eq!(Opcode::Ret.flow_control(), FlowControl::Return);
//! ```

mod decoding;
mod encoding;
mod enumeration;
mod forms;
mod table;

use std::fmt;

pub use enumeration::Opcode;

pub(crate) use decoding::{Decoding, ONE_BYTE, OperandDecoding, TWO_BYTES};
pub(crate) use encoding::OperandLayout;
pub(crate) use table::for_each_opcode;

/// The kind of an operand (ECMA-335 III.1.9, VI.C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// Nothing.
    None,
    /// A signed byte, or for the prefixes `unaligned.` and `no.` an unsigned one.
    Int8,
    /// Four bytes, a signed integer.
    Int32,
    /// Eight bytes, a signed integer.
    Int64,
    /// Four bytes, a floating-point number.
    Float32,
    /// Eight bytes, a floating-point number.
    Float64,
    /// The number of an argument or local in one byte.
    ShortVariable,
    /// The number of an argument or local in two bytes.
    Variable,
    /// The distance to an instruction in one signed byte.
    ShortTarget,
    /// The distance to an instruction in four bytes.
    Target,
    /// A count in four bytes and that many distances in four bytes each.
    Switch,
    /// The token of a method.
    Method,
    /// The token of a field.
    Field,
    /// The token of a type.
    Type,
    /// The token of a method, field or type.
    AnyToken,
    /// The token of a string.
    String,
    /// The token of a stand-alone signature.
    Signature,
}

impl OperandKind {
    /// The number of bytes, or `None` for a `switch`, which has as many as its table needs.
    #[must_use]
    #[inline]
    pub const fn size(self) -> Option<u8> {
        Some(match self {
            Self::None => 0,
            Self::Int8 | Self::ShortVariable | Self::ShortTarget => 1,
            Self::Variable => 2,
            Self::Int64 | Self::Float64 => 8,
            Self::Switch => return None,
            _ => 4,
        })
    }

    /// Whether the operand is a metadata token.
    #[must_use]
    pub const fn is_token(self) -> bool {
        matches!(
            self,
            Self::Method
                | Self::Field
                | Self::Type
                | Self::AnyToken
                | Self::String
                | Self::Signature
        )
    }
}

/// What an instruction pops or pushes, as far as the opcode alone says it (ECMA-335 VI.C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Anything.
    Any,
    /// An `int32`, a native integer or a pointer; for some opcodes an object.
    Int,
    /// An `int64`.
    Int64,
    /// A `float32`.
    Float32,
    /// A `float64`.
    Float64,
    /// An object; for field access also a pointer or a value.
    Object,
}

/// Where control goes after an instruction (ECMA-335 VI.C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowControl {
    /// To the next instruction.
    Next,
    /// To the next instruction, after a debugger was told.
    Break,
    /// To another method and back, or for `jmp` not back.
    Call,
    /// Out of the method, a finally, fault or filter.
    Return,
    /// To the target.
    Branch,
    /// To a target or to the next instruction.
    ConditionalBranch,
    /// To a handler.
    Throw,
    /// A prefix: changes what the next instruction does.
    Prefix,
}

impl Opcode {
    /// The length of the code: 1 or 2 bytes.
    #[must_use]
    #[inline]
    pub const fn code_length(self) -> u8 {
        if self.code() > 0xff { 2 } else { 1 }
    }

    /// How many values the instruction pops; `None` if that depends on a signature (`call`,
    /// `calli`, `callvirt`, `newobj`, `ret`).
    #[must_use]
    pub const fn pop_count(self) -> Option<usize> {
        match self.pops() {
            Some(kinds) => Some(kinds.len()),
            None => None,
        }
    }

    /// How many values the instruction pushes; `None` if that depends on a signature (`call`,
    /// `calli`, `callvirt`).
    #[must_use]
    pub const fn push_count(self) -> Option<usize> {
        match self.pushes() {
            Some(kinds) => Some(kinds.len()),
            None => None,
        }
    }

    /// Whether it is a prefix of the instruction that follows (III.2).
    #[must_use]
    #[inline]
    pub const fn is_prefix(self) -> bool {
        matches!(self.flow_control(), FlowControl::Prefix)
    }

    /// Whether the JIT asks for access to what an instruction names: to members, and to types of which
    /// it makes or takes objects. See [`Accessibility`](crate::access::Accessibility).
    #[must_use]
    pub const fn checks_access(self) -> bool {
        match self {
            Self::Box
            | Self::Newarr
            | Self::Castclass
            | Self::Isinst
            | Self::Unbox
            | Self::UnboxAny
            | Self::Mkrefany => true,
            _ => matches!(
                self.operand_kind(),
                OperandKind::Method | OperandKind::Field
            ),
        }
    }

    /// Whether it leaves the method for good: `ret` or `jmp`.
    #[inline]
    pub(crate) const fn is_exit(self) -> bool {
        matches!(self, Self::Ret | Self::Jmp)
    }

    /// Whether the next instruction is never reached from this one: it jumps, returns or throws.
    #[must_use]
    #[inline]
    pub const fn ends_block(self) -> bool {
        matches!(
            self.flow_control(),
            FlowControl::Return | FlowControl::Branch | FlowControl::Throw
        ) || matches!(self, Self::Jmp)
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.mnemonic())
    }
}
