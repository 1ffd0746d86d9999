//! Source files.

use std::fmt;

use clr_profiler_il::token;

use super::Guid;
use super::cursor::{Cursor, utf8};
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::heaps::{BlobIndex, Heaps};
use crate::rows::DocumentRow;

/// Declares the known values of a GUID, with their names.
macro_rules! guids {
    ($(#[$doc:meta])* $type:ident { $(
        $(#[$value_doc:meta])* $name:ident = $text:literal, $first:literal $second:literal $third:literal $rest:literal;
    )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type(pub $crate::pdb::Guid);

        impl $type {
            $(
                $(#[$value_doc])*
                pub const $name: Self = Self($crate::pdb::Guid::new($first, $second, $third, $rest));
            )*

            /// Its name; `None` if it is unknown.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                // Patterns of constants: the type derives its equality.
                match self {
                    $(Self::$name => Some($text),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            /// Its name, or the GUID if that is unknown.
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => formatter.write_str(name),
                    None => self.0.fmt(formatter),
                }
            }
        }
    };
}
pub(crate) use guids;

guids! {
    /// The language of a source file.
    Language {
        /// C#.
        C_SHARP = "C#", 0x3f51_62f8 0x07c6 0x11d3 0x9053_00c0_4fa3_02a1;
        /// Visual Basic.
        VISUAL_BASIC = "Visual Basic", 0x3a12_d0b8 0xc26c 0x11d0 0xb442_00a0_244a_1dd2;
        /// F#.
        F_SHARP = "F#", 0xab4f_38c9 0xb6e6 0x43ba 0xbe3b_5808_0b2c_cce3;
    }
}

guids! {
    /// The algorithm by which the content of a source file was hashed.
    HashAlgorithm {
        /// SHA-1.
        SHA1 = "SHA-1", 0xff18_16ec 0xaa5e 0x4d10 0x87f7_6f49_6383_3460;
        /// SHA-256.
        SHA256 = "SHA-256", 0x8829_d00f 0x11b8 0x4213 0x878b_770e_8597_ac16;
    }
}

/// The longest name, in bytes: a name repeats blobs, so a malformed one could be very long.
const MAX_NAME: usize = 0x1_0000;

/// A source file.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    pub(super) heaps: Heaps<'a>,
    pub(super) token: token::Document,
    pub(super) row: DocumentRow,
}

impl<'a> Document<'a> {
    /// The row of the file.
    #[must_use]
    pub const fn token(&self) -> token::Document {
        self.token
    }

    /// The path, as the compiler was told: usually absolute, with the separators of the machine of the build, and
    /// in deterministic builds with a root such as `/_/`.
    ///
    /// # Errors
    ///
    /// If the name is malformed, or longer than 64 KiB.
    pub fn name(&self) -> Result<String> {
        name(&self.heaps, self.row.name)
    }

    /// The algorithm of the [`hash`](Self::hash); `None` if there is none.
    ///
    /// # Errors
    ///
    /// If there is no such GUID.
    pub fn hash_algorithm(&self) -> Result<Option<HashAlgorithm>> {
        let guid = self.heaps.guid(self.row.hash_algorithm)?;
        Ok(guid.map(|guid| HashAlgorithm(Guid(guid))))
    }

    /// The hash of the content, by which a file is recognised as the one that was compiled; empty if there is none.
    ///
    /// # Errors
    ///
    /// If the blob exceeds the heap.
    pub fn hash(&self) -> Result<&'a [u8]> {
        self.heaps.blob(self.row.hash).map(Bytes::data)
    }

    /// The language; `None` if it is not named.
    ///
    /// # Errors
    ///
    /// If there is no such GUID.
    pub fn language(&self) -> Result<Option<Language>> {
        let guid = self.heaps.guid(self.row.language)?;
        Ok(guid.map(|guid| Language(Guid(guid))))
    }
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Document")
            .field("token", &self.token)
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// The name in a blob of its own form: a separator, and the blobs of the parts between which it is.
fn name(heaps: &Heaps<'_>, index: BlobIndex) -> Result<String> {
    let mut cursor = Cursor::new(heaps.blob(index)?);
    let start = cursor;
    let separator = cursor.u8()?;
    if separator >= 0x80 {
        return Err(start.error(ErrorKind::InvalidText));
    }
    let mut name = String::new();
    let mut is_first = true;
    while !cursor.is_at_end() {
        let at = cursor;
        if separator != 0 && !is_first {
            name.push(char::from(separator));
        }
        is_first = false;
        let part = heaps.blob(BlobIndex(cursor.unsigned()?))?;
        name.push_str(utf8(part, 0, part.data())?);
        if name.len() > MAX_NAME {
            return Err(at.error(ErrorKind::DocumentName));
        }
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name in the last of these blobs; each begins with its length.
    fn read(blobs: &[u8], index: u32) -> Result<String> {
        let heaps = Heaps {
            blobs: Bytes::new(blobs),
            ..Heaps::default()
        };
        name(&heaps, BlobIndex(index))
    }

    #[test]
    fn names_consist_of_parts() {
        let blobs = b"\0\x01a\x02bc\x05/\0\x01\x03\x01\x03\0\x01\x03\x01/";
        assert_eq!(read(blobs, 6).unwrap(), "/a/bc/a");
        assert_eq!(read(blobs, 12).unwrap(), "abc");
        assert_eq!(read(blobs, 16).unwrap(), "");
        // The blob 0 has no separator.
        assert_eq!(
            read(blobs, 0).unwrap_err().kind(),
            &ErrorKind::UnexpectedEnd
        );
    }

    #[test]
    fn a_name_that_repeats_a_part_without_end_is_refused() {
        // The part at 1 has 127 bytes, the name 1,000 parts.
        let mut blobs = vec![0, 127];
        blobs.extend([b'x'; 127]);
        let at = blobs.len() as u32;
        blobs.extend([0x83, 0xe9, 0]);
        blobs.extend([1; 1000]);
        let error = read(&blobs, at).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::DocumentName);
        assert_eq!(error.offset(), at as usize + 3 + MAX_NAME / 127);
    }

    #[test]
    fn names_are_utf_8() {
        let error = read(b"\0\x03a\xffb\x02/\x01", 5).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&ErrorKind::InvalidText, 3));
        let error = read(b"\0\x01\x80", 1).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&ErrorKind::InvalidText, 2));
    }
}
