//! The root of the metadata and its streams (ECMA-335 II.24.2).

use std::borrow::Cow;

use clr_profiler_il::signature::compressed;

use crate::bytes::{rest, slice, u16_at, u32_at, usize_at};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

/// "BSJB".
const SIGNATURE: u32 = 0x424a_5342;

/// Tables and heaps.
#[derive(Debug)]
pub(crate) struct Metadata<'a> {
    pub(crate) tables: Tables<'a>,
    names: &'a [u8],
    blobs: &'a [u8],
}

impl<'a> Metadata<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        if u32_at(bytes, 0)? != SIGNATURE {
            return Err(Error::new(ErrorKind::Metadata, 0));
        }
        let version_length = usize_at(bytes, 12)?;
        let header = rest(rest(bytes, 16)?, version_length)?;
        let mut streams = rest(header, 4)?;
        let (mut tables, mut names, mut blobs) = (None, &[][..], &[][..]);
        for _ in 0..u16_at(header, 2)? {
            let content = (usize_at(streams, 0)?, usize_at(streams, 4)?);
            let name = text(rest(streams, 8)?)?;
            let slot = match name {
                b"#~" => tables.insert(&[][..]),
                b"#Strings" => &mut names,
                b"#Blob" => &mut blobs,
                _ => &mut &[][..],
            };
            *slot = slice(bytes, content.0, content.1)?;
            streams = rest(streams, 8 + (name.len() + 1).next_multiple_of(4))?;
        }
        // The other form of the tables, `#-`, is left by edit-and-continue: none is shipped.
        let tables = tables.ok_or(Error::new(ErrorKind::NoStream("#~"), 16))?;
        Ok(Self {
            tables: Tables::open(tables)?,
            names,
            blobs,
        })
    }

    pub(crate) fn name(&self, offset: u32) -> Result<Cow<'a, str>> {
        text(rest(self.names, offset as usize)?).map(String::from_utf8_lossy)
    }

    pub(crate) fn blob(&self, offset: u32) -> Result<&'a [u8]> {
        let mut start = offset as usize;
        let length = compressed::read_unsigned(self.blobs, &mut start)?;
        slice(self.blobs, start, length as usize)
    }
}

/// The bytes before the first zero.
fn text(bytes: &[u8]) -> Result<&[u8]> {
    let end = bytes.iter().position(|&byte| byte == 0);
    slice(
        bytes,
        0,
        end.ok_or(Error::new(ErrorKind::Truncated, bytes.len()))?,
    )
}
