use super::{Branch, Flat, LONG};
use crate::code::PADDING;
use crate::opcode::{Decoding, ONE_BYTE, Opcode, OperandDecoding, TWO_BYTES};

const RET: u8 = 0x2a;
const JMP: u8 = 0x27;

/// The facts for stepping over an instruction, by its first byte.
#[derive(Clone, Copy)]
struct Step {
    length: u8,
    /// 1 for branches and exits.
    jumps: u8,
    /// With a smaller byte after the code, the instruction takes the slow path: always, or because
    /// the argument or local has a shorter form.
    least: u16,
}

const STEPS: [Step; 256] = steps();

#[expect(clippy::indexing_slicing, reason = "run by the compiler alone")]
const fn steps() -> [Step; 256] {
    let mut steps = [Step {
        length: 0,
        jumps: 0,
        least: 0x100,
    }; 256];
    let mut byte = 0;
    while byte < 256 {
        steps[byte] = Step::of(ONE_BYTE[byte]);
        byte += 1;
    }
    steps
}

impl Step {
    const fn of(decoding: Decoding) -> Self {
        Self {
            length: decoding.length,
            jumps: match decoding.operand {
                OperandDecoding::Switch => 0,
                other => other.jumps(),
            },
            least: match decoding.operand {
                OperandDecoding::Plain
                | OperandDecoding::Exit
                | OperandDecoding::Long
                | OperandDecoding::ShortTarget
                | OperandDecoding::Target => 0,
                OperandDecoding::ShortVariable => decoding.least as u16,
                _ => 0x100,
            },
        }
    }
}

impl Flat {
    /// Reads code; `false` if it is malformed, or an edit of it needs nodes.
    ///
    /// Clauses follow, by [`add_clause`](Self::add_clause).
    pub(crate) fn read(&mut self, code: &[u8]) -> bool {
        self.size = code.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(code);
        self.bytes.extend_from_slice(&[0xff; PADDING]);
        self.starts.clear();
        self.starts.resize(code.len(), 0);
        self.branches.clear();
        self.switches.clear();
        self.rets.clear();
        self.clauses.clear();
        self.prologue.clear();
        self.epilogue.clear();
        self.marks.clear();
        self.is_epilogue_first = false;
        !code.is_empty()
            && u32::try_from(code.len()).is_ok()
            && self.step_through(code.len()).is_some()
            && self.find_branches().is_some()
            && self.switches_are_regular()
    }

    /// Finds the starts of instructions, branches and exits.
    fn step_through(&mut self, size: usize) -> Option<()> {
        // An instruction has at least one byte.
        let jumps = self.jumps.with_room(size + 1, 0);
        let (mut position, mut jump_count) = (0, 0);
        let (bytes, starts) = (&*self.bytes, &mut *self.starts);
        loop {
            while let Some(start) = starts.get_mut(position)
                && let Some(window) = bytes.get(position..)
                && let Some(&[byte, next]) = window.first_chunk()
                && let Some(jump) = jumps.get_mut(jump_count)
            {
                let step = step_of(byte);
                if u16::from(next) < step.least {
                    break;
                }
                *start = 1;
                *jump = position as u32;
                jump_count += usize::from(step.jumps);
                position += usize::from(step.length);
            }
            if position >= size {
                break;
            }
            let start = position;
            position = step_slowly(bytes.get(..size)?, start, &mut self.switches)?;
            *starts.get_mut(start)? = 1;
        }
        self.jumps.extend_to(jump_count);
        // Otherwise the last instruction is truncated.
        (position == size).then_some(())
    }

    /// Records branches and returns; `None` if a branch has no target, or the method is left by
    /// `jmp`.
    fn find_branches(&mut self) -> Option<()> {
        for &at in self.jumps.iter() {
            let start = at as usize;
            let byte = *self.bytes.get(start)?;
            if byte == RET {
                self.rets.push(at);
                continue;
            }
            if byte == JMP {
                return None;
            }
            let is_long = usize::from(step_of(byte).length) == LONG;
            let operand = self.bytes.get(start + 1..)?;
            let (distance, length) = match is_long {
                true => (i32::from_le_bytes(*operand.first_chunk()?), LONG),
                false => (i32::from(i8::from_le_bytes(*operand.first_chunk()?)), 2),
            };
            let end = at + length as u32;
            let target = end.checked_add_signed(distance)?;
            if self.starts.get(target as usize) != Some(&1) {
                return None;
            }
            self.branches.push(Branch {
                end,
                target,
                is_long,
            });
        }
        Some(())
    }

    fn switches_are_regular(&self) -> bool {
        let mut switches = self.switches.iter();
        switches.all(|&at| {
            let mut targets = self.targets_of(at);
            targets.all(|target| match usize::try_from(target) {
                Ok(target) => self.starts.get(target) == Some(&1),
                Err(_) => false,
            })
        })
    }

    /// The offset after a `switch`.
    pub(super) fn end_of_switch(&self, at: u32) -> usize {
        let count = self.bytes.get(at as usize + 1..);
        let count = count.and_then(|rest| rest.first_chunk());
        let count = count.map_or(0, |bytes| u32::from_le_bytes(*bytes));
        at as usize + LONG + 4 * count as usize
    }

    /// The targets of a `switch`.
    pub(super) fn targets_of(&self, at: u32) -> impl Iterator<Item = i64> {
        let end = self.end_of_switch(at);
        let table = self.bytes.get(at as usize + LONG..end).unwrap_or(&[]);
        table.chunks_exact(4).map(move |entry| {
            let distance = entry.first_chunk();
            let distance = distance.map_or(0, |bytes| i32::from_le_bytes(*bytes));
            end as i64 + i64::from(distance)
        })
    }
}

/// Steps over any instruction and its prefixes; `None` if it is malformed or needs a node.
#[inline(never)]
fn step_slowly(code: &[u8], start: usize, switches: &mut Vec<u32>) -> Option<usize> {
    let mut at = start;
    // The prefixes so far, by the second byte of their codes.
    let mut prefixes = 0_u32;
    loop {
        let byte = *code.get(at)?;
        let (decoding, operand_at, bit) = if byte == 0xfe {
            let second = *code.get(at + 1)?;
            let bit = 1_u32.checked_shl(u32::from(second)).unwrap_or(0);
            (decoding_of(&TWO_BYTES, second), at + 2, bit)
        } else {
            (decoding_of(&ONE_BYTE, byte), at + 1, 0)
        };
        let end = at + usize::from(decoding.length);
        match decoding.operand {
            OperandDecoding::Plain | OperandDecoding::Long => return Some(end),
            OperandDecoding::ShortVariable | OperandDecoding::Variable => {
                let mut number = 0;
                for &byte in code.get(operand_at..end)?.iter().rev() {
                    number = number << 8 | u16::from(byte);
                }
                let is_shortest = decoding.opcode.for_variable(number) == decoding.opcode;
                return is_shortest.then_some(end);
            }
            OperandDecoding::Prefix => {
                if decoding.opcode == Opcode::Tail || prefixes & bit != 0 {
                    return None;
                }
                prefixes |= bit;
                at = end;
            }
            OperandDecoding::Switch if prefixes == 0 => {
                let count = code.get(operand_at..)?.first_chunk();
                let count = usize::try_from(u32::from_le_bytes(*count?)).ok()?;
                let end = end.checked_add(count.checked_mul(4)?)?;
                if end > code.len() {
                    return None;
                }
                switches.push(start as u32);
                return Some(end);
            }
            _ => return None,
        }
    }
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn step_of(byte: u8) -> Step {
    STEPS[byte as usize]
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn decoding_of(decodings: &'static [Decoding; 256], byte: u8) -> Decoding {
    decodings[byte as usize]
}
