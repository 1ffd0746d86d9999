use super::{Opcode, OperandKind};

/// The facts for decoding an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding {
    /// Selects the bytes of the operand among the four after the code; 0 if [`least`](Self::least)
    /// sends the instruction to the slow path.
    pub(crate) mask: u32,
    /// The opcode; for a branch, its long form.
    pub(crate) opcode: Opcode,
    pub(crate) operand: OperandDecoding,
    /// The size of code and operand, without the table of a `switch`.
    pub(crate) length: u8,
    /// An instruction with a smaller operand takes the slow path: the index of an argument or local
    /// with a shorter form, or anything that is neither that nor plain nor a short branch.
    pub(crate) least: u8,
}

/// How to decode an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum OperandDecoding {
    /// Nothing to do: there is none, or it has up to four bytes that are kept.
    Plain = 0,
    /// The index of an argument or local, which may have a form without operand.
    ShortVariable = 1,
    /// Eight bytes.
    Long = 2,
    /// The two-byte form of an index that may fit into one byte.
    Variable = 3,
    Prefix = 4,
    /// There is no such code.
    Unknown = 5,
    /// A distance in one byte.
    ShortTarget = Self::JUMPS,
    /// A distance in four bytes.
    Target = Self::JUMPS + 1,
    Switch = Self::JUMPS + 2,
    /// As `Plain`, but the instruction leaves the method: `ret` or `jmp`.
    Exit = Self::JUMPS + 3,
}

impl OperandDecoding {
    /// The highest bit, set for branches, switches and exits.
    const JUMPS: u8 = 0x80;

    /// 1 for branches, switches and exits.
    #[inline]
    pub(crate) const fn jumps(self) -> u8 {
        self as u8 >> 7
    }
}

/// The decodings of one-byte codes.
pub(crate) const ONE_BYTE: [Decoding; 256] = decodings(0);
/// The decodings of two-byte codes, by the byte after `0xfe`.
pub(crate) const TWO_BYTES: [Decoding; 256] = decodings(0xfe);

#[expect(clippy::indexing_slicing, reason = "run by the compiler alone")]
const fn decodings(first: u16) -> [Decoding; 256] {
    let unknown = Decoding {
        mask: 0,
        opcode: Opcode::Nop,
        operand: OperandDecoding::Unknown,
        length: 0,
        least: u8::MAX,
    };
    let mut decodings = [unknown; 256];
    let mut index = 0;
    while index < Opcode::ALL.len() {
        let opcode = Opcode::ALL[index];
        if opcode.code() >> 8 == first {
            decodings[(opcode.code() & 0xff) as usize] = Decoding::of(opcode);
        }
        index += 1;
    }
    decodings
}

impl Decoding {
    const fn of(opcode: Opcode) -> Self {
        let kind = opcode.operand_kind();
        let size = match kind.size() {
            Some(size) => size,
            None => 4,
        };
        let operand = match kind {
            _ if opcode.is_prefix() => OperandDecoding::Prefix,
            _ if opcode.is_exit() => OperandDecoding::Exit,
            OperandKind::Int64 | OperandKind::Float64 => OperandDecoding::Long,
            OperandKind::ShortVariable => OperandDecoding::ShortVariable,
            OperandKind::Variable => OperandDecoding::Variable,
            OperandKind::ShortTarget => OperandDecoding::ShortTarget,
            OperandKind::Target => OperandDecoding::Target,
            OperandKind::Switch => OperandDecoding::Switch,
            _ => OperandDecoding::Plain,
        };
        let (mask, least) = match (operand, size) {
            (OperandDecoding::ShortVariable, _) if opcode.has_implied_forms() => (0xff, 4),
            (
                OperandDecoding::Plain
                | OperandDecoding::ShortVariable
                | OperandDecoding::ShortTarget
                | OperandDecoding::Exit,
                0,
            ) => (0, 0),
            (
                OperandDecoding::Plain
                | OperandDecoding::ShortVariable
                | OperandDecoding::ShortTarget,
                1,
            ) => (0xff, 0),
            (OperandDecoding::Plain | OperandDecoding::Exit, _) => (u32::MAX, 0),
            _ => (0, u8::MAX),
        };
        Self {
            mask,
            opcode: opcode.long_form(),
            operand,
            length: opcode.code_length() + size,
            least,
        }
    }
}
