//! Reads the few header fields of PE, ELF and Mach-O files that tell the kind of a file.
//!
//! The files are not trusted: every field is read at a checked offset, data outside the file is
//! absent, and no allocation depends on a size that the file states.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Seek, SeekFrom};

use clr_metadata::{CliHeader, Headers, ImageLayout, Source};

/// The kind of a file, from its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Image {
    /// A PE file, with or without managed code.
    Pe(Pe),
    /// An ELF file for this processor.
    Elf(Architecture),
    /// A Mach-O file; `None` if it holds code for several processors.
    MachO(Option<Architecture>),
    /// A text file that names its interpreter.
    Script,
    /// Anything else, including damaged files of the kinds above.
    Other,
}

/// The fields of a PE file that matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pe {
    pub(crate) architecture: Architecture,
    /// The header of the managed code; `None` for a native file.
    pub(crate) cli: Option<CliHeader>,
}

/// A processor, as a file header names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Architecture {
    /// Managed code that runs on all processors.
    Any,
    /// A processor with this name in Rust.
    Known(&'static str),
    /// A number without a name here.
    Unknown(u32),
}

impl Architecture {
    /// Whether this process can load it; in doubt it can, and the operating system decides.
    pub(crate) fn fits_this_process(self) -> bool {
        match self {
            Self::Any | Self::Unknown(_) => true,
            Self::Known(name) => name == std::env::consts::ARCH,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Any => "any architecture".to_owned(),
            Self::Known(name) => name.to_owned(),
            Self::Unknown(number) => format!("an unknown architecture (machine 0x{number:04x})"),
        }
    }

    fn of_elf(machine: u16) -> Self {
        match machine {
            3 => Self::Known("x86"),
            21 => Self::Known("powerpc64"),
            22 => Self::Known("s390x"),
            40 => Self::Known("arm"),
            62 => Self::Known("x86_64"),
            183 => Self::Known("aarch64"),
            243 => Self::Known("riscv64"),
            258 => Self::Known("loongarch64"),
            other => Self::Unknown(other.into()),
        }
    }

    fn of_pe(machine: u16) -> Self {
        // An assembly with precompiled code for a system other than Windows has its machine
        // number combined with that system's.
        const WINDOWS: u16 = 0;
        const APPLE: u16 = 0x4644;
        const FREE_BSD: u16 = 0xadc4;
        const LINUX: u16 = 0x7b79;
        const NET_BSD: u16 = 0x1993;
        const SUN_OS: u16 = 0x1992;
        for system in [WINDOWS, APPLE, FREE_BSD, LINUX, NET_BSD, SUN_OS] {
            return Self::Known(match machine ^ system {
                0x014c => "x86",
                0x01c0 | 0x01c2 | 0x01c4 => "arm",
                0x5064 => "riscv64",
                0x6264 => "loongarch64",
                0x8664 => "x86_64",
                0xaa64 => "aarch64",
                _ => continue,
            });
        }
        Self::Unknown(machine.into())
    }

    fn of_mach_o(processor: u32) -> Self {
        match processor {
            0x0100_0007 => Self::Known("x86_64"),
            0x0100_000c => Self::Known("aarch64"),
            other => Self::Unknown(other),
        }
    }
}

/// Determines the kind of a file.
pub(crate) fn read(file: &mut (impl Read + Seek)) -> io::Result<Image> {
    let mut file = Fields { file };
    let Some(start) = file.bytes::<4>(0)? else {
        // Too short for the others, but `#!` may be the whole file.
        return Ok(match file.bytes::<2>(0)? {
            Some([b'#', b'!']) => Image::Script,
            _ => Image::Other,
        });
    };
    let image = match start {
        [b'M', b'Z', ..] => pe(&mut file)?.map(Image::Pe),
        [0x7f, b'E', b'L', b'F'] => elf(&mut file)?.map(Image::Elf),
        [0xcf, 0xfa, 0xed, 0xfe] => file
            .u32(4)?
            .map(|processor| Image::MachO(Some(Architecture::of_mach_o(processor)))),
        [0xca, 0xfe, 0xba, 0xbe] => Some(Image::MachO(None)),
        [b'#', b'!', ..] => Some(Image::Script),
        _ => None,
    };
    Ok(image.unwrap_or(Image::Other))
}

fn elf(file: &mut Fields<'_, impl Read + Seek>) -> io::Result<Option<Architecture>> {
    const BIG_ENDIAN: u8 = 2;
    let Some([class, order]) = file.bytes::<2>(4)? else {
        return Ok(None);
    };
    let Some(machine) = file.bytes::<2>(18)? else {
        return Ok(None);
    };
    if !(1..=2).contains(&class) || !(1..=2).contains(&order) {
        return Ok(None);
    }
    let machine = match order {
        BIG_ENDIAN => u16::from_be_bytes(machine),
        _ => u16::from_le_bytes(machine),
    };
    Ok(Some(Architecture::of_elf(machine)))
}

/// `None` if a required part is missing.
fn pe(file: &mut Fields<'_, impl Read + Seek>) -> io::Result<Option<Pe>> {
    let source = PeSource {
        file: RefCell::new(file),
        error: Cell::new(None),
    };
    let headers = Headers::read(&source, ImageLayout::File);
    if let Some(error) = source.error.take() {
        return Err(error);
    }
    let Ok(headers) = headers else {
        return Ok(None);
    };
    let is_portable = headers.machine == 0x014c
        && (headers.cli).is_some_and(|cli| cli.is_il_only() && !cli.requires_32_bit());
    Ok(Some(Pe {
        architecture: if is_portable {
            Architecture::Any
        } else {
            Architecture::of_pe(headers.machine)
        },
        cli: headers.cli,
    }))
}

/// A file whose headers are read. The error of the system is kept, because [`Source`] has none.
struct PeSource<'a, 'f, R> {
    file: RefCell<&'a mut Fields<'f, R>>,
    error: Cell<Option<io::Error>>,
}

impl<R: Read + Seek> Source for PeSource<'_, '_, R> {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> bool {
        match self.file.borrow_mut().fill(offset, out) {
            Ok(is_read) => is_read,
            Err(error) => {
                self.error.set(Some(error));
                false
            }
        }
    }
}

/// Reads fields at offsets. The offsets are sums of a few 32-bit values: they cannot overflow.
struct Fields<'a, R> {
    file: &'a mut R,
}

impl<R: Read + Seek> Fields<'_, R> {
    /// Whether the file has these bytes.
    fn fill(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<bool> {
        self.file.seek(SeekFrom::Start(offset))?;
        match self.file.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// `None` if the file ends before.
    fn bytes<const N: usize>(&mut self, offset: u64) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        Ok(self.fill(offset, &mut bytes)?.then_some(bytes))
    }

    fn u32(&mut self, offset: u64) -> io::Result<Option<u32>> {
        Ok(self.bytes(offset)?.map(u32::from_le_bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::common::Pe as Builder;

    fn image(file: &[u8]) -> Image {
        read(&mut Cursor::new(file)).unwrap()
    }

    /// Whatever a header contains, the result is never an error or a panic.
    #[test]
    fn hostile_headers() {
        for is_64 in [false, true] {
            let file = Builder {
                is_64,
                ..Builder::default()
            }
            .bytes();
            let Image::Pe(pe) = image(&file) else {
                panic!("not a PE")
            };
            assert!(pe.cli.unwrap().has_entry_point());
            let mut other = 0;
            for position in 0..file.len() {
                for value in 0..=255 {
                    let mut file = file.clone();
                    file[position] = value;
                    other += usize::from(image(&file) == Image::Other);
                }
                for width in [2, 4, 8] {
                    for value in [0, 0x7f, 0xff] {
                        let mut file = file.clone();
                        file[position..]
                            .iter_mut()
                            .take(width)
                            .for_each(|byte| *byte = value);
                        other += usize::from(image(&file) == Image::Other);
                    }
                }
            }
            assert!(other > 2000, "damage to the headers is noticed: {other}");
        }
    }

    #[test]
    fn a_section_table_as_long_as_it_can_be() {
        let mut file = Builder::default().bytes();
        file[0x80 + 6..0x80 + 8].fill(0xff);
        // No section holds the CLI header, and the table runs to the end of the file.
        file[0x80 + 24 + 224 + 12..][..4].fill(0xff);
        assert_eq!(image(&file), Image::Other);
        file.resize(0x100 + 40 * 0x1_0000, 0);
        assert_eq!(image(&file), Image::Other);
    }

    #[test]
    fn big_endian_and_unknown_machines() {
        let mut file = [0; 64];
        file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 2]);
        file[19] = 22;
        assert_eq!(image(&file), Image::Elf(Architecture::Known("s390x")));
        file[18] = 0x55;
        let Image::Elf(unknown) = image(&file) else {
            panic!("not an ELF")
        };
        assert_eq!(unknown, Architecture::Unknown(0x5516));
        assert!(unknown.fits_this_process() && unknown.name().contains("0x5516"));
        file[4] = 3;
        assert_eq!(image(&file), Image::Other);
    }
}
