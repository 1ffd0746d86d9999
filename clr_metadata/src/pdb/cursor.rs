//! A blob that is read from its beginning to its end.

use clr_profiler_il::signature::compressed;
use clr_profiler_il::token::{Token, TokenTable, TypeToken};

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};

/// A blob and an offset in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: Bytes<'a>,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: Bytes<'a>) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.at >= self.bytes.data().len()
    }

    /// An error at the value that is read next.
    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        self.bytes.error(kind, self.at)
    }

    /// The bytes that have not been read, all of which are read by this call.
    pub(crate) fn rest(&mut self) -> Bytes<'a> {
        let rest = self.bytes.skip(self.at).unwrap_or_default();
        self.at = self.bytes.data().len();
        rest
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let array = self.bytes.array(self.at)?;
        self.at += N;
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A text that ends with a zero byte.
    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let text = self.bytes.until_zero(self.at)?;
        let text = utf8(self.bytes, self.at, text)?;
        self.at += text.len() + 1;
        Ok(text)
    }

    /// A compressed number (ECMA-335 II.23.2).
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Result<u32> {
        match self.bytes.data().get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u32::from(byte))
            }
            _ => compressed::read_unsigned(self.bytes.data(), &mut self.at)
                .map_err(|_| self.error(ErrorKind::UnexpectedEnd)),
        }
    }

    /// A compressed signed number (ECMA-335 II.23.2).
    #[inline]
    pub(crate) fn signed(&mut self) -> Result<i32> {
        compressed::read_signed(self.bytes.data(), &mut self.at)
            .map_err(|_| self.error(ErrorKind::UnexpectedEnd))
    }

    /// A type token in its compressed form (ECMA-335 II.23.2.8).
    pub(crate) fn type_token(&mut self) -> Result<TypeToken> {
        compressed::read_type_token(self.bytes.data(), &mut self.at)
            .map_err(|error| self.error(ErrorKind::Signature(error.kind())))
    }

    /// A compressed number of a row.
    pub(crate) fn row<T: TryFrom<Token>>(&mut self, table: TokenTable) -> Result<T> {
        let start = *self;
        let row = self.unsigned()?;
        Token::from_row(table, row)
            .filter(|_| row != 0)
            .and_then(|token| T::try_from(token).ok())
            .ok_or_else(|| start.error(ErrorKind::Index(row)))
    }
}

/// A part of bytes, from an offset on, as text.
pub(crate) fn utf8<'a>(whole: Bytes<'a>, offset: usize, part: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(part).map_err(|error| {
        whole.error(
            ErrorKind::InvalidText,
            offset.saturating_add(error.valid_up_to()),
        )
    })
}
