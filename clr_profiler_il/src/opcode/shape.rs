use super::{Opcode, OperandKind};

/// All that reading an instruction needs to know, in the eight bytes that one access fetches.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Shape {
    /// Which of the four bytes behind the code belong to the operand.
    pub(crate) mask: u32,
    /// The opcode; of a branch the long form.
    pub(crate) opcode: Opcode,
    pub(crate) class: Class,
    /// The number of bytes behind the code, without the table of a `switch`.
    pub(crate) size: u8,
    /// A smaller number of an argument or local than this has a shorter form.
    pub(crate) least: u8,
}

/// What is to be done with an instruction's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Class {
    /// Nothing: there is none, or it has up to four bytes that stay as they are.
    Plain,
    /// It is a distance in one byte.
    ShortTarget,
    /// It is a distance in four bytes.
    Target,
    /// It has eight bytes.
    Long,
    /// It has the two-byte form of a number that may fit into one.
    Variable,
    Switch,
    Prefix,
    /// There is no such code.
    Unknown,
}

/// The shapes by the code, if it has one byte.
pub(crate) const ONE_BYTE: [Shape; 256] = shapes(0);
/// The shapes by the byte behind `0xfe`.
pub(crate) const TWO_BYTES: [Shape; 256] = shapes(0xfe);

#[expect(clippy::indexing_slicing, reason = "run by the compiler alone")]
const fn shapes(first: u16) -> [Shape; 256] {
    let unknown = Shape {
        mask: 0,
        opcode: Opcode::Nop,
        class: Class::Unknown,
        size: 0,
        least: 0,
    };
    let mut shapes = [unknown; 256];
    let mut index = 0;
    while index < Opcode::ALL.len() {
        let opcode = Opcode::ALL[index];
        if opcode.code() >> 8 == first {
            shapes[(opcode.code() & 0xff) as usize] = Shape::of(opcode);
        }
        index += 1;
    }
    shapes
}

impl Shape {
    const fn of(opcode: Opcode) -> Self {
        let kind = opcode.operand_kind();
        let size = match kind.size() {
            Some(size) => size,
            None => 4,
        };
        let class = match kind {
            _ if opcode.is_prefix() => Class::Prefix,
            OperandKind::Int64 | OperandKind::Float64 => Class::Long,
            OperandKind::Variable => Class::Variable,
            OperandKind::ShortTarget => Class::ShortTarget,
            OperandKind::Target => Class::Target,
            OperandKind::Switch => Class::Switch,
            _ => Class::Plain,
        };
        Self {
            mask: match size {
                0 => 0,
                1 => 0xff,
                2 => 0xffff,
                _ => u32::MAX,
            },
            opcode: opcode.long_form(),
            class,
            size,
            least: match opcode {
                Opcode::LdargS | Opcode::LdlocS | Opcode::StlocS => 4,
                _ => 0,
            },
        }
    }
}
