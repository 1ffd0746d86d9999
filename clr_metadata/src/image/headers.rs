//! The headers of a PE file (ECMA-335 II.25.2, II.25.3).

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that can be read at offsets: a slice, a file, or a mapping that may change while it is read.
///
/// ```
/// use clr_metadata::{Headers, ImageLayout};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = include_bytes!("../../../tests/profilees/Basics.dll");
/// let headers = Headers::read(&file[..], ImageLayout::File)?;
/// assert!(headers.cli.is_some_and(|cli| cli.is_il_only()));
/// # Ok(())
/// # }
/// ```
pub trait Source {
    /// Fills `out` with the bytes from `offset` on. Returns `false` if they do not exist.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> bool;
}

impl Source for [u8] {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> bool {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..));
        let bytes = rest.and_then(|rest| rest.get(..out.len()));
        bytes.map(|bytes| out.copy_from_slice(bytes)).is_some()
    }
}

/// Reads at the offset, and moves the position of the file: one thread at a time reads it.
impl Source for File {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> bool {
        let mut file = self;
        file.seek(SeekFrom::Start(offset)).is_ok() && file.read_exact(out).is_ok()
    }
}

/// Where the bytes of an image are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageLayout {
    /// As in a file: sections at their offsets in the file.
    File,
    /// As the runtime or the system has loaded it: sections at their addresses.
    Mapped,
}

/// A range of an image: its relative virtual address and its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageRange {
    /// The address, relative to the beginning of the loaded image.
    pub rva: u32,
    /// The size in bytes.
    pub size: u32,
}

/// The header of managed code (II.25.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CliHeader {
    /// The metadata.
    pub metadata: ImageRange,
    /// The flags (II.25.3.3.1).
    pub flags: u32,
    /// The token of the method or file with which the program starts, or the address of native code; 0 for a
    /// library.
    pub entry_point: u32,
    /// The resources.
    pub resources: ImageRange,
    /// The header of precompiled code; empty in an assembly of IL alone.
    pub precompiled: ImageRange,
}

impl CliHeader {
    const IL_ONLY: u32 = 0x1;
    const REQUIRES_32_BIT: u32 = 0x2;
    const NATIVE_ENTRY_POINT: u32 = 0x10;
    const PREFERS_32_BIT: u32 = 0x2_0000;

    /// Whether the image has no native code, precompiled code excepted.
    #[must_use]
    pub const fn is_il_only(&self) -> bool {
        self.flags & Self::IL_ONLY != 0
    }

    /// Whether only a process of 32 bits can load the image.
    #[must_use]
    pub const fn requires_32_bit(&self) -> bool {
        self.flags & (Self::REQUIRES_32_BIT | Self::PREFERS_32_BIT) == Self::REQUIRES_32_BIT
    }

    /// Whether a program can start here.
    #[must_use]
    pub const fn has_entry_point(&self) -> bool {
        self.entry_point != 0 || self.flags & Self::NATIVE_ENTRY_POINT != 0
    }
}

/// A section: a part of the file, and its address in memory.
#[derive(Clone, Copy, Debug)]
struct Section {
    rva: u32,
    size: u32,
    offset: u32,
}

/// The headers of an image.
///
/// They are separate from its bytes, because the pages of a loaded image can change while they are read: no
/// slice may refer to them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Headers {
    /// The number of the processor. An image with precompiled code for another system than Windows has it
    /// combined with a number of that system.
    pub machine: u16,
    /// Whether addresses have 64 bits.
    pub is_64_bit: bool,
    /// The header of managed code; `None` for a native image.
    pub cli: Option<CliHeader>,
    /// The debug directory.
    pub debug: ImageRange,
    /// The size of the loaded image.
    pub size: u32,
    layout: ImageLayout,
    sections: Vec<Section>,
}

const DEBUG: u32 = 6;
const CLI_HEADER: u32 = 14;

impl Headers {
    /// Reads the headers.
    ///
    /// # Errors
    ///
    /// If this is no PE file, or if the headers are incomplete.
    pub fn read(source: &(impl Source + ?Sized), layout: ImageLayout) -> Result<Self> {
        let fields = Fields::new(source);
        let not_an_image = |offset| Error::new(ErrorKind::NotAnImage, position(offset));
        if fields.array(0).ok() != Some(*b"MZ") {
            return Err(not_an_image(0));
        }
        let start = u64::from(fields.u32(0x3c)?);
        if fields.array(start)? != *b"PE\0\0" {
            return Err(not_an_image(start));
        }
        let optional = start + 24;
        let is_64_bit = match fields.u16(optional)? {
            0x10b => false,
            0x20b => true,
            _ => return Err(not_an_image(optional)),
        };
        let directories = optional + if is_64_bit { 108 } else { 92 };
        let count = fields.u32(directories)?;
        let directory = |number: u32| match number < count {
            true => fields.range(directories + 4 + 8 * u64::from(number)),
            false => Ok(ImageRange::default()),
        };
        let table = optional + u64::from(fields.u16(start + 20)?);
        let sections = (0..u64::from(fields.u16(start + 6)?)).map(|section| {
            let row: [u8; 12] = fields.array(table + 40 * section + 12)?;
            let number = |at| Bytes::new(&row).u32(at);
            Ok(Section {
                rva: number(0)?,
                size: number(4)?,
                offset: number(8)?,
            })
        });
        let mut headers = Self {
            machine: fields.u16(start + 4)?,
            is_64_bit,
            cli: None,
            debug: directory(DEBUG)?,
            size: fields.u32(optional + 56)?,
            layout,
            sections: sections.collect::<Result<_>>()?,
        };
        let cli = directory(CLI_HEADER)?;
        if cli.rva != 0 {
            let at = headers.locate(cli.rva)?.offset;
            headers.cli = Some(CliHeader {
                metadata: fields.range(at + 8)?,
                flags: fields.u32(at + 16)?,
                entry_point: fields.u32(at + 20)?,
                resources: fields.range(at + 24)?,
                precompiled: fields.range(at + 64)?,
            });
        }
        Ok(headers)
    }

    /// Where the bytes of an image are that these headers were read from.
    #[must_use]
    pub const fn layout(&self) -> ImageLayout {
        self.layout
    }

    /// The offset, in the bytes that the headers were read from, of an address, and the number of bytes
    /// from there to the end of its section.
    ///
    /// # Errors
    ///
    /// If the address is in no section.
    pub fn locate(&self, rva: u32) -> Result<Location> {
        if self.layout == ImageLayout::Mapped {
            return match self.size.checked_sub(rva) {
                Some(size) if size > 0 => Ok(Location {
                    offset: rva.into(),
                    size,
                }),
                _ => Err(Error::new(ErrorKind::Rva(rva), 0)),
            };
        }
        for section in &self.sections {
            if let Some(offset) = rva.checked_sub(section.rva)
                && offset < section.size
            {
                return Ok(Location {
                    offset: u64::from(section.offset) + u64::from(offset),
                    size: section.size - offset,
                });
            }
        }
        Err(Error::new(ErrorKind::Rva(rva), 0))
    }
}

/// The bytes at an address, as [`Headers::locate`] finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The offset in the bytes of the image.
    pub offset: u64,
    /// The number of bytes to the end of the section.
    pub size: u32,
}

/// An offset in an [`Error`].
fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Numbers at offsets. The offsets are sums of a few numbers of 32 bits: they do not overflow.
struct Fields<'a, S: ?Sized> {
    source: &'a S,
    /// Most fields are next to each other, and each read may be a call of the system.
    block: RefCell<Block>,
}

/// The bytes from an offset on, if there are some.
struct Block {
    offset: Option<u64>,
    bytes: [u8; BLOCK],
}

/// Headers fit in it.
const BLOCK: usize = 1024;

impl Block {
    /// Fills `out`, if the source has a block from this offset on.
    fn read_at(&mut self, source: &(impl Source + ?Sized), offset: u64, out: &mut [u8]) -> bool {
        if let Some(bytes) = self.find(offset, out.len()) {
            out.copy_from_slice(bytes);
            return true;
        }
        let is_there = source.read_at(offset, &mut self.bytes);
        self.offset = is_there.then_some(offset);
        let bytes = self.find(offset, out.len());
        bytes.map(|bytes| out.copy_from_slice(bytes)).is_some()
    }

    fn find(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.offset?)?).ok()?;
        self.bytes.get(start..start.checked_add(length)?)
    }
}

impl<'a, S: Source + ?Sized> Fields<'a, S> {
    fn new(source: &'a S) -> Self {
        let block = RefCell::new(Block {
            offset: None,
            bytes: [0; BLOCK],
        });
        Self { source, block }
    }

    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let mut block = self.block.borrow_mut();
        // A block may exceed the end.
        if block.read_at(self.source, offset, &mut bytes) || self.source.read_at(offset, &mut bytes)
        {
            return Ok(bytes);
        }
        Err(Error::new(ErrorKind::UnexpectedEnd, position(offset)))
    }

    fn u16(&self, offset: u64) -> Result<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    fn u32(&self, offset: u64) -> Result<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    fn range(&self, offset: u64) -> Result<ImageRange> {
        Ok(ImageRange {
            rva: self.u32(offset)?,
            size: self.u32(offset + 4)?,
        })
    }
}
