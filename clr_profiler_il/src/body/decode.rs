use super::error::{BodyError, BodyErrorKind};
use super::instructions::read_instructions;
use super::length::{FAT_HEADER, MORE_SECTIONS};
use super::link::link;
use super::sections::{Raw, add_flat_clause, link_clause, read_sections};
use super::{AddedStack, Locals, MethodBody, TINY_MAX_STACK};
use crate::code::Code;
use crate::flat::Flat;

const INIT_LOCALS: u8 = 0x10;

impl MethodBody {
    /// Reads a method body: header, code and exception clauses (II.25.4).
    ///
    /// Ignores any bytes after the body.
    ///
    /// # Errors
    ///
    /// The broken rule of the format and its offset. See [`BodyErrorKind`].
    pub fn decode(bytes: &[u8]) -> Result<Self, BodyError> {
        let mut body = Self::new();
        body.decode_into(bytes)?;
        Ok(body)
    }

    /// Reads a method body into this one, reusing its memory.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode). The contents of the body are then unspecified.
    pub fn decode_into(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let (header, code) = self.begin(bytes)?;
        read_nodes(self.code.anew(), bytes, &header, code)
    }

    /// As [`decode_into`](Self::decode_into), but makes the instructions when they are first needed.
    ///
    /// Faster if the only edits are one [`prologue`](Self::prologue) and one
    /// [`before_ret`](Self::before_ret), both of code without branches, and slower if instructions are
    /// needed. The result is the same.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode). The contents of the body are then unspecified.
    pub fn decode_lazily_into(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let (header, code) = self.begin(bytes)?;
        let read = |flat: &mut Flat| {
            if !flat.read(code) {
                return false;
            }
            let mut is_regular = true;
            let add = |raw: &Raw, _| {
                is_regular &= add_flat_clause(flat, raw);
                Ok(())
            };
            let sections = match header.more_sections {
                true => read_sections(bytes, header.end(), add),
                false => Ok(()),
            };
            is_regular && sections.is_ok()
        };
        match self.code.read_flat(read) {
            true => Ok(()),
            // The nodes tell why.
            false => read_nodes(self.code.anew(), bytes, &header, code),
        }
    }

    /// Reads code without a header.
    pub(crate) fn decode_code_into(&mut self, code: &[u8]) -> Result<(), BodyError> {
        self.set_max_stack(u16::MAX);
        self.locals = Locals {
            signature: Some(Default::default()),
            ..Locals::default()
        };
        let nodes = self.code.anew();
        read_instructions(nodes, code, 0)?;
        link(nodes, 0)
    }

    /// Reads the header, and returns it with the code.
    #[inline]
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<(Header, &'b [u8]), BodyError> {
        let header = Header::read(bytes)?;
        self.max_stack = header.max_stack;
        self.added_stack = AddedStack::default();
        self.init_locals = header.init_locals;
        self.locals = Locals {
            token: header.locals,
            signature: (header.locals == 0).then(Default::default),
            changed: false,
        };
        let code = bytes
            .get(header.size..header.end())
            .ok_or(BodyError::new(bytes.len(), BodyErrorKind::Truncated))?;
        Ok((header, code))
    }
}

/// The depth of the stack that a body declares; `None` if it has no header.
pub(crate) fn declared_depth(bytes: &[u8]) -> Option<u16> {
    Header::read(bytes).ok().map(|header| header.max_stack)
}

/// Makes the nodes of a body.
#[inline]
fn read_nodes(out: &mut Code, bytes: &[u8], header: &Header, code: &[u8]) -> Result<(), BodyError> {
    read_instructions(out, code, header.size)?;
    link(out, header.size)?;
    if header.more_sections {
        let add = |raw: &Raw, offset| link_clause(out, raw, offset);
        read_sections(bytes, header.end(), add)?;
    }
    Ok(())
}

/// The fields of a header. `code` is bounded by the available bytes.
pub(super) struct Header {
    pub(super) size: usize,
    pub(super) code_size: usize,
    max_stack: u16,
    init_locals: bool,
    pub(super) more_sections: bool,
    locals: u32,
}

impl Header {
    /// The offset after the code.
    const fn end(&self) -> usize {
        self.size + self.code_size
    }

    // Inlined because a call has a measurable cost in decoding.
    #[inline(always)]
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BodyError> {
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
                    // A size beyond the address space cannot be available either.
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
