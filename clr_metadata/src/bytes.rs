//! Little-endian numbers at checked offsets.

use clr_profiler_il::signature::compressed;

use crate::error::{Error, ErrorKind, Result};

/// A part of the input, with its offset in the input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    base: usize,
}

impl<'a> Bytes<'a> {
    pub(crate) const EMPTY: Self = Self { data: &[], base: 0 };

    /// The whole input.
    pub(crate) const fn new(data: &'a [u8]) -> Self {
        Self { data, base: 0 }
    }

    pub(crate) const fn data(self) -> &'a [u8] {
        self.data
    }

    /// The offset in the input of an offset in this part.
    pub(crate) const fn position(self, offset: usize) -> usize {
        self.base.saturating_add(offset)
    }

    /// An error at an offset in this part, or at its end for an offset beyond it.
    pub(crate) fn error(self, kind: ErrorKind, offset: usize) -> Error {
        Error::new(kind, self.position(offset.min(self.data.len())))
    }

    #[cold]
    fn end(self) -> Error {
        self.error(ErrorKind::UnexpectedEnd, self.data.len())
    }

    /// The bytes from an offset on.
    #[inline]
    pub(crate) fn skip(self, offset: usize) -> Result<Self> {
        let data = self.data.get(offset..).ok_or_else(|| self.end())?;
        Ok(Self {
            data,
            base: self.position(offset),
        })
    }

    /// `length` bytes from an offset on.
    #[inline]
    pub(crate) fn part(self, offset: usize, length: usize) -> Result<Self> {
        let rest = self.skip(offset)?;
        let data = rest.data.get(..length).ok_or_else(|| self.end())?;
        Ok(Self { data, ..rest })
    }

    /// At most the first `length` bytes.
    pub(crate) fn at_most(self, length: usize) -> Self {
        let data = self.data.get(..length).unwrap_or(self.data);
        Self { data, ..self }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(self, offset: usize) -> Result<[u8; N]> {
        let rest = self.data.get(offset..).unwrap_or_default();
        rest.first_chunk().copied().ok_or_else(|| self.end())
    }

    #[inline]
    pub(crate) fn u8(self, offset: usize) -> Result<u8> {
        self.array(offset).map(u8::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u16(self, offset: usize) -> Result<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u32(self, offset: usize) -> Result<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(self, offset: usize) -> Result<u64> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// A number of 32 bits that is an offset or a size.
    pub(crate) fn size(self, offset: usize) -> Result<usize> {
        self.u32(offset).map(|size| size as usize)
    }

    /// The bytes up to a zero byte, without it.
    #[inline]
    pub(crate) fn until_zero(self, offset: usize) -> Result<&'a [u8]> {
        let rest = self.skip(offset)?.data;
        let end = rest.iter().position(|&byte| byte == 0);
        end.and_then(|end| rest.get(..end))
            .ok_or_else(|| self.end())
    }

    /// The bytes that follow their compressed length (II.24.2.4).
    #[inline]
    pub(crate) fn blob(self, offset: usize) -> Result<Self> {
        let mut start = offset;
        let length = compressed::read_unsigned(self.data, &mut start)
            .map_err(|_| self.error(ErrorKind::UnexpectedEnd, offset))?;
        self.part(start, length as usize)
    }
}
