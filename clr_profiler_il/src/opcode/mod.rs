//! The instructions of IL (ECMA-335 III): one table of all opcodes, and its derived lookups.
//!
//! [`Opcode`] is an enum with one variant for each instruction and prefix; its methods return the
//! columns of the table: mnemonic, code, operand kind, popped and pushed values, and flow control.
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
    /// No operand.
    None,
    /// A signed byte, or for the prefixes `unaligned.` and `no.` an unsigned one.
    Int8,
    /// Four bytes: a signed integer.
    Int32,
    /// Eight bytes: a signed integer.
    Int64,
    /// Four bytes: a floating-point number.
    Float32,
    /// Eight bytes: a floating-point number.
    Float64,
    /// The index of an argument or local in one byte.
    ShortVariable,
    /// The index of an argument or local in two bytes.
    Variable,
    /// The distance to an instruction in one signed byte.
    ShortTarget,
    /// The distance to an instruction in four bytes.
    Target,
    /// A count in four bytes, followed by that many distances of four bytes each.
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
    /// The size in bytes; `None` for a `switch`, whose size depends on its table.
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

/// The kind of a popped or pushed value, as far as the opcode alone determines it (ECMA-335
/// VI.C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Any value.
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

/// The transfer of control after an instruction (ECMA-335 VI.C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowControl {
    /// To the next instruction.
    Next,
    /// To the next instruction, after notifying a debugger.
    Break,
    /// To another method and back; for `jmp`, not back.
    Call,
    /// Out of the method, a finally, fault or filter.
    Return,
    /// To the target.
    Branch,
    /// To a target or to the next instruction.
    ConditionalBranch,
    /// To a handler.
    Throw,
    /// A prefix: modifies the next instruction.
    Prefix,
}

impl Opcode {
    /// The length of the code: 1 or 2 bytes.
    #[must_use]
    #[inline]
    pub const fn code_length(self) -> u8 {
        if self.code() > 0xff { 2 } else { 1 }
    }

    /// The number of popped values; `None` if it depends on a signature (`call`, `calli`,
    /// `callvirt`, `newobj`, `ret`).
    #[must_use]
    pub const fn pop_count(self) -> Option<usize> {
        match self.pops() {
            Some(kinds) => Some(kinds.len()),
            None => None,
        }
    }

    /// The number of pushed values; `None` if it depends on a signature (`call`, `calli`,
    /// `callvirt`).
    #[must_use]
    pub const fn push_count(self) -> Option<usize> {
        match self.pushes() {
            Some(kinds) => Some(kinds.len()),
            None => None,
        }
    }

    /// Whether it is a prefix of the next instruction (III.2).
    #[must_use]
    #[inline]
    pub const fn is_prefix(self) -> bool {
        matches!(self.flow_control(), FlowControl::Prefix)
    }

    /// Whether the JIT checks access to the operand: to members, and to types whose objects the
    /// instruction creates or takes. See [`Accessibility`](crate::access::Accessibility).
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

    /// Whether it has a target, or a table of them.
    #[inline]
    pub(crate) const fn has_targets(self) -> bool {
        matches!(
            self.operand_kind(),
            OperandKind::Target | OperandKind::ShortTarget | OperandKind::Switch
        )
    }

    /// Whether it leaves the method: `ret` or `jmp`.
    #[inline]
    pub(crate) const fn is_exit(self) -> bool {
        matches!(self, Self::Ret | Self::Jmp)
    }

    /// Whether control never falls through to the next instruction: it jumps, returns or throws.
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
