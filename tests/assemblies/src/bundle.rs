use std::borrow::Cow;
use std::io::Read;

use flate2::read::DeflateDecoder;

use crate::bytes::{rest, slice, u8_at, u32_at, u64_at};
use crate::error::{Error, ErrorKind, Result};

/// In the executable it follows the offset of the list of files.
const MARKER: [u8; 32] = [
    0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
    0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
];

/// From this version on, there are offsets and sizes of two JSON files, and flags.
const WITH_JSON: u32 = 2;
/// From this version on, files may be compressed.
const WITH_COMPRESSION: u32 = 6;

/// A single-file application: an executable with the files of an application appended.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    /// The files in it.
    pub files: Vec<BundledFile<'a>>,
}

/// A file in a [`Bundle`].
#[derive(Clone, Debug)]
pub struct BundledFile<'a> {
    /// Its relative path.
    pub path: Cow<'a, str>,
    /// Its kind: [`ASSEMBLY`](Self::ASSEMBLY), or 2 for a native library, 3 and 4 for JSON files.
    pub kind: u8,
    /// Its bytes, compressed if there is a size.
    stored: &'a [u8],
    unpacked_size: Option<u64>,
}

impl<'a> Bundle<'a> {
    /// Reads the list of files in an executable.
    ///
    /// # Errors
    ///
    /// If the executable has none, or an incomplete one.
    pub fn open(executable: &'a [u8]) -> Result<Self> {
        let not_a_bundle = |offset| Error::new(ErrorKind::NotABundle, offset);
        let marker = executable
            .windows(MARKER.len())
            .position(|window| window == MARKER)
            .ok_or(not_a_bundle(0))?;
        let place = marker.checked_sub(8).ok_or(not_a_bundle(marker))?;
        let mut list = Cursor {
            bytes: executable,
            offset: offset(u64_at(executable, place)?, place)?,
        };
        let start = list.offset;
        let version = list.u32()?;
        // The minor version, which is always 0.
        list.u32()?;
        if start == 0 || !(1..=WITH_COMPRESSION).contains(&version) {
            return Err(not_a_bundle(start));
        }
        let count = list.u32()?;
        // The bundle's identifier.
        list.text()?;
        if version >= WITH_JSON {
            for _ in 0..5 {
                list.u64()?;
            }
        }
        let mut files = Vec::new();
        for _ in 0..count {
            files.push(list.file(version)?);
        }
        Ok(Self { files })
    }
}

impl<'a> BundledFile<'a> {
    /// The kind of an assembly.
    pub const ASSEMBLY: u8 = 1;

    /// The file's content, unpacked if it is compressed.
    ///
    /// # Errors
    ///
    /// If it cannot be unpacked to its stated size.
    pub fn content(&self) -> Result<Cow<'a, [u8]>> {
        let Some(size) = self.unpacked_size else {
            return Ok(Cow::Borrowed(self.stored));
        };
        let mut content = Vec::new();
        // One byte more than expected, to notice an excess.
        let mut unpacked = DeflateDecoder::new(self.stored).take(size.saturating_add(1));
        match unpacked.read_to_end(&mut content) {
            Ok(read) if read as u64 == size => Ok(Cow::Owned(content)),
            _ => Err(Error::new(ErrorKind::Compression, 0)),
        }
    }
}

/// Reads the list of files.
struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn u8(&mut self) -> Result<u8> {
        let value = u8_at(self.bytes, self.offset)?;
        self.offset += 1;
        Ok(value)
    }

    fn u32(&mut self) -> Result<u32> {
        let value = u32_at(self.bytes, self.offset)?;
        self.offset += 4;
        Ok(value)
    }

    fn u64(&mut self) -> Result<u64> {
        let value = u64_at(self.bytes, self.offset)?;
        self.offset += 8;
        Ok(value)
    }

    /// A string after its length, which has seven bits a byte, the lowest ones first.
    fn text(&mut self) -> Result<Cow<'a, str>> {
        let mut length = 0;
        for shift in [0, 7, 14] {
            let byte = self.u8()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let text = slice(self.bytes, self.offset, length)?;
                self.offset += length;
                return Ok(String::from_utf8_lossy(text));
            }
        }
        Err(Error::new(ErrorKind::NotABundle, self.offset))
    }

    fn file(&mut self, version: u32) -> Result<BundledFile<'a>> {
        let start = self.offset;
        let content = offset(self.u64()?, start)?;
        let size = self.u64()?;
        let compressed = match version {
            WITH_COMPRESSION.. => self.u64()?,
            _ => 0,
        };
        let kind = self.u8()?;
        let (stored_size, unpacked_size) = match compressed {
            0 => (size, None),
            _ => (compressed, Some(size)),
        };
        let stored = rest(self.bytes, content)?;
        Ok(BundledFile {
            path: self.text()?,
            kind,
            stored: slice(stored, 0, offset(stored_size, start)?)?,
            unpacked_size,
        })
    }
}

/// A number that is an offset or a size in memory.
fn offset(value: u64, place: usize) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::new(ErrorKind::Truncated, place))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// A bundle of version 6 with two files, of which the second is compressed.
    fn bundle() -> Vec<u8> {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&[7; 1000]).unwrap();
        let packed = packed.finish().unwrap();
        let mut bytes = b"an executable".to_vec();
        let place = bytes.len();
        bytes.extend([0; 8]);
        bytes.extend(MARKER);
        let first = bytes.len() as u64;
        bytes.extend(b"abc");
        let second = bytes.len() as u64;
        bytes.extend(&packed);
        let list = bytes.len() as u64;
        bytes[place..place + 8].copy_from_slice(&list.to_le_bytes());
        bytes.extend([6, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, b'i', b'd']);
        bytes.extend([0; 40]);
        for (offset, size, compressed, name) in [
            (first, 3, 0, b"\x05a.dll"),
            (second, 1000, packed.len() as u64, b"\x05b.dll"),
        ] {
            for number in [offset, size, compressed] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.push(1);
            bytes.extend(name);
        }
        bytes
    }

    #[test]
    fn files_as_they_are_and_compressed() {
        let bytes = bundle();
        let bundle = Bundle::open(&bytes).unwrap();
        let paths: Vec<_> = bundle.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["a.dll", "b.dll"]);
        assert!(bundle.files.iter().all(|file| file.kind == 1));
        assert_eq!(*bundle.files[0].content().unwrap(), *b"abc");
        assert_eq!(*bundle.files[1].content().unwrap(), [7; 1000]);
    }

    #[test]
    fn broken_bundles_are_errors() {
        let bytes = bundle();
        for length in 0..bytes.len() {
            assert!(Bundle::open(&bytes[..length]).is_err(), "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[place] ^= 0xff;
            for file in Bundle::open(&bytes).iter().flat_map(|bundle| &bundle.files) {
                // The result is some content or an error, within the memory limit.
                assert!(file.content().map_or(0, |content| content.len()) <= 1_000_000);
            }
        }
    }
}
