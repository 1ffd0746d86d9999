use super::error::EncodeError;
use super::layout::Layout;
use super::length::{FAT_HEADER, MORE_SECTIONS, SECTION_FAT};
use super::sections::EXCEPTIONS;
use super::{MethodBody, TINY_MAX_STACK};
use crate::code::{Clause, ClauseKind};
use crate::flat::{Flat, FlatClause};
use crate::symbol::TokenSource;

/// The maximum number of clauses in a small section: its size has 8 bits.
const SMALL_CLAUSES: usize = 20;
/// The maximum number of clauses in a fat section: its size has 24 bits.
const FAT_CLAUSES: usize = (0x00ff_ffff - 4) / 24;

/// Reusable memory of the encoder, in addition to its output.
#[derive(Clone, Debug, Default)]
pub struct EncodeBuffers {
    pub(crate) layout: Layout,
    /// Whether the last body was written as flat code.
    pub(crate) is_flat: bool,
    /// Flat code.
    flat: Vec<u8>,
}

impl EncodeBuffers {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The offsets of a clause in the encoded code.
struct Offsets {
    try_start: u32,
    try_length: u32,
    handler_start: u32,
    handler_length: u32,
    value: u32,
}

impl MethodBody {
    /// Appends the body to `out`: header, code and exception clauses in the smallest form that fits
    /// (II.25.4).
    ///
    /// The body starts at the previous end of `out`. A body with a fat header must be stored at a
    /// multiple of four.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`]. `out` is then unchanged.
    pub fn encode<S: TokenSource>(
        &self,
        tokens: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError<S::Error>> {
        self.encode_with(&mut EncodeBuffers::new(), tokens, out)
    }

    /// As [`encode`](Self::encode), with reusable memory.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`]. `out` is then unchanged.
    pub fn encode_with<S: TokenSource>(
        &self,
        buffers: &mut EncodeBuffers,
        tokens: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError<S::Error>> {
        let start = out.len();
        let flat = self.code.flat();
        let flat = flat
            .filter(|flat| flat.clauses().len() <= FAT_CLAUSES && flat.write(&mut buffers.flat));
        buffers.is_flat = flat.is_some();
        let written = match flat {
            Some(flat) => self.encode_flat(flat, &buffers.flat, tokens, out, start),
            None => self.encode_nodes(&mut buffers.layout, tokens, out, start),
        };
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn encode_flat<S: TokenSource>(
        &self,
        flat: &Flat,
        bytes: &[u8],
        tokens: &mut S,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), EncodeError<S::Error>> {
        let size = flat.new_size() as u32;
        let count = flat.clauses().len();
        self.write_header((size, count), tokens, out)?;
        let code = out.len();
        out.extend_from_slice(bytes.get(..size as usize).unwrap_or(&[]));
        let filled = flat.fill_in(out.get_mut(code..).unwrap_or(&mut []), |symbol| {
            symbol.token(tokens).map(|token| token.raw())
        });
        filled.map_err(EncodeError::Tokens)?;
        if count == 0 {
            return Ok(());
        }
        let new = |clause: FlatClause| Offsets {
            try_start: clause.try_start,
            try_length: clause.try_end.saturating_sub(clause.try_start),
            handler_start: clause.handler_start,
            handler_length: clause.handler_end.saturating_sub(clause.handler_start),
            value: match clause.kind {
                ClauseKind::Filter => clause.filter,
                _ => clause.value,
            },
        };
        let small = flat.new_clauses().all(|clause| new(clause).fit_small());
        let small = begin_section(count, small, start, out);
        for clause in flat.new_clauses() {
            let offsets = new(clause);
            write_clause(small, clause.kind, &offsets, offsets.value, out);
        }
        Ok(())
    }

    fn encode_nodes<S: TokenSource>(
        &self,
        layout: &mut Layout,
        tokens: &mut S,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), EncodeError<S::Error>> {
        layout.compute(&self.code);
        let size = match u32::try_from(layout.size()) {
            Ok(size) if size <= i32::MAX as u32 => size,
            _ => return Err(EncodeError::CodeSize(layout.size())),
        };
        if let Some(offset) = layout.unplaced() {
            return Err(EncodeError::UnplacedLabel { offset });
        }
        if self.code.clauses.len() > FAT_CLAUSES {
            return Err(EncodeError::ClauseCount(self.code.clauses.len()));
        }
        self.write_header((size, self.code.clauses.len()), tokens, out)?;
        let code = out.len();
        out.extend_from_slice(layout.bytes());
        for &index in layout.symbolic() {
            self.fill_in(
                index,
                code + layout.offset(&self.code, index) as usize,
                tokens,
                out,
            )
            .map_err(EncodeError::Tokens)?;
        }
        if self.code.clauses.is_empty() {
            return Ok(());
        }
        self.encode_clauses(layout, tokens, out, start)
    }

    /// Writes the header for code of a size with a number of clauses.
    fn write_header<S: TokenSource>(
        &self,
        (size, clauses): (u32, usize),
        tokens: &mut S,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError<S::Error>> {
        let max_stack = self.max_stack();
        let max_stack = u16::try_from(max_stack).map_err(|_| EncodeError::MaxStack(max_stack))?;
        let locals = self.encoded_locals(tokens).map_err(EncodeError::Tokens)?;

        out.reserve(FAT_HEADER + size as usize + 4 + clauses * 24);
        let tiny = size < 64
            && max_stack <= TINY_MAX_STACK
            && locals == 0
            && !self.init_locals
            && clauses == 0;
        if tiny {
            out.push(0b10 | (size as u8) << 2);
        } else {
            let mut flags = 0b11;
            if self.init_locals {
                flags |= 0x10;
            }
            if clauses > 0 {
                flags |= MORE_SECTIONS;
            }
            let [m0, m1] = max_stack.to_le_bytes();
            let [s0, s1, s2, s3] = size.to_le_bytes();
            let [l0, l1, l2, l3] = locals.to_le_bytes();
            let header = [flags, 0x30, m0, m1, s0, s1, s2, s3, l0, l1, l2, l3];
            out.extend_from_slice(&header);
        }
        Ok(())
    }

    /// Writes the tokens of an instruction's symbols into the encoded code.
    fn fill_in<S: TokenSource>(
        &self,
        index: u32,
        mut at: usize,
        tokens: &mut S,
        out: &mut [u8],
    ) -> Result<(), S::Error> {
        let Some(node) = self.code.node(index) else {
            return Ok(());
        };
        let prefixes = self.code.prefixes_of(node).iter();
        let prefixes = prefixes.map(|prefix| (prefix.opcode, prefix.value, prefix.symbolic));
        let itself = (node.opcode, node.operand as u32, node.symbolic);
        for (opcode, value, symbolic) in prefixes.chain([itself]) {
            at += usize::from(opcode.encoding().length);
            if symbolic {
                let value = self.token(value, symbolic, tokens)?;
                if let Some(operand) = out.get_mut(at - 4..at) {
                    operand.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    fn token<S: TokenSource>(
        &self,
        value: u32,
        symbolic: bool,
        tokens: &mut S,
    ) -> Result<u32, S::Error> {
        match self.code.symbol(value) {
            Some(symbol) if symbolic => symbol.token(tokens).map(|token| token.raw()),
            _ => Ok(value),
        }
    }

    fn encoded_locals<S: TokenSource>(&self, tokens: &mut S) -> Result<u32, S::Error> {
        match &self.locals.signature {
            Some(locals) if self.locals.changed => {
                if locals.locals.is_empty() {
                    return Ok(0);
                }
                tokens.locals(locals).map(|token| token.raw())
            }
            _ => Ok(self.locals.token),
        }
    }

    fn encode_clauses<S: TokenSource>(
        &self,
        layout: &Layout,
        tokens: &mut S,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), EncodeError<S::Error>> {
        let mut small = true;
        for (index, clause) in self.code.clauses.iter().enumerate() {
            let offsets = self.offsets(layout, clause);
            let offsets = offsets.ok_or(EncodeError::ClauseOrder(index))?;
            small = small && offsets.fit_small();
        }
        let small = begin_section(self.code.clauses.len(), small, start, out);
        for (index, clause) in self.code.clauses.iter().enumerate() {
            let offsets = self.offsets(layout, clause);
            let offsets = offsets.ok_or(EncodeError::ClauseOrder(index))?;
            let value = if clause.kind == ClauseKind::Filter {
                offsets.value
            } else {
                self.token(clause.value, clause.symbolic, tokens)
                    .map_err(EncodeError::Tokens)?
            };
            write_clause(small, clause.kind, &offsets, value, out);
        }
        Ok(())
    }

    /// `None` if a region ends before it begins.
    fn offsets(&self, layout: &Layout, clause: &Clause) -> Option<Offsets> {
        let at = |label| layout.target(&self.code, label);
        Some(Offsets {
            try_start: at(clause.try_start),
            try_length: at(clause.try_end).checked_sub(at(clause.try_start))?,
            handler_start: at(clause.handler_start),
            handler_length: at(clause.handler_end).checked_sub(at(clause.handler_start))?,
            value: at(clause.filter),
        })
    }
}

/// Writes the header of the section of clauses, after padding, and returns whether they are small:
/// they must `fit`, and there must not be too many.
fn begin_section(count: usize, fit: bool, start: usize, out: &mut Vec<u8>) -> bool {
    let length = out.len() - start;
    out.resize(start + length.next_multiple_of(4), 0);
    let small = fit && count <= SMALL_CLAUSES;
    if small {
        out.extend_from_slice(&[EXCEPTIONS, (count * 12 + 4) as u8, 0, 0]);
    } else {
        let [s0, s1, s2, _] = ((count * 24 + 4) as u32).to_le_bytes();
        out.extend_from_slice(&[EXCEPTIONS | SECTION_FAT, s0, s1, s2]);
    }
    small
}

fn write_clause(small: bool, kind: ClauseKind, offsets: &Offsets, value: u32, out: &mut Vec<u8>) {
    let flags = kind.flags();
    if small {
        out.extend_from_slice(&[flags, 0]);
        out.extend_from_slice(&(offsets.try_start as u16).to_le_bytes());
        out.push(offsets.try_length as u8);
        out.extend_from_slice(&(offsets.handler_start as u16).to_le_bytes());
        out.push(offsets.handler_length as u8);
    } else {
        out.extend_from_slice(&[flags, 0, 0, 0]);
        out.extend_from_slice(&offsets.try_start.to_le_bytes());
        out.extend_from_slice(&offsets.try_length.to_le_bytes());
        out.extend_from_slice(&offsets.handler_start.to_le_bytes());
        out.extend_from_slice(&offsets.handler_length.to_le_bytes());
    }
    out.extend_from_slice(&value.to_le_bytes());
}

impl Offsets {
    const fn fit_small(&self) -> bool {
        self.try_start <= 0xffff
            && self.try_length <= 0xff
            && self.handler_start <= 0xffff
            && self.handler_length <= 0xff
    }
}
