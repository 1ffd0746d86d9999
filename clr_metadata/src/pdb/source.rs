//! The text of a source file in the PDB.

use super::cursor::Cursor;
use crate::bytes::Bytes;
use crate::deflate;
use crate::error::{ErrorKind, Result};

/// The content of a source file, which the compiler has stored in the PDB.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedSource<'a> {
    /// The size, if the content is compressed.
    size: Option<usize>,
    content: Bytes<'a>,
}

impl<'a> EmbeddedSource<'a> {
    pub(super) fn parse(value: Bytes<'a>) -> Result<Self> {
        let mut cursor = Cursor::new(value);
        let format = i32::from_le_bytes(cursor.array()?);
        let size = match format {
            0 => None,
            // Negative formats are reserved.
            _ => Some(usize::try_from(format).map_err(|_| value.error(ErrorKind::Compression, 0))?),
        };
        Ok(Self {
            size,
            content: cursor.rest(),
        })
    }

    /// The number of bytes of the file.
    #[must_use]
    pub fn len(&self) -> usize {
        self.size.unwrap_or(self.content.data().len())
    }

    /// Whether the file is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the file: usually UTF-8, possibly with a byte order mark.
    ///
    /// # Errors
    ///
    /// If it is compressed, and the data is malformed, or larger than 512 MiB, or the feature `deflate` of the crate is missing.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        match self.size {
            None => Ok(self.content.data().to_vec()),
            Some(size) => deflate::decompress_bounded(self.content.data(), size as u64),
        }
    }
}
