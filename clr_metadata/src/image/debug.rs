//! The debug directory: the id of the PDB, its path, its hash, or the PDB itself.

use super::{Headers, Image, ImageLayout, Source};
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};

/// The size of an entry.
const ENTRY: usize = 28;

/// An entry of the debug directory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DebugEntry<'a> {
    /// The kind of the entry: 2 for [`CodeView`], 17 for [`EmbeddedPdb`], 19 for [`PdbChecksum`].
    pub kind: u32,
    /// The time of the build, or a part of the id of the PDB.
    pub stamp: u32,
    /// The major version of the format.
    pub major_version: u16,
    /// The minor version of the format. 0x504d in a [`CodeView`] of a portable PDB.
    pub minor_version: u16,
    bytes: Bytes<'a>,
}

/// The contents of a [`DebugEntry`] of a known kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DebugContents<'a> {
    /// The id and the path of the PDB.
    CodeView(CodeView<'a>),
    /// The PDB itself.
    EmbeddedPdb(EmbeddedPdb<'a>),
    /// The hash of the PDB.
    PdbChecksum(PdbChecksum<'a>),
    /// An entry of another kind.
    Other(&'a [u8]),
}

/// The id and the path of the PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeView<'a> {
    /// The first 16 bytes of the id. The other four are the [`stamp`](DebugEntry::stamp) of the entry.
    pub guid: [u8; 16],
    /// The number of times that the PDB was written; 1 for a portable PDB.
    pub age: u32,
    /// The path on the machine of the build.
    pub path: &'a str,
}

/// A compressed PDB within the assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedPdb<'a> {
    /// The size of the PDB in bytes.
    pub size: u32,
    /// The PDB, compressed by deflate.
    pub compressed: &'a [u8],
}

impl EmbeddedPdb<'_> {
    /// The PDB.
    ///
    /// # Errors
    ///
    /// If the data is malformed, has another size than stated or exceeds 512 MiB, or if this crate was compiled without
    /// the feature `deflate`.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        crate::deflate::decompress_bounded(self.compressed, self.size.into())
    }
}

/// The hash of the PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdbChecksum<'a> {
    /// The name of the algorithm, such as `SHA256`.
    pub algorithm: &'a str,
    /// The hash of the PDB with its id set to zero.
    pub hash: &'a [u8],
}

impl<'a> DebugEntry<'a> {
    pub(crate) const CODE_VIEW: u32 = 2;
    pub(crate) const EMBEDDED_PDB: u32 = 17;
    pub(crate) const PDB_CHECKSUM: u32 = 19;

    /// The bytes of the entry.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes.data()
    }

    /// The contents of the entry.
    ///
    /// # Errors
    ///
    /// If an entry of a known kind is malformed.
    pub fn contents(&self) -> Result<DebugContents<'a>> {
        let bytes = self.bytes;
        let text = |offset| {
            let text = bytes.until_zero(offset)?;
            std::str::from_utf8(text).map_err(|_| bytes.error(ErrorKind::InvalidText, offset))
        };
        Ok(match self.kind {
            Self::CODE_VIEW if bytes.data().starts_with(b"RSDS") => {
                DebugContents::CodeView(CodeView {
                    guid: bytes.array(4)?,
                    age: bytes.u32(20)?,
                    path: text(24)?,
                })
            }
            Self::EMBEDDED_PDB if bytes.data().starts_with(b"MPDB") => {
                DebugContents::EmbeddedPdb(EmbeddedPdb {
                    size: bytes.u32(4)?,
                    compressed: bytes.skip(8)?.data(),
                })
            }
            Self::PDB_CHECKSUM => {
                let algorithm = text(0)?;
                DebugContents::PdbChecksum(PdbChecksum {
                    algorithm,
                    hash: bytes.skip(algorithm.len() + 1)?.data(),
                })
            }
            _ => DebugContents::Other(bytes.data()),
        })
    }
}

impl<'a> Image<'a> {
    /// The entries of the debug directory. An item is an error if its bytes are outside of the image.
    ///
    /// # Errors
    ///
    /// If the directory is outside of the image.
    pub fn debug_entries(&self) -> Result<impl Iterator<Item = Result<DebugEntry<'a>>>> {
        let directory = match self.headers.debug {
            range if range.size == 0 => Bytes::EMPTY,
            range => self.range(range)?,
        };
        let count = directory.data().len() / ENTRY;
        Ok((0..count).map(move |index| self.debug_entry(directory.part(index * ENTRY, ENTRY)?)))
    }

    fn debug_entry(&self, entry: Bytes<'a>) -> Result<DebugEntry<'a>> {
        let entry = Header::parse(entry)?;
        let size = entry.size as usize;
        let bytes = match self.headers.layout() {
            _ if size == 0 => Bytes::EMPTY,
            ImageLayout::File => self.bytes.part(entry.offset as usize, size)?,
            ImageLayout::Mapped => self.at(entry.rva)?.part(0, size)?,
        };
        Ok(entry.with_bytes(bytes))
    }
}

/// An entry without its bytes.
struct Header {
    kind: u32,
    stamp: u32,
    major_version: u16,
    minor_version: u16,
    size: u32,
    rva: u32,
    offset: u32,
}

impl Header {
    fn parse(entry: Bytes<'_>) -> Result<Self> {
        Ok(Self {
            kind: entry.u32(12)?,
            stamp: entry.u32(4)?,
            major_version: entry.u16(8)?,
            minor_version: entry.u16(10)?,
            size: entry.u32(16)?,
            rva: entry.u32(20)?,
            offset: entry.u32(24)?,
        })
    }

    fn with_bytes(self, bytes: Bytes<'_>) -> DebugEntry<'_> {
        DebugEntry {
            kind: self.kind,
            stamp: self.stamp,
            major_version: self.major_version,
            minor_version: self.minor_version,
            bytes,
        }
    }
}

/// The most bytes of a directory, or of an entry other than a PDB, that are copied from a [`Source`].
const COPY_LIMIT: u32 = 0x1_0000;

impl Headers {
    /// Passes each entry of the debug directory to `read`, with a copy of its bytes, until `read` returns an error.
    ///
    /// Entries beyond the first 64 KiB are ignored. `wants` says, by kind and minor version, which entries are copied.
    pub(crate) fn copy_debug_entries<S: Source + ?Sized>(
        &self,
        source: &S,
        mut read: impl FnMut(&DebugEntry<'_>) -> Result<()>,
        wants: impl Fn(u32, u16) -> bool,
    ) -> Result<()> {
        let range = self.debug;
        if range.size == 0 {
            return Ok(());
        }
        let start = self.locate(range.rva)?.offset;
        let directory = copy(source, start, range.size.min(COPY_LIMIT))?;
        for entry in directory.chunks_exact(ENTRY) {
            let entry = Header::parse(Bytes::new(entry))?;
            if !wants(entry.kind, entry.minor_version) {
                continue;
            }
            let offset = match self.layout() {
                ImageLayout::File => entry.offset.into(),
                ImageLayout::Mapped => self.locate(entry.rva)?.offset,
            };
            let size = match entry.kind {
                DebugEntry::EMBEDDED_PDB => entry.size,
                _ => entry.size.min(COPY_LIMIT),
            };
            let bytes = copy(source, offset, size)?;
            read(&entry.with_bytes(Bytes::new(&bytes)))?;
        }
        Ok(())
    }
}

/// A copy of a range. Memory grows with the bytes that exist, not with the stated size.
fn copy<S: Source + ?Sized>(source: &S, offset: u64, size: u32) -> Result<Vec<u8>> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; size.min(COPY_LIMIT) as usize]);
    while bytes.len() < size as usize {
        let rest = (size as usize - bytes.len()).min(chunk.len());
        let part = chunk.get_mut(..rest).unwrap_or_default();
        let at = offset.saturating_add(bytes.len() as u64);
        if !source.read_at(at, part) {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            return Err(Error::new(ErrorKind::UnexpectedEnd, at));
        }
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}
