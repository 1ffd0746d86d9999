//! Compressed integers and coded type tokens (ECMA-335 II.23.2, II.23.2.8).
//!
//! Small numbers take one byte, larger ones two or four. A reader takes a blob and an offset into
//! it, which it advances past the number and leaves unchanged on an error. It accepts a number in
//! more bytes than necessary; writers always use the fewest.
//!
//! ```
//! use clr_profiler_il::signature::compressed;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut blob = Vec::new();
//! compressed::write_unsigned(0x80, &mut blob)?;
//! compressed::write_signed(-3, &mut blob)?;
//! assert_eq!(blob, [0x80, 0x80, 0x7b]);
//!
//! let mut offset = 0;
//! assert_eq!(compressed::read_unsigned(&blob, &mut offset)?, 0x80);
//! assert_eq!(compressed::read_signed(&blob, &mut offset)?, -3);
//! assert_eq!(offset, blob.len());
//! # Ok(())
//! # }
//! ```

use super::{SignatureError, SignatureErrorKind};
use crate::token::{MAX_ROW, TypeDef, TypeRef, TypeSpec, TypeToken};

/// The largest unsigned number that can be written: 29 bits.
pub const MAX_UNSIGNED: u32 = 0x1fff_ffff;
/// The largest signed number that can be written.
pub const MAX_SIGNED: i32 = 0x0fff_ffff;
/// The smallest signed number that can be written.
pub const MIN_SIGNED: i32 = -0x1000_0000;

/// A raw number of a blob, and the width of its form.
struct Raw {
    value: u32,
    bits: u32,
    length: usize,
}

fn read_raw(blob: &[u8], offset: usize) -> Result<Raw, SignatureError> {
    let rest = blob.get(offset..).unwrap_or_default();
    let end = || SignatureError::new(SignatureErrorKind::UnexpectedEnd, blob.len());
    let &first = rest.first().ok_or_else(end)?;
    if first < 0x80 {
        return Ok(Raw {
            value: u32::from(first),
            bits: 7,
            length: 1,
        });
    }
    if first < 0xc0 {
        let bytes = rest.first_chunk::<2>().ok_or_else(end)?;
        let value = u32::from(u16::from_be_bytes(*bytes) & 0x3fff);
        return Ok(Raw {
            value,
            bits: 14,
            length: 2,
        });
    }
    if first < 0xe0 {
        let bytes = rest.first_chunk::<4>().ok_or_else(end)?;
        let value = u32::from_be_bytes(*bytes) & MAX_UNSIGNED;
        return Ok(Raw {
            value,
            bits: 29,
            length: 4,
        });
    }
    Err(SignatureError::new(
        SignatureErrorKind::InvalidCompressedInteger(first),
        offset,
    ))
}

/// Writes a number of `bits` bits in the form of that width.
fn write_raw(value: u32, bits: u32, out: &mut Vec<u8>) {
    let [_, _, third, fourth] = value.to_be_bytes();
    match bits {
        7 => out.push(fourth),
        14 => out.extend([third | 0x80, fourth]),
        _ => out.extend((value | 0xc000_0000).to_be_bytes()),
    }
}

/// Reads an unsigned number at `offset`.
///
/// # Errors
///
/// [`UnexpectedEnd`](SignatureErrorKind::UnexpectedEnd) or
/// [`InvalidCompressedInteger`](SignatureErrorKind::InvalidCompressedInteger).
pub fn read_unsigned(blob: &[u8], offset: &mut usize) -> Result<u32, SignatureError> {
    let raw = read_raw(blob, *offset)?;
    *offset += raw.length;
    Ok(raw.value)
}

/// Reads a signed number at `offset`: its sign is the lowest bit.
///
/// # Errors
///
/// [`UnexpectedEnd`](SignatureErrorKind::UnexpectedEnd) or
/// [`InvalidCompressedInteger`](SignatureErrorKind::InvalidCompressedInteger).
pub fn read_signed(blob: &[u8], offset: &mut usize) -> Result<i32, SignatureError> {
    let raw = read_raw(blob, *offset)?;
    *offset += raw.length;
    let magnitude = (raw.value >> 1).cast_signed();
    if raw.value & 1 == 0 {
        return Ok(magnitude);
    }
    // The lowest bit is the rotated sign bit of a number with `bits` bits.
    Ok(magnitude - (1 << (raw.bits - 1)))
}

/// Reads a coded type token (`TypeDefOrRefOrSpecEncoded`, ECMA-335 II.23.2.8) at `offset`.
///
/// Row 0 is read as a nil token.
///
/// # Errors
///
/// Those of [`read_unsigned`], and
/// [`InvalidTypeTokenTag`](SignatureErrorKind::InvalidTypeTokenTag) or
/// [`RowTooLarge`](SignatureErrorKind::RowTooLarge).
pub fn read_type_token(blob: &[u8], offset: &mut usize) -> Result<TypeToken, SignatureError> {
    let raw = read_raw(blob, *offset)?;
    let row = raw.value >> 2;
    let token = match raw.value & 3 {
        0 => TypeDef::from_row(row).map(TypeToken::Def),
        1 => TypeRef::from_row(row).map(TypeToken::Ref),
        2 => TypeSpec::from_row(row).map(TypeToken::Spec),
        _ => {
            let kind = SignatureErrorKind::InvalidTypeTokenTag(raw.value);
            return Err(SignatureError::new(kind, *offset));
        }
    };
    let token =
        token.ok_or_else(|| SignatureError::new(SignatureErrorKind::RowTooLarge(row), *offset))?;
    *offset += raw.length;
    Ok(token)
}

/// Appends an unsigned number.
///
/// # Errors
///
/// [`ValueTooLarge`](SignatureErrorKind::ValueTooLarge) above [`MAX_UNSIGNED`]; `out` is then
/// unchanged.
pub fn write_unsigned(value: u32, out: &mut Vec<u8>) -> Result<(), SignatureError> {
    match value {
        0..=0x7f => write_raw(value, 7, out),
        0x80..=0x3fff => write_raw(value, 14, out),
        0x4000..=MAX_UNSIGNED => write_raw(value, 29, out),
        _ => {
            let kind = SignatureErrorKind::ValueTooLarge(i64::from(value));
            return Err(SignatureError::new(kind, 0));
        }
    }
    Ok(())
}

/// Appends a signed number.
///
/// # Errors
///
/// [`ValueTooLarge`](SignatureErrorKind::ValueTooLarge) outside [`MIN_SIGNED`] to [`MAX_SIGNED`];
/// `out` is then unchanged.
pub fn write_signed(value: i32, out: &mut Vec<u8>) -> Result<(), SignatureError> {
    let bits = match value {
        -0x40..=0x3f => 7,
        -0x2000..=0x1fff => 14,
        MIN_SIGNED..=MAX_SIGNED => 29,
        _ => {
            let kind = SignatureErrorKind::ValueTooLarge(i64::from(value));
            return Err(SignatureError::new(kind, 0));
        }
    };
    // Rotate left by one within the width: the sign bit becomes the lowest bit.
    let mask = (1_u32 << bits) - 1;
    let rotated = (value.cast_unsigned() << 1) & mask | u32::from(value < 0);
    write_raw(rotated, bits, out);
    Ok(())
}

/// Appends a coded type token.
pub fn write_type_token(token: TypeToken, out: &mut Vec<u8>) {
    let tag = match token {
        TypeToken::Def(_) => 0,
        TypeToken::Ref(_) => 1,
        TypeToken::Spec(_) => 2,
    };
    // A row has 24 bits, so the coded token always fits into the 29 bits of the widest form.
    const { assert!(MAX_ROW << 2 < MAX_UNSIGNED) };
    let coded = token.row() << 2 | tag;
    let bits = match coded {
        0..=0x7f => 7,
        0x80..=0x3fff => 14,
        _ => 29,
    };
    write_raw(coded, bits, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Token;

    #[test]
    fn unsigned_numbers_at_every_edge() {
        let table: &[(u32, &[u8])] = &[
            (0, &[0x00]),
            (3, &[0x03]),
            (0x7f, &[0x7f]),
            (0x80, &[0x80, 0x80]),
            (0x2e57, &[0xae, 0x57]),
            (0x3fff, &[0xbf, 0xff]),
            (0x4000, &[0xc0, 0x00, 0x40, 0x00]),
            (MAX_UNSIGNED, &[0xdf, 0xff, 0xff, 0xff]),
        ];
        for &(value, bytes) in table {
            let mut out = Vec::new();
            write_unsigned(value, &mut out).unwrap();
            assert_eq!(out, bytes, "{value:#x}");
            let mut offset = 0;
            assert_eq!(read_unsigned(bytes, &mut offset), Ok(value));
            assert_eq!(offset, bytes.len());
        }
    }

    #[test]
    fn signed_numbers_at_every_edge() {
        let table: &[(i32, &[u8])] = &[
            (0, &[0x00]),
            (1, &[0x02]),
            (-1, &[0x7f]),
            (3, &[0x06]),
            (-3, &[0x7b]),
            (63, &[0x7e]),
            (-64, &[0x01]),
            (64, &[0x80, 0x80]),
            (-65, &[0xbf, 0x7f]),
            (8191, &[0xbf, 0xfe]),
            (-8192, &[0x80, 0x01]),
            (8192, &[0xc0, 0x00, 0x40, 0x00]),
            (-8193, &[0xdf, 0xff, 0xbf, 0xff]),
            (MAX_SIGNED, &[0xdf, 0xff, 0xff, 0xfe]),
            (MIN_SIGNED, &[0xc0, 0x00, 0x00, 0x01]),
        ];
        for &(value, bytes) in table {
            let mut out = Vec::new();
            write_signed(value, &mut out).unwrap();
            assert_eq!(out, bytes, "{value}");
            let mut offset = 0;
            assert_eq!(read_signed(bytes, &mut offset), Ok(value), "{value}");
            assert_eq!(offset, bytes.len());
        }
    }

    #[test]
    fn numbers_out_of_range_are_not_written() {
        let mut out = vec![7];
        for value in [MAX_UNSIGNED + 1, u32::MAX] {
            let error = write_unsigned(value, &mut out).unwrap_err();
            assert_eq!(
                error.kind(),
                SignatureErrorKind::ValueTooLarge(i64::from(value))
            );
        }
        for value in [MAX_SIGNED + 1, MIN_SIGNED - 1, i32::MAX, i32::MIN] {
            let error = write_signed(value, &mut out).unwrap_err();
            assert_eq!(
                error.kind(),
                SignatureErrorKind::ValueTooLarge(i64::from(value))
            );
        }
        assert_eq!(out, [7]);
    }

    #[test]
    fn wider_forms_than_needed_are_read() {
        for bytes in [&[0x80, 0x01][..], &[0xc0, 0x00, 0x00, 0x01]] {
            assert_eq!(read_unsigned(bytes, &mut 0), Ok(1));
        }
        // The sign bit is that of the given form.
        assert_eq!(read_signed(&[0xbf, 0xff], &mut 0), Ok(-1));
        assert_eq!(read_signed(&[0xdf, 0xff, 0xff, 0xff], &mut 0), Ok(-1));
    }

    #[test]
    fn broken_numbers_leave_the_cursor() {
        let ends: &[&[u8]] = &[&[], &[0x80], &[0xc0], &[0xc0, 0x00], &[0xc0, 0x00, 0x00]];
        for bytes in ends {
            let mut offset = 0;
            let error = read_unsigned(bytes, &mut offset).unwrap_err();
            assert_eq!(error.kind(), SignatureErrorKind::UnexpectedEnd);
            assert_eq!(error.offset(), bytes.len());
            assert_eq!(read_signed(bytes, &mut offset), Err(error));
            assert_eq!(read_type_token(bytes, &mut offset), Err(error));
            assert_eq!(offset, 0);
        }
        for first in 0xe0..=0xff {
            let mut offset = 1;
            let error = read_unsigned(&[0, first, 0, 0, 0], &mut offset).unwrap_err();
            assert_eq!(
                error.kind(),
                SignatureErrorKind::InvalidCompressedInteger(first)
            );
            assert_eq!((error.offset(), offset), (1, 1));
        }
        let mut beyond = usize::MAX;
        assert!(read_unsigned(&[0], &mut beyond).is_err());
        assert_eq!(beyond, usize::MAX);
    }

    #[test]
    fn type_tokens_are_coded() {
        let table: &[(u32, &[u8])] = &[
            (0x0200_0000, &[0x00]),
            (0x0200_0001, &[0x04]),
            (0x0100_0012, &[0x49]),
            (0x1b00_0001, &[0x06]),
            (0x1b00_001f, &[0x7e]),
            (0x0100_0020, &[0x80, 0x81]),
            (0x0200_0fff, &[0xbf, 0xfc]),
            (0x0200_1000, &[0xc0, 0x00, 0x40, 0x00]),
            (0x1bff_ffff, &[0xc3, 0xff, 0xff, 0xfe]),
        ];
        for &(raw, bytes) in table {
            let token = TypeToken::try_from(Token::new(raw)).unwrap();
            let mut out = Vec::new();
            write_type_token(token, &mut out);
            assert_eq!(out, bytes, "{raw:#x}");
            let mut offset = 0;
            assert_eq!(read_type_token(bytes, &mut offset), Ok(token));
            assert_eq!(offset, bytes.len());
        }
        let error = read_type_token(&[0x07], &mut 0).unwrap_err();
        assert_eq!(error.kind(), SignatureErrorKind::InvalidTypeTokenTag(7));
        let error = read_type_token(&[0xc4, 0x00, 0x00, 0x00], &mut 0).unwrap_err();
        assert_eq!(error.kind(), SignatureErrorKind::RowTooLarge(MAX_ROW + 1));
    }
}
