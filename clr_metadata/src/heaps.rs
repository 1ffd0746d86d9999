//! The heaps (ECMA-335 II.24.2.3 to II.24.2.5): indexes, and the values that they refer to.

use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};

/// Declares the types of indexes in the heaps.
macro_rules! indexes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Whether the index is 0, so that there is no value.
            #[must_use]
            pub const fn is_nil(self) -> bool {
                self.0 == 0
            }
        }
    )*};
}

indexes! {
    /// The offset of a text in the stream `#Strings`.
    StringIndex;
    /// The offset of a blob in the stream `#Blob`.
    BlobIndex;
    /// The number, from 1, of a GUID in the stream `#GUID`.
    GuidIndex;
}

/// A string literal: UTF-16 code units, which need not be valid UTF-16 (ECMA-335 II.24.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserString<'a> {
    units: &'a [u8],
}

impl<'a> UserString<'a> {
    /// The string of these bytes; `None` for an odd number.
    pub(crate) fn from_bytes(units: &'a [u8]) -> Option<Self> {
        units.len().is_multiple_of(2).then_some(Self { units })
    }

    /// The code units.
    pub fn units(self) -> impl ExactSizeIterator<Item = u16> + 'a {
        let units = self.units.chunks_exact(2);
        units.map(|unit| unit.try_into().map_or(0, u16::from_le_bytes))
    }

    /// The text, with U+FFFD for each unpaired surrogate.
    #[must_use]
    pub fn to_string_lossy(self) -> String {
        let decoded = char::decode_utf16(self.units());
        decoded
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    }
}

/// The heaps of one module. A missing heap is an empty one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heaps<'a> {
    pub(crate) strings: Bytes<'a>,
    pub(crate) user_strings: Bytes<'a>,
    pub(crate) blobs: Bytes<'a>,
    pub(crate) guids: Bytes<'a>,
}

impl<'a> Heaps<'a> {
    pub(crate) fn string_bytes(&self, index: StringIndex) -> Result<&'a [u8]> {
        if index.is_nil() {
            return Ok(&[]);
        }
        self.strings.until_zero(index.0 as usize)
    }

    pub(crate) fn string(&self, index: StringIndex) -> Result<&'a str> {
        let text = self.string_bytes(index)?;
        std::str::from_utf8(text).map_err(|error| {
            let at = (index.0 as usize).saturating_add(error.valid_up_to());
            self.strings.error(ErrorKind::InvalidText, at)
        })
    }

    pub(crate) fn blob(&self, index: BlobIndex) -> Result<Bytes<'a>> {
        if index.is_nil() {
            return Ok(Bytes::default());
        }
        self.blobs.blob(index.0 as usize)
    }

    pub(crate) fn guid(&self, index: GuidIndex) -> Result<Option<[u8; 16]>> {
        let Some(number) = index.0.checked_sub(1) else {
            return Ok(None);
        };
        let offset = (number as usize).saturating_mul(16);
        let guid = self.guids.array(offset);
        let none = || self.guids.error(ErrorKind::NoGuid(index.0), offset);
        guid.map(Some).map_err(|_| none())
    }

    pub(crate) fn user_string(&self, offset: u32) -> Result<UserString<'a>> {
        let blob = self.user_strings.blob(offset as usize)?;
        // The last byte tells whether a character needs more than ASCII. The empty blob has none.
        match blob.data() {
            [] => Ok(UserString { units: &[] }),
            [units @ .., _] if units.len().is_multiple_of(2) => Ok(UserString { units }),
            _ => Err(blob.error(ErrorKind::InvalidUserString, 0)),
        }
    }
}
