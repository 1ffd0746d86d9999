//! Little-endian numbers at offsets, with errors instead of panics.

use crate::error::{Error, ErrorKind, Result};

pub(crate) fn array<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N]> {
    bytes
        .get(offset..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or(Error::new(ErrorKind::Truncated, offset))
}

pub(crate) fn u8_at(bytes: &[u8], offset: usize) -> Result<u8> {
    array(bytes, offset).map(u8::from_le_bytes)
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Result<u16> {
    array(bytes, offset).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Result<u32> {
    array(bytes, offset).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Result<u64> {
    array(bytes, offset).map(u64::from_le_bytes)
}

/// A number of 32 bits that is an offset or a size.
pub(crate) fn usize_at(bytes: &[u8], offset: usize) -> Result<usize> {
    u32_at(bytes, offset).map(|value| value as usize)
}

pub(crate) fn slice(bytes: &[u8], offset: usize, length: usize) -> Result<&[u8]> {
    offset
        .checked_add(length)
        .and_then(|end| bytes.get(offset..end))
        .ok_or(Error::new(ErrorKind::Truncated, offset))
}

pub(crate) fn rest(bytes: &[u8], offset: usize) -> Result<&[u8]> {
    bytes
        .get(offset..)
        .ok_or(Error::new(ErrorKind::Truncated, offset))
}
