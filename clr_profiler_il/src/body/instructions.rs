use super::error::{BodyError, BodyErrorKind};
use crate::code::{Change, Code, Label, Node, Original, Owner, PADDING, PrefixSlot, pack_range};
use crate::opcode::{Decoding, ONE_BYTE, Opcode, OperandDecoding, OperandKind, TWO_BYTES};

/// Flags the operand of an unlinked branch: the distance has four bytes instead of one.
const LONG: u64 = 1 << 32;

/// The distance from the end of an unlinked branch to its target, and the size of that distance.
#[inline]
pub(super) const fn distance(operand: u64) -> (i64, usize) {
    if operand & LONG == 0 {
        (operand as i8 as i64, 2)
    } else {
        (operand as i32 as i64, 5)
    }
}

/// Reads all instructions. There are no labels yet: the operands of branches are distances, those
/// of switches are offsets. `origin` is the offset of the code in the body.
pub(super) fn read_instructions(
    out: &mut Code,
    bytes: &[u8],
    origin: usize,
) -> Result<(), BodyError> {
    let Original {
        bytes: copy,
        size,
        count,
        jumps,
        long,
        starts,
        changes,
    } = &mut out.original;
    *size = bytes.len();
    copy.extend_from_slice(bytes);
    copy.extend_from_slice(&[0xff; PADDING]);
    if starts.len() < bytes.len() {
        starts.resize(bytes.len(), 0);
    }
    let mut reader = Reader {
        bytes,
        origin,
        padded: copy,
        // An instruction has at least one byte.
        nodes: out.nodes.with_room(bytes.len(), Node::new(Opcode::Nop, 0)),
        count: 1,
        prefixes: &mut out.prefixes,
        switches: &mut out.switches,
        changes,
        long,
        starts: starts.get_mut(..bytes.len()).unwrap_or(&mut []),
        jumps: jumps.with_room(bytes.len() + 1, 0),
        jump_count: 0,
    };
    let mut position = 0;
    loop {
        position = reader.plain(position);
        if position >= bytes.len() {
            break;
        }
        position = reader.instruction(position)?;
    }
    if position > bytes.len() {
        // The last instruction was truncated.
        reader.count -= 1;
        return Err(reader.truncated());
    }
    let (nodes, jump_count) = (reader.count, reader.jump_count);
    out.nodes.extend_to(nodes);
    jumps.extend_to(jump_count);
    let last = nodes as u32 - 1;
    *count = last;
    out.close(last);
    Ok(())
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// The offset of the code in the body.
    origin: usize,
    /// The code and the bytes after it, so that a word can be read at any offset.
    padded: &'a [u8],
    /// The nodes that were read, and room for as many as there can be.
    nodes: &'a mut [Node],
    /// The number of nodes that were read, including the end node.
    count: usize,
    prefixes: &'a mut Vec<PrefixSlot>,
    switches: &'a mut Vec<Label>,
    changes: &'a mut Vec<Change>,
    long: &'a mut Vec<u32>,
    starts: &'a mut [u32],
    /// As `nodes`.
    jumps: &'a mut [u32],
    jump_count: usize,
}

impl Reader<'_> {
    /// Reads instructions up to one that needs the slow path, and returns its offset. If that is
    /// after the code, the last instruction is truncated.
    ///
    /// Decoding spends nearly all of its time here: no calls, one jump for each instruction, and
    /// branches and exits are noted without a jump.
    #[inline]
    fn plain(&mut self, mut position: usize) -> usize {
        let (padded, starts) = (self.padded, &mut *self.starts);
        let (nodes, jumps) = (&mut *self.nodes, &mut *self.jumps);
        let (mut count, mut jump_count) = (self.count, self.jump_count);
        while let Some(start) = starts.get_mut(position)
            && let Some(word) = padded.get(position..)
            && let Some(word) = word.first_chunk()
            && let Some(node) = nodes.get_mut(count)
            && let Some(jump) = jumps.get_mut(jump_count)
        {
            // First the value that the next round depends on: a byte loaded on its own arrives
            // earlier.
            let [byte, ..]: [u8; 8] = *word;
            let decoding = decoding_of(&ONE_BYTE, byte);
            let operand = (u64::from_le_bytes(*word) >> 8) as u32 & decoding.mask;
            if operand < u32::from(decoding.least) {
                break;
            }
            let index = count as u32;
            (*start, *jump) = (index, index);
            *node = Node {
                offset: position as u32,
                ..Node::new(decoding.opcode, u64::from(operand))
            };
            position += usize::from(decoding.length);
            jump_count += usize::from(decoding.operand.jumps());
            count += 1;
        }
        (self.count, self.jump_count) = (count, jump_count);
        position
    }

    /// Reads any instruction and its prefixes; returns the offset after it.
    #[inline(never)]
    fn instruction(&mut self, start: usize) -> Result<usize, BodyError> {
        let index = self.count as u32;
        let first_prefix = self.prefixes.len() as u32;
        let (mut position, mut prefix_count) = (start, 0);
        let (opcode, operand, end) = loop {
            let [byte] = self.take(position)?;
            let (mut decoding, mut operand_at) = (decoding_of(&ONE_BYTE, byte), position + 1);
            if byte == 0xfe {
                let [second] = self.take(operand_at)?;
                (decoding, operand_at) = (decoding_of(&TWO_BYTES, second), position + 2);
            }
            let opcode = decoding.opcode;
            let end = position + usize::from(decoding.length);
            let word = match end.saturating_sub(operand_at) {
                0 => 0,
                1 => u32::from_le_bytes([self.take::<1>(operand_at)?[0], 0, 0, 0]),
                2 => u32::from(u16::from_le_bytes(self.take(operand_at)?)),
                _ => u32::from_le_bytes(self.take(operand_at)?),
            };
            let operand = u64::from(word);
            if let Some(jump) = self.jumps.get_mut(self.jump_count) {
                *jump = index;
            }
            self.jump_count += usize::from(decoding.operand.jumps());
            match decoding.operand {
                OperandDecoding::Plain | OperandDecoding::Exit => break (opcode, operand, end),
                OperandDecoding::ShortVariable | OperandDecoding::Variable => {
                    let shortest = opcode.for_variable(word as u16);
                    if shortest != opcode {
                        self.changes.push(Change::written(index));
                    }
                    break (shortest, operand, end);
                }
                OperandDecoding::ShortTarget | OperandDecoding::Target => {
                    if prefix_count > 0 {
                        // The size does not determine the form.
                        self.changes.push(Change::written(index));
                    }
                    if decoding.operand == OperandDecoding::ShortTarget {
                        break (opcode, operand, end);
                    }
                    self.long.push(index);
                    break (opcode, operand | LONG, end);
                }
                OperandDecoding::Switch => {
                    let (operand, end) = self.switch(position, end, word)?;
                    break (opcode, operand, end);
                }
                OperandDecoding::Long => {
                    break (opcode, u64::from_le_bytes(self.take(operand_at)?), end);
                }
                OperandDecoding::Prefix => {
                    self.prefix(position, opcode, word, end, first_prefix)?;
                    prefix_count += 1;
                    position = end;
                }
                OperandDecoding::Unknown => return Err(self.unknown(position)),
            }
        };
        if let Some(slot) = self.starts.get_mut(start) {
            *slot = index;
        }
        if let Some(node) = self.nodes.get_mut(self.count) {
            *node = Node {
                offset: start as u32,
                first_prefix,
                prefix_count,
                ..Node::new(opcode, operand)
            };
        }
        self.count += 1;
        Ok(end)
    }

    fn prefix(
        &mut self,
        at: usize,
        opcode: Opcode,
        value: u32,
        end: usize,
        first: u32,
    ) -> Result<(), BodyError> {
        let earlier = self.prefixes.get(first as usize..).unwrap_or(&[]);
        if earlier.iter().any(|prefix| prefix.opcode == opcode) {
            return Err(self.error(at, BodyErrorKind::RepeatedPrefix(opcode)));
        }
        if end == self.bytes.len() {
            return Err(self.error(at, BodyErrorKind::DanglingPrefix(opcode)));
        }
        self.prefixes.push(PrefixSlot {
            opcode,
            symbolic: false,
            value,
        });
        Ok(())
    }

    fn switch(
        &mut self,
        position: usize,
        table: usize,
        count: u32,
    ) -> Result<(u64, usize), BodyError> {
        let rest = self.bytes.get(table..).unwrap_or(&[]);
        let size = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(4));
        let Some(entries) = size.and_then(|size| rest.get(..size)) else {
            return Err(self.undecodable(BodyErrorKind::SwitchCount(count), position));
        };
        let end = table + entries.len();
        let first = self.switches.len();
        for entry in entries.chunks_exact(4) {
            let distance = entry
                .first_chunk()
                .map_or(0, |bytes| i32::from_le_bytes(*bytes));
            let target = end as i64 + i64::from(distance);
            match u32::try_from(target) {
                // An offset for now; later replaced by a label.
                Ok(offset) if (offset as usize) < self.bytes.len() => {
                    self.switches.push(Label {
                        index: offset,
                        owner: Owner::NONE,
                    });
                }
                _ => return Err(self.error(position, BodyErrorKind::TargetOutside { target })),
            }
        }
        Ok((pack_range(first, entries.len() / 4), end))
    }

    #[inline]
    fn take<const N: usize>(&self, position: usize) -> Result<[u8; N], BodyError> {
        let rest = self.bytes.get(position..);
        let bytes = rest.and_then(|rest| rest.first_chunk()).copied();
        bytes.ok_or_else(|| self.truncated())
    }

    fn error(&self, offset: usize, kind: BodyErrorKind) -> BodyError {
        BodyError::new(self.origin + offset, kind)
    }

    #[cold]
    fn unknown(&self, position: usize) -> BodyError {
        let code = match self.bytes.get(position..) {
            Some([0xfe, second, ..]) => 0xfe00 | u16::from(*second),
            Some([byte, ..]) => u16::from(*byte),
            _ => 0,
        };
        self.undecodable(BodyErrorKind::UnknownOpcode(code), position)
    }

    #[cold]
    fn truncated(&self) -> BodyError {
        self.undecodable(BodyErrorKind::TruncatedInstruction, self.bytes.len())
    }

    /// The error for bytes that do not decode: control may never reach them.
    #[cold]
    fn undecodable(&self, kind: BodyErrorKind, offset: usize) -> BodyError {
        let nodes = self.nodes.get(1..self.count).unwrap_or(&[]);
        let Some(last) = nodes.last() else {
            return self.error(offset, kind);
        };
        let start = self.tail_start(last);
        let ends = nodes.iter().skip(1).map(|node| node.offset as usize);
        let ends = ends.chain([start]);
        // A branch that skips these bytes targets an offset after the last whole instruction.
        let beyond = |target: i64| target > i64::from(last.offset);
        let mut nodes = nodes.iter().zip(ends);
        let reached = nodes.any(|(node, end)| match node.opcode.operand_kind() {
            OperandKind::Target => beyond(end as i64 + distance(node.operand).0),
            OperandKind::Switch => {
                let (start, count) = crate::code::unpack_range(node.operand);
                let mut targets = self.switches.iter().skip(start).take(count);
                targets.any(|target| beyond(i64::from(target.index)))
            }
            _ => false,
        });
        match self.bytes.get(start) {
            Some(&byte) if last.opcode.ends_block() && !reached => {
                self.error(start, BodyErrorKind::UndecodableTail { byte })
            }
            _ => self.error(offset, kind),
        }
    }

    /// The end of the decoded instructions.
    fn tail_start(&self, last: &Node) -> usize {
        let prefixes = self.prefixes.iter().skip(last.first_prefix as usize);
        let prefixes: usize = prefixes
            .take(usize::from(last.prefix_count))
            .map(|prefix| usize::from(prefix.opcode.encoding().length))
            .sum();
        let start = last.offset as usize + prefixes;
        // The node holds the long form of a branch and the short form of a variable, so the bytes
        // decide.
        let (code, length) = match self.bytes.get(start..) {
            Some([0xfe, second, ..]) => (0xfe00 | u16::from(*second), 2),
            Some([byte, ..]) => (u16::from(*byte), 1),
            _ => (0, 1),
        };
        let size = Opcode::from_code(code).and_then(|opcode| opcode.operand_kind().size());
        start + length + size.map_or(0, usize::from)
    }
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn decoding_of(decodings: &'static [Decoding; 256], byte: u8) -> Decoding {
    decodings[byte as usize]
}
