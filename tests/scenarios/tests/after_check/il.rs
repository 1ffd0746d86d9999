//! The bytes of a body, with the positions of its instructions: faults are put into bytes, because nothing else can
//! hold them.

use std::ops::Range;

use clr_profiler::il::opcode::{Opcode, OperandKind};

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) opcode: Opcode,
    /// The position of its opcode in the bytes.
    pub(super) at: usize,
    /// The position of its operand.
    pub(super) operand: usize,
    /// The position after it.
    pub(super) end: usize,
}

impl Op {
    pub(super) fn kind(&self) -> OperandKind {
        self.opcode.operand_kind()
    }
}

/// A body.
#[derive(Clone, Debug)]
pub(super) struct Il {
    pub(super) bytes: Vec<u8>,
    pub(super) ops: Vec<Op>,
    /// The positions of the code.
    pub(super) code: Range<usize>,
}

impl Il {
    /// Nothing if the bytes are not a body.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let first = *bytes.first()?;
        // ECMA-335 II.25.4
        let (start, size) = match first & 3 {
            2 => (1, usize::from(first >> 2)),
            _ => (12, number(bytes, 4)? as usize),
        };
        let code = start..start + size;
        let (mut ops, mut at) = (Vec::new(), start);
        while at < code.end {
            let first = u16::from(*bytes.get(at)?);
            let code = match first {
                0xFE => 0xFE00 | u16::from(*bytes.get(at + 1)?),
                _ => first,
            };
            let opcode = Opcode::from_code(code)?;
            let operand = at + usize::from(opcode.code_length());
            let size = match opcode.operand_kind().size() {
                Some(size) => usize::from(size),
                None => 4 + 4 * number(bytes, operand)? as usize,
            };
            let end = operand + size;
            ops.push(Op {
                opcode,
                at,
                operand,
                end,
            });
            at = end;
        }
        let bytes = bytes.to_vec();
        Some(Self { bytes, ops, code })
    }

    pub(super) fn is_fat(&self) -> bool {
        self.code.start == 12
    }

    /// The token of the locals' signature.
    pub(super) fn locals(&self) -> Option<u32> {
        number(&self.bytes, 8).filter(|token| self.is_fat() && *token != 0)
    }

    /// The operand of an instruction with four bytes.
    pub(super) fn operand(&self, op: &Op) -> u32 {
        number(&self.bytes, op.operand).unwrap_or_default()
    }

    /// Writes bytes.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        if let Some(old) = self.bytes.get_mut(at..at + bytes.len()) {
            old.copy_from_slice(bytes);
        }
    }

    /// The position of the first exception clause, and whether it is of the long form (II.25.4.5).
    pub(super) fn clause(&self) -> Option<(usize, bool)> {
        let at = self.code.end.next_multiple_of(4);
        let kind = *self.bytes.get(at)?;
        (self.is_fat() && kind & 1 == 1).then_some((at + 4, kind & 0x40 != 0))
    }
}

/// Four bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
