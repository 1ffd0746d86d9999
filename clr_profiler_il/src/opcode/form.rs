use super::{Opcode, OperandKind};

/// All that writing an instruction needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The bytes of the code, the first one lowest; of a branch those of the short form.
    pub(crate) code: u16,
    /// By how many bits the operand lies above the code.
    pub(crate) shift: u8,
    /// The number of bytes of code and operand; of a branch in the short form, of a `switch`
    /// without the table.
    pub(crate) length: u8,
    pub(crate) layout: OperandLayout,
}

/// What is to be written as operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandLayout {
    /// Nothing, or up to four bytes as they are.
    Short,
    /// Eight bytes as they are.
    Long,
    /// A distance.
    Target,
    /// A table of distances.
    Switch,
}

const FORMS: [Form; 256] = forms();

#[expect(
    clippy::indexing_slicing,
    reason = "run by the compiler alone; there are fewer than 256 opcodes"
)]
const fn forms() -> [Form; 256] {
    let mut forms = [Form::of(Opcode::Nop); 256];
    let mut index = 0;
    while index < Opcode::ALL.len() {
        forms[Opcode::ALL[index] as usize] = Form::of(Opcode::ALL[index]);
        index += 1;
    }
    forms
}

impl Form {
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

const BRANCHES: [bool; 256] = branches();

#[expect(
    clippy::indexing_slicing,
    reason = "run by the compiler alone; there are fewer than 256 opcodes"
)]
const fn branches() -> [bool; 256] {
    let mut branches = [false; 256];
    let mut index = 0;
    while index < Opcode::ALL.len() {
        branches[Opcode::ALL[index] as usize] = matches!(
            Opcode::ALL[index].operand_kind(),
            OperandKind::ShortTarget | OperandKind::Target | OperandKind::Switch
        );
        index += 1;
    }
    branches
}

impl Opcode {
    /// Whether the operand is a place in the code, or several.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "an opcode's number is one byte, and the table has 256 entries"
    )]
    pub(crate) const fn is_branch(self) -> bool {
        BRANCHES[self as usize]
    }

    /// How the instruction is written.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "an opcode's number is one byte, and there are 256 forms"
    )]
    pub(crate) const fn form(self) -> Form {
        FORMS[self as usize]
    }
}
