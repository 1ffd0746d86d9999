//! One instruction of a body or fragment, with its prefixes and operand.

use std::fmt;

use crate::code::{Code, END, Node, PrefixSlot};
use crate::opcode::{Opcode, OperandKind};
use crate::symbol::Reference;

pub use crate::code::{InstructionId, Label, Position};

/// The operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// No operand, or one that the opcode implies (`ldarg.0`, `ldc.i4.7`).
    None,
    /// An `int32`.
    Int32(i32),
    /// An `int64`.
    Int64(i64),
    /// A `float32`.
    Float32(f32),
    /// A `float64`.
    Float64(f64),
    /// The number of an argument or local.
    Variable(u16),
    /// The target of a branch.
    Target(Label),
    /// The targets of a `switch`.
    Switch(&'a [Label]),
    /// A token or symbol.
    Reference(Reference<'a>),
}

/// A prefix of an instruction (ECMA-335 III.2).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Prefix<'a> {
    /// `constrained.`: the type whose value the `callvirt` is called on.
    Constrained(Reference<'a>),
    /// `no.`: the checks that may be omitted.
    No(u8),
    /// `readonly.`: the element will not be written.
    Readonly,
    /// `tail.`: the call replaces this method's frame.
    Tail,
    /// `unaligned.`: the alignment of the address.
    Unaligned(u8),
    /// `volatile.`: other threads may write to the address.
    Volatile,
}

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constrained(name) => write!(f, "constrained. {name}"),
            Self::No(checks) => write!(f, "no. {checks}"),
            Self::Readonly => f.write_str("readonly."),
            Self::Tail => f.write_str("tail."),
            Self::Unaligned(alignment) => write!(f, "unaligned. {alignment}"),
            Self::Volatile => f.write_str("volatile."),
        }
    }
}

/// An instruction: opcode, prefixes and operand.
///
/// Branches have their long form here (`br`, not `br.s`), whichever was decoded: encoding chooses
/// the form. Arguments and locals are in the shortest form.
#[derive(Clone, Copy)]
pub struct Instruction<'a> {
    pub(crate) id: InstructionId,
    pub(crate) node: &'a Node,
    pub(crate) code: &'a Code,
}

impl<'a> Instruction<'a> {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> InstructionId {
        self.id
    }

    /// The opcode.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.node.opcode
    }

    /// The offset in the decoded code, of its first prefix if it has any; `None` if it was
    /// inserted.
    #[must_use]
    pub const fn original_offset(&self) -> Option<u32> {
        self.node.original_offset()
    }

    /// The operand.
    #[must_use]
    pub fn operand(&self) -> Operand<'a> {
        let raw = self.node.operand;
        match self.node.opcode.operand_kind() {
            OperandKind::None => Operand::None,
            OperandKind::Int8 => Operand::Int32(i32::from(raw as i8)),
            OperandKind::Int32 => Operand::Int32(raw as i32),
            OperandKind::Int64 => Operand::Int64(raw as i64),
            OperandKind::Float32 => Operand::Float32(f32::from_bits(raw as u32)),
            OperandKind::Float64 => Operand::Float64(f64::from_bits(raw)),
            OperandKind::ShortVariable | OperandKind::Variable => Operand::Variable(raw as u16),
            OperandKind::ShortTarget | OperandKind::Target => {
                Operand::Target(self.code.label(raw as u32))
            }
            OperandKind::Switch => Operand::Switch(self.code.switch(raw)),
            OperandKind::Method
            | OperandKind::Field
            | OperandKind::Type
            | OperandKind::AnyToken
            | OperandKind::String
            | OperandKind::Signature => Operand::Reference(self.reference()),
        }
    }

    /// The prefixes, in their order.
    pub fn prefixes(&self) -> impl Iterator<Item = Prefix<'a>> + use<'a> {
        let code = self.code;
        code.prefixes_of(self.node)
            .iter()
            .map(move |slot| prefix(code, slot))
    }

    /// The labels that it may branch to.
    pub fn targets(&self) -> impl Iterator<Item = Label> + use<'a> {
        let (one, table): (_, &[Label]) = match self.node.opcode.operand_kind() {
            OperandKind::Target | OperandKind::ShortTarget => {
                (Some(self.code.label(self.node.operand as u32)), &[])
            }
            OperandKind::Switch => (None, self.code.switch(self.node.operand)),
            _ => (None, &[]),
        };
        one.into_iter().chain(table.iter().copied())
    }

    /// The index of the argument that it reads, writes or takes the address of.
    #[must_use]
    pub const fn argument(&self) -> Option<u16> {
        self.node.opcode.argument(self.node.operand)
    }

    /// The index of the local that it reads, writes or takes the address of.
    #[must_use]
    pub const fn local(&self) -> Option<u16> {
        self.node.opcode.local(self.node.operand)
    }

    /// The number that an `ldc.i4` of any form loads.
    #[must_use]
    pub const fn int32(&self) -> Option<i32> {
        self.node.opcode.int32(self.node.operand)
    }

    pub(crate) fn reference(&self) -> Reference<'a> {
        let (value, symbolic) = (self.node.operand as u32, self.node.symbolic);
        self.code.reference(value, symbolic)
    }
}

pub(crate) fn prefix<'a>(code: &'a Code, slot: &PrefixSlot) -> Prefix<'a> {
    match slot.opcode {
        Opcode::Constrained => Prefix::Constrained(code.reference(slot.value, slot.symbolic)),
        Opcode::No => Prefix::No(slot.value as u8),
        Opcode::Readonly => Prefix::Readonly,
        Opcode::Tail => Prefix::Tail,
        Opcode::Unaligned => Prefix::Unaligned(slot.value as u8),
        _ => Prefix::Volatile,
    }
}

impl fmt::Debug for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instruction")
            .field("id", &self.id)
            .field("opcode", &self.opcode())
            .field("operand", &self.operand())
            .finish_non_exhaustive()
    }
}

impl Code {
    /// The instruction; `None` if there is none or it was removed.
    pub(crate) fn instruction(&self, id: InstructionId) -> Option<Instruction<'_>> {
        let node = self.nodes.get(id.0 as usize);
        let node = node.filter(|node| !node.removed)?;
        (id.0 != END).then_some(Instruction {
            id,
            node,
            code: self,
        })
    }

    /// All instructions in order.
    pub(crate) fn instructions(&self) -> Instructions<'_> {
        Instructions {
            code: self,
            next: self.first(),
        }
    }
}

/// The instructions of a body or fragment, in order.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    code: &'a Code,
    next: u32,
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Instruction<'a>> {
        if self.next == END {
            return None;
        }
        let index = self.next;
        let node = self.code.node(index)?;
        self.next = self.code.next(index);
        Some(Instruction {
            id: InstructionId(index),
            node,
            code: self.code,
        })
    }
}
