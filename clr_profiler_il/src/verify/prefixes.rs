use super::{Check, Rule};
use crate::code::END;
use crate::instruction::Instruction;
use crate::opcode::Opcode;

impl Check<'_> {
    /// Checks that prefixes apply to the instruction (III.2).
    #[inline]
    pub(super) fn prefixes(&mut self, instruction: &Instruction<'_>) {
        let code = instruction.code;
        for prefix in code.prefixes_of(instruction.node) {
            let alignment =
                prefix.opcode == Opcode::Unaligned && !matches!(prefix.value, 1 | 2 | 4);
            if alignment || !applies(prefix.opcode, instruction.opcode()) {
                self.blame(instruction, Rule::Prefix(prefix.opcode));
            }
            if prefix.opcode == Opcode::Tail {
                let next = code.next(instruction.id.0);
                let node = code.node(next).filter(|_| next != END);
                if node.is_none_or(|node| node.opcode != Opcode::Ret) {
                    self.blame(instruction, Rule::TailWithoutRet);
                }
            }
        }
    }
}

fn applies(prefix: Opcode, to: Opcode) -> bool {
    use Opcode as Op;
    let indirect = to.mnemonic().starts_with("ldind.")
        || to.mnemonic().starts_with("stind.")
        || matches!(
            to,
            Op::Ldfld | Op::Stfld | Op::Ldobj | Op::Stobj | Op::Initblk | Op::Cpblk
        );
    match prefix {
        // Calls of static virtual methods are newer than the standard.
        Op::Constrained => matches!(to, Op::Callvirt | Op::Call | Op::Ldftn),
        // The callee is the `Address` method of an array.
        Op::Readonly => matches!(to, Op::Ldelema | Op::Call | Op::Callvirt),
        Op::Tail => matches!(to, Op::Call | Op::Callvirt | Op::Calli),
        Op::Volatile => indirect || matches!(to, Op::Ldsfld | Op::Stsfld),
        Op::Unaligned => indirect,
        _ => true,
    }
}
