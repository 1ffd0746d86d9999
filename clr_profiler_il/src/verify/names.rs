use super::{Check, Rule};
use crate::instruction::Instruction;
use crate::opcode::OperandKind;
use crate::symbol::{Reference, Symbol};
use crate::token::TokenTable;

impl Check<'_> {
    /// Checks that the operand is a token or symbol of the kind that the instruction takes
    /// (III.1.9).
    #[inline]
    pub(super) fn name(&mut self, instruction: &Instruction<'_>) {
        let kind = instruction.opcode().operand_kind();
        if kind.is_token() && !fits(kind, instruction.reference()) {
            self.blame(instruction, Rule::OperandName(kind));
        }
    }
}

/// Whether a reference is a valid operand of this kind.
fn fits(kind: OperandKind, name: Reference<'_>) -> bool {
    use TokenTable as Table;
    let table = match name {
        Reference::Token(token) => token.table(),
        Reference::Symbol(Symbol::Method(_)) => Table::METHOD_DEF,
        Reference::Symbol(Symbol::Type(_)) => Table::TYPE_DEF,
        Reference::Symbol(Symbol::Field(_)) => Table::FIELD_DEF,
        Reference::Symbol(Symbol::String(_)) => Table::USER_STRING,
        Reference::Symbol(Symbol::Signature(_)) => Table::STAND_ALONE_SIG,
    };
    let method = matches!(
        table,
        Table::METHOD_DEF | Table::MEMBER_REF | Table::METHOD_SPEC
    );
    let field = matches!(table, Table::FIELD_DEF | Table::MEMBER_REF);
    let named = matches!(table, Table::TYPE_DEF | Table::TYPE_REF | Table::TYPE_SPEC);
    match kind {
        OperandKind::Method => method,
        OperandKind::Field => field,
        OperandKind::Type => named,
        OperandKind::AnyToken => method || field || named,
        OperandKind::String => table == Table::USER_STRING,
        OperandKind::Signature => table == Table::STAND_ALONE_SIG,
        _ => true,
    }
}
