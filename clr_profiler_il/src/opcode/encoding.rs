use super::{Opcode, OperandKind};

/// The facts for encoding an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding {
    /// The bytes of the code, the first one lowest; for a branch, those of the short form.
    pub(crate) code: u16,
    /// The number of bits by which the operand is shifted above the code.
    pub(crate) shift: u8,
    /// The size of code and operand; for a branch that of the short form, for a `switch` without
    /// the table.
    pub(crate) length: u8,
    pub(crate) layout: OperandLayout,
}

/// The layout of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandLayout {
    /// None, or up to four literal bytes.
    Short,
    /// Eight literal bytes.
    Long,
    /// A distance.
    Target,
    /// A table of distances.
    Switch,
}

const ENCODINGS: [Encoding; 256] = encodings();

#[expect(
    clippy::indexing_slicing,
    reason = "run by the compiler alone; there are fewer than 256 opcodes"
)]
const fn encodings() -> [Encoding; 256] {
    let mut encodings = [Encoding::of(Opcode::Nop); 256];
    let mut index = 0;
    while index < Opcode::ALL.len() {
        encodings[Opcode::ALL[index] as usize] = Encoding::of(Opcode::ALL[index]);
        index += 1;
    }
    encodings
}

impl Encoding {
    const fn of(opcode: Opcode) -> Self {
        let opcode = opcode.short_form();
        let kind = opcode.operand_kind();
        let operand = match kind.size() {
            Some(size) => size,
            None => 4,
        };
        Self {
            code: if opcode.code_length() == 2 {
                opcode.code().swap_bytes()
            } else {
                opcode.code()
            },
            shift: 8 * opcode.code_length(),
            length: opcode.code_length() + operand,
            layout: match kind {
                OperandKind::Int64 | OperandKind::Float64 => OperandLayout::Long,
                OperandKind::ShortTarget | OperandKind::Target => OperandLayout::Target,
                OperandKind::Switch => OperandLayout::Switch,
                _ => OperandLayout::Short,
            },
        }
    }
}

impl Opcode {
    /// Whether the operand is one or several positions in the code.
    #[inline]
    pub(crate) const fn is_branch(self) -> bool {
        let layout = self.encoding().layout;
        matches!(layout, OperandLayout::Target | OperandLayout::Switch)
    }

    /// The encoding of the instruction.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "an opcode's number is one byte, and there are 256 encodings"
    )]
    pub(crate) const fn encoding(self) -> Encoding {
        ENCODINGS[self as usize]
    }
}
