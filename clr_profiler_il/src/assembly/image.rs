//! From the start of a file to the streams of its metadata.

use super::AssemblyError;
use crate::signature::compressed::read_unsigned;

/// The bytes of a file, or a part of them, in little-endian numbers.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

const CUT: AssemblyError = AssemblyError::UnexpectedEnd;

impl<'a> Bytes<'a> {
    fn array<const N: usize>(self, offset: usize) -> Result<[u8; N], AssemblyError> {
        let bytes = self.0.get(offset..).and_then(|rest| rest.first_chunk());
        bytes.copied().ok_or(CUT)
    }

    pub(super) fn u16(self, offset: usize) -> Result<u16, AssemblyError> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn u32(self, offset: usize) -> Result<u32, AssemblyError> {
        self.array(offset).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, offset: usize) -> Result<u64, AssemblyError> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// An offset or a size.
    fn size(self, offset: usize) -> Result<usize, AssemblyError> {
        self.u32(offset).map(|size| size as usize)
    }

    /// The bytes from an offset on.
    pub(super) fn from(self, offset: usize) -> Result<Self, AssemblyError> {
        self.0.get(offset..).map(Self).ok_or(CUT)
    }

    fn part(self, offset: usize, length: usize) -> Result<Self, AssemblyError> {
        let rest = self.from(offset)?.0;
        rest.get(..length).map(Self).ok_or(CUT)
    }

    /// The text up to a zero byte.
    pub(super) fn text(self, offset: usize) -> Result<&'a str, AssemblyError> {
        let rest = self.from(offset)?.0;
        let end = rest.iter().position(|byte| *byte == 0).ok_or(CUT)?;
        let text = rest.get(..end).ok_or(CUT)?;
        std::str::from_utf8(text).map_err(|_| AssemblyError::InvalidText)
    }

    /// A blob, prefixed by its length (II.24.2.4).
    pub(super) fn blob(self, mut offset: usize) -> Result<&'a [u8], AssemblyError> {
        let length = read_unsigned(self.0, &mut offset).map_err(|_| CUT)?;
        Ok(self.part(offset, length as usize)?.0)
    }
}

/// The metadata streams that are needed here.
#[derive(Default)]
pub(super) struct Streams<'a> {
    pub(super) tables: Option<Bytes<'a>>,
    pub(super) strings: Option<Bytes<'a>>,
    pub(super) blobs: Option<Bytes<'a>>,
}

/// The metadata of an image (II.25).
pub(super) fn metadata(file: Bytes<'_>) -> Result<Bytes<'_>, AssemblyError> {
    if !file.0.starts_with(b"MZ") {
        return Err(AssemblyError::NotAnImage);
    }
    let header = file.from(file.size(0x3c)?)?;
    if !header.0.starts_with(b"PE\0\0") {
        return Err(AssemblyError::NotAnImage);
    }
    let sections = usize::from(header.u16(6)?);
    let optional_size = usize::from(header.u16(20)?);
    let optional = header.from(24)?;
    let directories = match optional.u16(0)? {
        0x10b => 96,
        0x20b => 112,
        _ => return Err(AssemblyError::NotAnImage),
    };
    const CLI_HEADER: usize = 14;
    if optional.size(directories - 4)? <= CLI_HEADER {
        return Err(AssemblyError::Native);
    }
    let cli = optional.size(directories + 8 * CLI_HEADER)?;
    if cli == 0 {
        return Err(AssemblyError::Native);
    }
    let table = optional.from(optional_size)?;
    let in_file = |address: usize| {
        for section in 0..sections {
            let row = table.part(40 * section, 40)?;
            let (start, size, data) = (row.size(12)?, row.size(16)?, row.size(20)?);
            if let Some(within) = address.checked_sub(start)
                && within < size
            {
                return data.checked_add(within).ok_or(CUT);
            }
        }
        Err(CUT)
    };
    let header = file.from(in_file(cli)?)?;
    file.part(in_file(header.size(8)?)?, header.size(12)?)
}

/// The streams of metadata (II.24.2.1).
pub(super) fn streams(metadata: Bytes<'_>) -> Result<Streams<'_>, AssemblyError> {
    if !metadata.0.starts_with(b"BSJB") {
        return Err(AssemblyError::NoMetadata);
    }
    let version = metadata.size(12)?;
    let headers = metadata.from(16)?.from(version)?;
    let mut streams = Streams::default();
    let mut at = 4;
    for _ in 0..headers.u16(2)? {
        let stream = metadata.part(headers.size(at)?, headers.size(at + 4)?)?;
        let name = headers.text(at + 8)?;
        match name {
            "#~" | "#-" => streams.tables = Some(stream),
            "#Strings" => streams.strings = Some(stream),
            "#Blob" => streams.blobs = Some(stream),
            _ => {}
        }
        // Including its zero, padded to a multiple of four.
        at += 8 + (name.len() + 4) / 4 * 4;
    }
    Ok(streams)
}
