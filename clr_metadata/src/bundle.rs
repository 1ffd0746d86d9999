//! Single-file applications: an executable with the files of the application after it.

use std::borrow::Cow;

use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};

/// The mark in the executable, with all bits inverted: the SHA-256 of ".net core bundle\n". The offset of the manifest is in
/// the eight bytes before the mark. A program that contains this crate must not contain the mark.
const INVERTED_MARK: [u8; 32] = [
    0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c, 0xfd, 0xeb, 0x28, 0x5f, 0xcd,
    0xec, 0x0a, 0x46, 0x19, 0x10, 0x51, 0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c, 0x95, 0x51,
];

/// The files of a single-file application (manifest versions 1, 2 and 6).
///
/// ```no_run
/// use clr_metadata::{Bundle, BundledFileKind, Image};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let application = std::fs::read("shop")?;
/// for file in Bundle::find(&application)?.files() {
///     let file = file?;
///     if file.kind == BundledFileKind::ASSEMBLY {
///         let contents = file.contents()?;
///         println!("{}: {:?}", file.path, Image::parse(&contents)?.headers().cli);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    bytes: Bytes<'a>,
    /// The offset of the first file in the manifest.
    files: usize,
    count: u32,
    major_version: u32,
    id: &'a str,
}

/// The kind of a file in a bundle.
///
/// An unknown kind keeps its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BundledFileKind(pub u8);

impl BundledFileKind {
    /// A file of the application's own.
    pub const UNKNOWN: Self = Self(0);
    /// An assembly.
    pub const ASSEMBLY: Self = Self(1);
    /// A native library.
    pub const NATIVE_BINARY: Self = Self(2);
    /// `NAME.deps.json`.
    pub const DEPS_JSON: Self = Self(3);
    /// `NAME.runtimeconfig.json`.
    pub const RUNTIME_CONFIG_JSON: Self = Self(4);
    /// A PDB.
    pub const SYMBOLS: Self = Self(5);
}

/// A file in a bundle.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BundledFile<'a> {
    /// The path in the folder of the application, with `/`.
    pub path: &'a str,
    /// The kind.
    pub kind: BundledFileKind,
    /// The size in bytes.
    pub size: u64,
    /// The bytes in the bundle: the file, or the file compressed by deflate.
    pub stored: &'a [u8],
    /// Whether it is compressed.
    pub is_compressed: bool,
}

impl<'a> BundledFile<'a> {
    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// If it is compressed, and the data is malformed or has another size than stated, or this crate was
    /// compiled without the feature `deflate`.
    pub fn contents(&self) -> Result<Cow<'a, [u8]>> {
        if self.is_compressed {
            return crate::deflate::decompress(self.stored, self.size).map(Cow::Owned);
        }
        Ok(Cow::Borrowed(self.stored))
    }
}

impl<'a> Bundle<'a> {
    /// The bundle of an executable: searches it for the mark of bundles.
    ///
    /// # Errors
    ///
    /// If there is no mark, if the executable has no bundle yet, or if the manifest is malformed.
    pub fn find(executable: &'a [u8]) -> Result<Self> {
        let bytes = Bytes::new(executable);
        let none = |offset| bytes.error(ErrorKind::NotABundle, offset);
        // Computed at run time: the compiler would otherwise put the mark itself into the program.
        let mark = std::hint::black_box(INVERTED_MARK).map(|byte| !byte);
        let mark = find_mark(executable, &mark);
        let place = mark.and_then(|mark| mark.checked_sub(8)).ok_or(none(0))?;
        match usize::try_from(bytes.u64(place)?) {
            Ok(manifest) if manifest != 0 => Self::parse(bytes, manifest),
            _ => Err(none(place)),
        }
    }

    fn parse(bytes: Bytes<'a>, manifest: usize) -> Result<Self> {
        let mut cursor = Cursor {
            bytes,
            offset: manifest,
        };
        let major_version = cursor.u32()?;
        // The minor version is always 0.
        cursor.u32()?;
        if !matches!(major_version, 1 | 2 | 6) {
            return Err(bytes.error(ErrorKind::NotABundle, manifest));
        }
        let count = cursor.u32()?;
        let id = cursor.text()?;
        if major_version >= 2 {
            // Offset and size of `.deps.json` and `.runtimeconfig.json`, and flags.
            cursor.skip(5 * 8)?;
        }
        Ok(Self {
            bytes,
            files: cursor.offset,
            count,
            major_version,
            id,
        })
    }

    /// The version of the manifest: 1 of .NET Core 3, 2 of .NET 5, 6 of .NET 6 and newer.
    #[must_use]
    pub const fn major_version(&self) -> u32 {
        self.major_version
    }

    /// The id of the bundle.
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }

    /// The number of files that the manifest declares.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are no files.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The files. The first error is the last item, because the rows of the manifest have no fixed size.
    pub fn files(&self) -> impl Iterator<Item = Result<BundledFile<'a>>> + use<'a> {
        let (version, mut left) = (self.major_version, self.count);
        let mut cursor = Cursor {
            bytes: self.bytes,
            offset: self.files,
        };
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let file = cursor.file(version);
            if file.is_err() {
                left = 0;
            }
            Some(file)
        })
    }
}

/// The offset of the mark. Looks at few of the bytes of a large program: where a window does not end as the mark does, the next one
/// that could match is often a whole mark later (Horspool).
fn find_mark(executable: &[u8], mark: &[u8; 32]) -> Option<usize> {
    let mut skips = [mark.len(); 256];
    for (skip, byte) in (1..mark.len()).rev().zip(mark) {
        if let Some(of_byte) = skips.get_mut(usize::from(*byte)) {
            *of_byte = skip;
        }
    }
    let mut at = 0;
    loop {
        let window = executable.get(at..)?.first_chunk::<32>()?;
        if window == mark {
            return Some(at);
        }
        let [.., last] = window;
        at += skips.get(usize::from(*last)).copied().unwrap_or(1);
    }
}

/// Reads the manifest.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    bytes: Bytes<'a>,
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// `size` bytes.
    fn skip(&mut self, size: usize) -> Result<Bytes<'a>> {
        let bytes = self.bytes.part(self.offset, size)?;
        self.offset += size;
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8> {
        self.skip(1)?.u8(0)
    }

    fn u32(&mut self) -> Result<u32> {
        self.skip(4)?.u32(0)
    }

    fn u64(&mut self) -> Result<u64> {
        self.skip(8)?.u64(0)
    }

    /// A text after its length, which has seven bits in each byte, the lowest ones first.
    fn text(&mut self) -> Result<&'a str> {
        let start = self.offset;
        let mut length = 0;
        for shift in [0, 7, 14] {
            let byte = self.u8()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let text = self.skip(length)?.data();
                let invalid = |_| self.bytes.error(ErrorKind::InvalidText, start);
                return std::str::from_utf8(text).map_err(invalid);
            }
        }
        Err(self.bytes.error(ErrorKind::NotABundle, start))
    }

    fn file(&mut self, version: u32) -> Result<BundledFile<'a>> {
        let offset = self.u64()?;
        let size = self.u64()?;
        let compressed = if version >= 6 { self.u64()? } else { 0 };
        let is_compressed = compressed != 0;
        let stored = if is_compressed { compressed } else { size };
        let [offset, stored] = [offset, stored].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let stored = self.bytes.part(offset, stored)?.data();
        let kind = BundledFileKind(self.u8()?);
        let path = self.text()?;
        Ok(BundledFile {
            path,
            kind,
            size,
            stored,
            is_compressed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_at_each_offset_and_behind_parts_of_itself() {
        let mark = INVERTED_MARK.map(|byte| !byte);
        for offset in 0..100 {
            for part in 0..mark.len() {
                let mut bytes = vec![mark[31]; offset];
                bytes.extend(&mark[part..]);
                bytes.extend(&mark[..part]);
                let expected = match part {
                    0 => offset,
                    _ => {
                        bytes.extend(mark);
                        offset + mark.len()
                    }
                };
                assert_eq!(find_mark(&bytes, &mark), Some(expected), "{offset} {part}");
                bytes.pop();
                assert_eq!(find_mark(&bytes, &mark), None, "{offset} {part}");
            }
        }
        assert_eq!(find_mark(&mark[..31], &mark), None);
    }
}
