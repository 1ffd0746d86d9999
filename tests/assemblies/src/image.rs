//! The PE image around the metadata (ECMA-335 II.25.2, II.25.3), and method bodies in it.

use crate::bytes::{rest, slice, u8_at, u16_at, u32_at, usize_at};
use crate::error::{Error, ErrorKind, Result};

/// The data directory that leads to the CLI header.
const CLI_HEADER: usize = 14;

/// The bytes of the sections by their RVA.
#[derive(Debug)]
pub(crate) struct Image<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    cli_header: u32,
}

#[derive(Debug)]
struct Section {
    rva: u32,
    size: u32,
    offset: usize,
}

impl<'a> Image<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        let not_here = |offset| Error::new(ErrorKind::NotAnAssembly, offset);
        if !bytes.starts_with(b"MZ") {
            return Err(not_here(0));
        }
        let pe = usize_at(bytes, 0x3c)?;
        let headers = rest(bytes, pe)?;
        if !headers.starts_with(b"PE\0\0") {
            return Err(not_here(pe));
        }
        let section_count = usize::from(u16_at(headers, 6)?);
        let optional_size = usize::from(u16_at(headers, 20)?);
        let optional = slice(headers, 24, optional_size)?;
        let directories = match u16_at(optional, 0)? {
            0x10b => 96,
            0x20b => 112,
            _ => return Err(not_here(pe + 24)),
        };
        if usize_at(optional, directories - 4)? <= CLI_HEADER {
            return Err(not_here(pe + 24));
        }
        let cli_header = u32_at(optional, directories + 8 * CLI_HEADER)?;
        if cli_header == 0 {
            return Err(not_here(pe + 24));
        }
        let table = slice(headers, 24 + optional_size, 40 * section_count)?;
        let sections = table.chunks_exact(40).map(|row| {
            Ok(Section {
                rva: u32_at(row, 12)?,
                size: u32_at(row, 16)?,
                offset: usize_at(row, 20)?,
            })
        });
        Ok(Self {
            bytes,
            sections: sections.collect::<Result<_>>()?,
            cli_header,
        })
    }

    /// The bytes from an RVA to the end of its section.
    pub(crate) fn at(&self, rva: u32) -> Result<&'a [u8]> {
        for section in &self.sections {
            if let Some(offset) = rva.checked_sub(section.rva)
                && offset < section.size
            {
                let whole = rest(self.bytes, section.offset)?;
                // A section may be longer than the file because of its alignment.
                let end = whole.len().min(section.size as usize);
                return rest(slice(whole, 0, end)?, offset as usize);
            }
        }
        Err(Error::new(ErrorKind::Rva(rva), 0))
    }

    pub(crate) fn metadata(&self) -> Result<&'a [u8]> {
        let header = self.at(self.cli_header)?;
        slice(self.at(u32_at(header, 8)?)?, 0, usize_at(header, 12)?)
    }

    /// The method body at an RVA: header, code and sections, without the bytes after it.
    pub(crate) fn body(&self, rva: u32) -> Result<&'a [u8]> {
        let bytes = self.at(rva)?;
        slice(bytes, 0, body_length(bytes, rva as usize)?)
    }
}

/// The length of the method body at the beginning of the bytes (ECMA-335 II.25.4).
fn body_length(bytes: &[u8], rva: usize) -> Result<usize> {
    let header = u8_at(bytes, 0)?;
    if header & 3 == 2 {
        return Ok(1 + usize::from(header >> 2));
    }
    let fat = u16_at(bytes, 0)?;
    if fat & 7 != 3 || fat >> 12 != 3 {
        return Err(Error::new(ErrorKind::Body(header), rva));
    }
    let code = slice(bytes, 12, usize_at(bytes, 4)?)?;
    let mut end = 12 + code.len();
    let mut more = fat & 8 != 0;
    while more {
        // The address of a section, not its offset, is a multiple of four.
        let start = (rva + end).next_multiple_of(4) - rva;
        let kind = u8_at(bytes, start)?;
        let size = match kind & 0x40 {
            0 => usize::from(u8_at(bytes, start + 1)?),
            _ => usize_at(bytes, start)? >> 8,
        };
        if size < 4 {
            return Err(Error::new(ErrorKind::Body(kind), rva));
        }
        end = start + slice(bytes, start, size)?.len();
        more = kind & 0x80 != 0;
    }
    Ok(end)
}
