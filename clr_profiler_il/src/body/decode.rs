use super::error::{BodyError, BodyErrorKind};
use super::length::{FAT_HEADER, MORE_SECTIONS};
use super::sections::read_sections;
use super::{AddedStack, Locals, MethodBody, TINY_MAX_STACK};
use crate::code::{Code, END, Node, PrefixSlot, pack_range, unpack_range};
use crate::instruction::Label;
use crate::opcode::{Class, ONE_BYTE, Opcode, OperandKind, Shape, TWO_BYTES};

const INIT_LOCALS: u8 = 0x10;

impl MethodBody {
    /// Reads a method body: header, code and exception clauses (II.25.4).
    ///
    /// What comes behind the body is not looked at, so `bytes` may be longer.
    ///
    /// # Errors
    ///
    /// A rule of the format that is broken, and where. See [`BodyErrorKind`].
    pub fn decode(bytes: &[u8]) -> Result<Self, BodyError> {
        let mut body = Self::new();
        body.decode_into(bytes)?;
        Ok(body)
    }

    /// Reads a method body in place of this one, in the memory that this one has.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode); the body is then without a meaning.
    pub fn decode_into(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let header = Header::read(bytes)?;
        self.max_stack = header.max_stack;
        self.added_stack = AddedStack::default();
        self.init_locals = header.init_locals;
        self.locals = Locals {
            token: header.locals,
            signature: (header.locals == 0).then(Default::default),
            changed: false,
        };
        self.clauses.clear();
        self.code.clear();
        let end = header.size + header.code_size;
        let code = bytes
            .get(header.size..end)
            .ok_or(BodyError::new(bytes.len(), BodyErrorKind::Truncated))?;
        Decoder {
            out: &mut self.code,
            bytes: code,
            origin: header.size,
            branches: 0,
        }
        .decode()?;
        if header.more_sections {
            read_sections(self, bytes, end, code.len())?;
        }
        Ok(())
    }
}

struct Header {
    size: usize,
    code_size: usize,
    max_stack: u16,
    init_locals: bool,
    more_sections: bool,
    locals: u32,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, BodyError> {
        let truncated = BodyError::new(bytes.len(), BodyErrorKind::Truncated);
        let first = *bytes.first().ok_or(truncated)?;
        match first & 0b11 {
            0b10 => Ok(Self {
                size: 1,
                code_size: usize::from(first >> 2),
                max_stack: TINY_MAX_STACK,
                init_locals: false,
                more_sections: false,
                locals: 0,
            }),
            0b11 => {
                let size = bytes.get(1).ok_or(truncated)? >> 4;
                if size != 3 {
                    return Err(BodyError::new(1, BodyErrorKind::HeaderSize(size)));
                }
                let header: &[u8; FAT_HEADER] = bytes.first_chunk().ok_or(truncated)?;
                let [_, _, s0, s1, c0, c1, c2, c3, l0, l1, l2, l3] = *header;
                Ok(Self {
                    size: FAT_HEADER,
                    // More than the machine can address is not there either.
                    code_size: usize::try_from(u32::from_le_bytes([c0, c1, c2, c3]))
                        .ok()
                        .filter(|&size| size <= bytes.len())
                        .ok_or(truncated)?,
                    max_stack: u16::from_le_bytes([s0, s1]),
                    init_locals: first & INIT_LOCALS != 0,
                    more_sections: first & MORE_SECTIONS != 0,
                    locals: u32::from_le_bytes([l0, l1, l2, l3]),
                })
            }
            _ => Err(BodyError::new(0, BodyErrorKind::UnknownHeader(first))),
        }
    }
}

struct Decoder<'a> {
    out: &'a mut Code,
    bytes: &'a [u8],
    /// Where the code begins in the body.
    origin: usize,
    /// How many branches there were.
    branches: usize,
}

/// In the operand of a branch, until it becomes a label: it is a distance of four bytes, not one.
const LONG: u64 = 1 << 32;

/// From behind a branch to its target.
fn delta(operand: u64) -> i64 {
    if operand & LONG == 0 {
        i64::from(operand as i8)
    } else {
        i64::from(operand as i32)
    }
}

/// Where the prefixes of an instruction are.
#[derive(Clone, Copy)]
struct Prefixes {
    first: u32,
    count: u8,
}

impl Prefixes {
    const NONE: Self = Self { first: 0, count: 0 };
}

impl Decoder<'_> {
    fn error(&self, offset: usize, kind: BodyErrorKind) -> BodyError {
        BodyError::new(self.origin + offset, kind)
    }

    fn decode(mut self) -> Result<(), BodyError> {
        let size = self.bytes.len();
        // Most instructions have two bytes or more, and a branch has at least so many.
        self.out.nodes.reserve(size / 2 + 2);
        let original = &mut self.out.original;
        original.branches.resize(size / 2 + 1, 0);
        if original.starts.len() < size {
            original.starts.resize(size, 0);
        }
        let mut position = 0;
        while let Some(&byte) = self.bytes.get(position) {
            // The ways of most instructions; `instruction` knows all.
            let shape = shape_of(&ONE_BYTE, byte);
            if shape.class <= Class::ShortTarget
                && let Some(word) = self.take(position + 1)
            {
                let operand = u32::from_le_bytes(word) & shape.mask;
                if operand >= u32::from(shape.least) {
                    self.note_branch(shape.class == Class::ShortTarget);
                    self.push(shape.opcode, u64::from(operand), position, Prefixes::NONE);
                    position += 1 + usize::from(shape.size);
                    continue;
                }
            }
            position = self.instruction(position)?;
        }
        let last = self.out.nodes.len() as u32 - 1;
        let original = &mut self.out.original;
        original.count = last;
        original.bytes.extend_from_slice(self.bytes);
        original.branches.truncate(self.branches);
        if let Some(node) = self.out.nodes.last_mut() {
            node.next = END;
        }
        if let Some(end) = self.out.nodes.first_mut() {
            (end.previous, end.next) = (last, if last == END { END } else { 1 });
        }
        self.link()
    }

    /// Notes the instruction that is pushed next as a branch, or does as if it did: a condition
    /// that cannot be foreseen costs more than writing.
    #[inline(always)]
    fn note_branch(&mut self, is_branch: bool) {
        if let Some(slot) = self.out.original.branches.get_mut(self.branches) {
            *slot = self.out.nodes.len() as u32;
        }
        self.branches += usize::from(is_branch);
    }

    #[inline(always)]
    fn push(&mut self, opcode: Opcode, operand: u64, start: usize, prefixes: Prefixes) {
        let index = self.out.nodes.len() as u32;
        if let Some(slot) = self.out.original.starts.get_mut(start) {
            *slot = index;
        }
        self.out.nodes.push(Node {
            next: index + 1,
            previous: index - 1,
            offset: start as u32,
            first_prefix: prefixes.first,
            prefix_count: prefixes.count,
            ..Node::new(opcode, operand)
        });
    }

    /// Reads an instruction and its prefixes; gives the offset behind it.
    #[inline(never)]
    fn instruction(&mut self, start: usize) -> Result<usize, BodyError> {
        let mut position = start;
        let mut prefixes = Prefixes {
            first: self.out.prefixes.len() as u32,
            count: 0,
        };
        let index = self.out.nodes.len() as u32;
        loop {
            let [byte] = self.take(position).ok_or_else(|| self.truncated())?;
            let (mut shape, mut behind) = (shape_of(&ONE_BYTE, byte), position + 1);
            if byte == 0xfe {
                let [second] = self.take(behind).ok_or_else(|| self.truncated())?;
                (shape, behind) = (shape_of(&TWO_BYTES, second), position + 2);
            }
            let word = match self.take(behind) {
                Some(bytes) => u32::from_le_bytes(bytes),
                None => self.last_word(behind, shape.size)?,
            } & shape.mask;
            let end = behind + usize::from(shape.size);
            let (mut operand, mut opcode) = (u64::from(word), shape.opcode);
            match shape.class {
                Class::Plain => {
                    if word < u32::from(shape.least) {
                        opcode = opcode.for_variable(word as u16);
                        self.out.original.touched.push(index);
                    }
                }
                Class::ShortTarget => self.note_branch(true),
                Class::Target => {
                    operand |= LONG;
                    self.note_branch(true);
                    // It may become short.
                    self.out.original.touched.push(index);
                }
                Class::Switch => {
                    let (operand, end) = self.switch(position, end, word)?;
                    self.note_branch(true);
                    self.push(opcode, operand, start, prefixes);
                    return Ok(end);
                }
                Class::Variable => {
                    opcode = opcode.for_variable(word as u16);
                    self.out.original.touched.push(index);
                }
                Class::Long => {
                    let bytes = self.take(behind).ok_or_else(|| self.truncated())?;
                    operand = u64::from_le_bytes(bytes);
                }
                Class::Prefix => {
                    self.prefix(position, opcode, word, end, prefixes.first)?;
                    prefixes.count += 1;
                    position = end;
                    continue;
                }
                Class::Unknown => return Err(self.unknown(position)),
            }
            self.push(opcode, operand, start, prefixes);
            return Ok(end);
        }
    }

    fn prefix(
        &mut self,
        at: usize,
        opcode: Opcode,
        value: u32,
        end: usize,
        first: u32,
    ) -> Result<(), BodyError> {
        let earlier = self.out.prefixes.get(first as usize..).unwrap_or(&[]);
        if earlier.iter().any(|prefix| prefix.opcode == opcode) {
            return Err(self.error(at, BodyErrorKind::RepeatedPrefix(opcode)));
        }
        if end == self.bytes.len() {
            return Err(self.error(at, BodyErrorKind::DanglingPrefix(opcode)));
        }
        self.out.prefixes.push(PrefixSlot {
            opcode,
            symbolic: false,
            value,
        });
        Ok(())
    }

    #[inline]
    fn take<const N: usize>(&self, position: usize) -> Option<[u8; N]> {
        self.bytes.get(position..)?.first_chunk().copied()
    }

    /// What is left of the code, if that is enough for an operand.
    fn last_word(&self, start: usize, size: u8) -> Result<u32, BodyError> {
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        if rest.len() < usize::from(size) {
            return Err(self.truncated());
        }
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(u32::from_le_bytes(word))
    }

    #[cold]
    fn unknown(&self, position: usize) -> BodyError {
        let code = match self.take(position) {
            Some([0xfe, second]) => 0xfe00 | u16::from(second),
            _ => u16::from(self.bytes.get(position).copied().unwrap_or(0)),
        };
        self.undecodable(BodyErrorKind::UnknownOpcode(code), position)
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
        let first = self.out.switches.len();
        for entry in entries.chunks_exact(4) {
            let delta = entry
                .first_chunk()
                .map_or(0, |bytes| i32::from_le_bytes(*bytes));
            // An offset for now; `link` puts the label in its place.
            let target = self.target(position, end, i64::from(delta))?;
            self.out.switches.push(Label(target as u32));
        }
        Ok((pack_range(first, entries.len() / 4), end))
    }

    #[inline]
    fn target(&self, position: usize, end: usize, delta: i64) -> Result<u64, BodyError> {
        let target = end as i64 + delta;
        match u64::try_from(target) {
            Ok(offset) if offset < self.bytes.len() as u64 => Ok(offset),
            _ => Err(self.error(position, BodyErrorKind::TargetOutside { target })),
        }
    }

    #[cold]
    fn truncated(&self) -> BodyError {
        self.undecodable(BodyErrorKind::TruncatedInstruction, self.bytes.len())
    }

    /// What to say about bytes that are no instruction: perhaps they are never reached.
    #[cold]
    fn undecodable(&self, kind: BodyErrorKind, offset: usize) -> BodyError {
        let Some(last) = self.out.nodes.last().filter(|_| self.out.nodes.len() > 1) else {
            return self.error(offset, kind);
        };
        let start = self.tail_start(last);
        let ends = self
            .out
            .nodes
            .iter()
            .skip(2)
            .map(|node| node.offset as usize);
        let ends = ends.chain([start]);
        // Where the last whole instruction ends is where the branch over the rest would go.
        let beyond = |target: i64| target > i64::from(last.offset);
        let mut nodes = self.out.nodes.iter().skip(1).zip(ends);
        let reached = nodes.any(|(node, end)| match node.opcode.operand_kind() {
            OperandKind::Target => beyond(end as i64 + delta(node.operand)),
            OperandKind::Switch => {
                let targets = self.out.switch(node.operand);
                targets.iter().any(|target| beyond(i64::from(target.0)))
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

    /// Where the instructions that were decoded end.
    fn tail_start(&self, last: &Node) -> usize {
        let prefixes: usize = self
            .out
            .prefixes_of(last)
            .iter()
            .map(|prefix| 2 + prefix.opcode.operand_kind().size().map_or(0, usize::from))
            .sum();
        let start = last.offset as usize + prefixes;
        // The long form of a branch stands for both: the bytes tell.
        let wide = self.bytes.get(start) == Some(&0xfe);
        let code = match (self.bytes.get(start), self.bytes.get(start + 1)) {
            (Some(_), Some(&second)) if wide => 0xfe00 | u16::from(second),
            (Some(&first), _) => u16::from(first),
            _ => 0,
        };
        let size = Opcode::from_code(code).and_then(|opcode| opcode.operand_kind().size());
        start + 1 + usize::from(wide) + size.map_or(0, usize::from)
    }

    /// Turns the distances in branches and the offsets in switches into labels.
    fn link(&mut self) -> Result<(), BodyError> {
        for entry in 0..self.branches {
            let branches = &self.out.original.branches;
            let index = branches.get(entry).copied().unwrap_or(END);
            let Some(&node) = self.out.node(index) else {
                break;
            };
            if node.opcode == Opcode::Switch {
                self.link_switch(&node)?;
                continue;
            }
            let end = self.out.original.offset(index + 1, &self.out.nodes);
            let size = if node.operand & LONG == 0 { 2 } else { 5 };
            let target = self.target(end - size, end, delta(node.operand))?;
            let label = self.label(node.offset, target as u32)?;
            if let Some(node) = self.out.nodes.get_mut(index as usize) {
                node.operand = u64::from(label.0);
            }
        }
        Ok(())
    }

    fn link_switch(&mut self, node: &Node) -> Result<(), BodyError> {
        let (start, count) = unpack_range(node.operand);
        for entry in start..start + count {
            let Some(&Label(target)) = self.out.switches.get(entry) else {
                break;
            };
            let label = self.label(node.offset, target)?;
            if let Some(entry) = self.out.switches.get_mut(entry) {
                *entry = label;
            }
        }
        Ok(())
    }

    fn label(&mut self, from: u32, target: u32) -> Result<Label, BodyError> {
        match node_at_offset(self.out, target) {
            Some(at) => Ok(self.out.branch_label(at)),
            None => Err(self.error(from as usize, BodyErrorKind::TargetInside { target })),
        }
    }
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn shape_of(shapes: &'static [Shape; 256], byte: u8) -> Shape {
    shapes[byte as usize]
}

/// The node that begins at an offset of the code that was just decoded.
pub(super) fn node_at_offset(code: &Code, offset: u32) -> Option<u32> {
    // Where no instruction begins stands what another body left there.
    let node = *code.original.starts.get(offset as usize)?;
    let begins =
        code.original.contains(node) && code.node(node).is_some_and(|node| node.offset == offset);
    begins.then_some(node)
}
