//! The instructions of a body as they were decoded, without the nodes that edits need.

use super::MethodBody;
use crate::code::ClauseKind;
use crate::instruction::{InstructionId, Position};
use crate::opcode::{Decoding, ONE_BYTE, Opcode, OperandDecoding, OperandKind, TWO_BYTES};
use crate::token::Token;

use super::clause::HandlerKind;

/// An instruction as it was decoded. It names others by offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalInstruction<'a> {
    offset: u32,
    end: u32,
    opcode: Opcode,
    operand: u64,
    /// The distances of a `switch`.
    table: &'a [u8],
}

impl<'a> OriginalInstruction<'a> {
    /// Its offset, which is that of its first prefix if it has any.
    #[must_use]
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// The opcode: of a branch the long form, of an argument or local the shortest.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// The index of the local that it reads, writes or takes the address of.
    #[must_use]
    pub const fn local(&self) -> Option<u16> {
        self.opcode.local(self.operand)
    }

    /// The number that an `ldc.i4` of any form loads.
    #[must_use]
    pub const fn int32(&self) -> Option<i32> {
        self.opcode.int32(self.operand)
    }

    /// The token of its operand.
    #[must_use]
    pub fn token(&self) -> Option<Token> {
        let kind = self.opcode.operand_kind();
        kind.is_token().then_some(Token::new(self.operand as u32))
    }

    /// The offsets to which it may branch: of a `switch` in the order of its table.
    pub fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let kind = self.opcode.operand_kind();
        let has_one = matches!(kind, OperandKind::Target | OperandKind::ShortTarget);
        let (end, distance) = (self.end, self.operand as u32);
        let one = has_one.then_some(end.wrapping_add(distance));
        let table = self.table.chunks_exact(4).map(move |entry| {
            let distance = entry.first_chunk();
            end.wrapping_add(distance.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
        });
        one.into_iter().chain(table)
    }
}

/// The decoded instructions of a body, in order.
#[derive(Clone, Debug)]
pub struct OriginalInstructions<'a> {
    code: &'a [u8],
    at: usize,
}

impl<'a> Iterator for OriginalInstructions<'a> {
    type Item = OriginalInstruction<'a>;

    fn next(&mut self) -> Option<OriginalInstruction<'a>> {
        let offset = self.at;
        let mut at = offset;
        // The code was decoded before: each of its instructions is whole.
        let (decoding, operand) = loop {
            let byte = *self.code.get(at)?;
            let (decoding, operand) = match byte {
                0xfe => (decoding_of(&TWO_BYTES, *self.code.get(at + 1)?), at + 2),
                _ => (decoding_of(&ONE_BYTE, byte), at + 1),
            };
            at += usize::from(decoding.length);
            if decoding.operand != OperandDecoding::Prefix {
                break (decoding, operand);
            }
        };
        let rest = self.code.get(operand..at)?;
        let mut bytes = [0; 8];
        bytes.get_mut(..rest.len())?.copy_from_slice(rest);
        let mut operand = u64::from_le_bytes(bytes);
        let mut opcode = decoding.opcode;
        let mut table: &[u8] = &[];
        match decoding.operand {
            OperandDecoding::ShortTarget => operand = i64::from(operand as i8) as u64,
            OperandDecoding::ShortVariable | OperandDecoding::Variable => {
                opcode = opcode.for_variable(operand as u16);
            }
            OperandDecoding::Switch => {
                let size = (operand as usize).checked_mul(4)?;
                table = self.code.get(at..)?.get(..size)?;
                at += size;
            }
            _ => {}
        }
        self.at = at;
        Some(OriginalInstruction {
            offset: offset as u32,
            end: at as u32,
            opcode,
            operand,
            table,
        })
    }
}

impl MethodBody {
    /// The instructions as they were decoded, whatever edits have changed since. Several times faster than
    /// [`instructions`](Self::instructions) if the body was [decoded lazily](Self::decode_lazily_into), and leaves it as it is.
    ///
    /// ```
    /// use clr_profiler_il::body::MethodBody;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `ldarg.0; brfalse.s IL_0004; nop; ret`
    /// let body = MethodBody::decode(&[0x16, 0x02, 0x2c, 0x01, 0x00, 0x2a])?;
    /// let mut branches = body.original_instructions().filter(|one| one.targets().count() > 0);
    /// let branch = branches.next().unwrap();
    /// assert_eq!((branch.offset(), branch.targets().next()), (1, Some(4)));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn original_instructions(&self) -> OriginalInstructions<'_> {
        let code = match self.code.flat() {
            Some(flat) => flat.bytes(),
            None => {
                let original = &self.code.original;
                original.bytes.get(..original.size).unwrap_or_default()
            }
        };
        OriginalInstructions { code, at: 0 }
    }

    /// The offsets in the decoded code at which its handlers begin, and its filters.
    #[must_use]
    pub fn handler_offsets(&self) -> Vec<u32> {
        let mut offsets = Vec::new();
        if let Some(flat) = self.code.flat() {
            for clause in flat.clauses() {
                offsets.push(clause.handler_start);
                if clause.kind == ClauseKind::Filter {
                    offsets.push(clause.filter);
                }
            }
            return offsets;
        }
        let offset = |position: Position| match position {
            Position::Before(id) => self.instruction(id)?.original_offset(),
            Position::End => None,
        };
        for clause in self.clauses() {
            offsets.extend(offset(clause.handler.start));
            if let HandlerKind::Filter { start } = clause.kind {
                offsets.extend(offset(start));
            }
        }
        offsets
    }

    /// The decoded instruction at an offset; `None` if there is none, or it was removed.
    #[must_use]
    pub fn instruction_at(&self, offset: u32) -> Option<InstructionId> {
        let node = *self.code.original.starts.get(offset as usize)?;
        let one = self.instruction(InstructionId(node))?;
        (one.original_offset() == Some(offset)).then_some(one.id)
    }
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn decoding_of(decodings: &'static [Decoding; 256], byte: u8) -> Decoding {
    decodings[byte as usize]
}
