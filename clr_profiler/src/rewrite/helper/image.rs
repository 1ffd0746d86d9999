//! What an assembly says of itself, read from its file: the runtime need not be asked, nor run.
//!
//! The file may be anything: what is read at a place that is not there is an error.

use super::tables;
use crate::metadata::{AssemblyProps, AssemblyVersion};

/// Why a file is not an assembly.
pub(super) type Problem = &'static str;

/// The bytes of a file, or a part of them, in little-endian numbers.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

const CUT: Problem = "it ends in the middle of its metadata";

impl<'a> Bytes<'a> {
    fn array<const N: usize>(self, offset: usize) -> Result<[u8; N], Problem> {
        let bytes = self.0.get(offset..).and_then(|rest| rest.first_chunk());
        bytes.copied().ok_or(CUT)
    }

    pub(super) fn u16(self, offset: usize) -> Result<u16, Problem> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn u32(self, offset: usize) -> Result<u32, Problem> {
        self.array(offset).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, offset: usize) -> Result<u64, Problem> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// An offset or a size.
    fn size(self, offset: usize) -> Result<usize, Problem> {
        self.u32(offset).map(|size| size as usize)
    }

    /// Where the bytes begin at an offset.
    pub(super) fn from(self, offset: usize) -> Result<Self, Problem> {
        self.0.get(offset..).map(Self).ok_or(CUT)
    }

    fn part(self, offset: usize, length: usize) -> Result<Self, Problem> {
        let rest = self.from(offset)?.0;
        rest.get(..length).map(Self).ok_or(CUT)
    }

    /// The text up to a zero.
    fn text(self, offset: usize) -> Result<&'a str, Problem> {
        let rest = self.from(offset)?.0;
        let end = rest.iter().position(|byte| *byte == 0).ok_or(CUT)?;
        let text = rest.get(..end).ok_or(CUT)?;
        std::str::from_utf8(text).map_err(|_| "a name in it is no UTF-8")
    }

    /// A blob, whose length stands before it (ECMA-335 II.24.2.4).
    fn blob(self, offset: usize) -> Result<&'a [u8], Problem> {
        let rest = self.from(offset)?.0;
        let (length, start) = match *rest {
            [first, ..] if first & 0x80 == 0 => (u32::from(first), 1),
            [first, second, ..] if first & 0x40 == 0 => {
                (u32::from_be_bytes([0, 0, first & 0x3f, second]), 2)
            }
            [first, second, third, fourth, ..] => {
                let length = u32::from_be_bytes([first & 0x1f, second, third, fourth]);
                (length, 4)
            }
            _ => return Err(CUT),
        };
        Ok(Self(rest).part(start, length as usize)?.0)
    }
}

/// The streams of the metadata that are needed here.
#[derive(Default)]
struct Streams<'a> {
    tables: Option<Bytes<'a>>,
    strings: Option<Bytes<'a>>,
    blobs: Option<Bytes<'a>>,
}

/// Reads what the manifest of an assembly says, and to how many types of others the assembly refers.
pub(super) fn read(file: &[u8]) -> Result<(AssemblyProps, u32), Problem> {
    let streams = streams(metadata(Bytes(file))?)?;
    let row = tables::assembly(streams.tables.ok_or("it has no metadata tables")?)?;
    let row = row.ok_or("it is a module without a manifest")?;
    let string = |index: u32| match (index, streams.strings) {
        (0, _) => Ok(""),
        (_, Some(strings)) => strings.text(index as usize),
        (_, None) => Err(CUT),
    };
    let public_key = match (row.public_key, streams.blobs) {
        (0, _) => &[],
        (index, Some(blobs)) => blobs.blob(index as usize)?,
        (_, None) => return Err(CUT),
    };
    let [major, minor, build, revision] = row.version;
    let props = AssemblyProps {
        name: string(row.name)?.to_owned(),
        version: AssemblyVersion {
            major,
            minor,
            build,
            revision,
            culture: string(row.culture)?.to_owned(),
        },
        public_key: public_key.to_vec(),
        hash_algorithm: row.hash_algorithm,
        flags: row.flags,
    };
    Ok((props, row.type_refs))
}

/// The metadata of an image (ECMA-335 II.25).
fn metadata(file: Bytes<'_>) -> Result<Bytes<'_>, Problem> {
    const NOT_MANAGED: Problem = "it is a native library: it has no managed code";
    const NO_IMAGE: Problem = "it is no PE file, as .NET assemblies are";
    if !file.0.starts_with(b"MZ") {
        return Err(NO_IMAGE);
    }
    let header = file.from(file.size(0x3c)?)?;
    if !header.0.starts_with(b"PE\0\0") {
        return Err(NO_IMAGE);
    }
    let sections = usize::from(header.u16(6)?);
    let optional_size = usize::from(header.u16(20)?);
    let optional = header.from(24)?;
    let directories = match optional.u16(0)? {
        0x10b => 96,
        0x20b => 112,
        _ => return Err(NO_IMAGE),
    };
    const CLI_HEADER: usize = 14;
    if optional.size(directories - 4)? <= CLI_HEADER {
        return Err(NOT_MANAGED);
    }
    let cli = optional.size(directories + 8 * CLI_HEADER)?;
    if cli == 0 {
        return Err(NOT_MANAGED);
    }
    let table = optional.from(optional_size)?;
    let in_file = |address: usize| {
        for section in 0..sections {
            let row = table.part(40 * section, 40)?;
            let (start, size, place) = (row.size(12)?, row.size(16)?, row.size(20)?);
            if let Some(within) = address.checked_sub(start)
                && within < size
            {
                return place.checked_add(within).ok_or(CUT);
            }
        }
        Err(CUT)
    };
    let header = file.from(in_file(cli)?)?;
    file.part(in_file(header.size(8)?)?, header.size(12)?)
}

/// The streams of metadata (ECMA-335 II.24.2.1).
fn streams(metadata: Bytes<'_>) -> Result<Streams<'_>, Problem> {
    if !metadata.0.starts_with(b"BSJB") {
        return Err("its metadata has no signature");
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
        // With its zero, to a multiple of four.
        at += 8 + (name.len() + 4) / 4 * 4;
    }
    Ok(streams)
}
