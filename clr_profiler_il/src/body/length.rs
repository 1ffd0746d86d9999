use super::decode::Header;
use super::error::{BodyError, BodyErrorKind};

/// The size of a fat header.
pub(super) const FAT_HEADER: usize = 12;
/// Flag of a fat header: sections follow the code.
pub(super) const MORE_SECTIONS: u8 = 0x08;
/// Flag of a section: its size has 24 bits.
pub(super) const SECTION_FAT: u8 = 0x40;
/// Flag of a section: another one follows.
pub(super) const SECTION_MORE: u8 = 0x80;

/// The length of the method body at the start of these bytes: header, code and sections.
///
/// Ignores any bytes after it, and does not decode instructions.
///
/// ```
/// use clr_profiler_il::body::encoded_length;
///
/// // A tiny header for three bytes of code: `ldc.i4.s 42; ret`.
/// assert_eq!(encoded_length(&[0x0e, 0x1f, 42, 0x2a]), Ok(4));
/// ```
///
/// # Errors
///
/// If a header is malformed, or a size exceeds the available bytes.
pub fn encoded_length(bytes: &[u8]) -> Result<usize, BodyError> {
    let header = Header::read(bytes)?;
    let mut end = header.size + header.code_size;
    if header.more_sections {
        end = end_of_sections(bytes, end)?;
    }
    if end <= bytes.len() {
        Ok(end)
    } else {
        Err(truncated(bytes))
    }
}

fn end_of_sections(bytes: &[u8], code_end: usize) -> Result<usize, BodyError> {
    let mut end = code_end;
    loop {
        // Sections begin at multiples of four.
        let start = end.checked_next_multiple_of(4).ok_or(truncated(bytes))?;
        let kind = byte_at(bytes, start)?;
        let mut size = usize::from(byte_at(bytes, start + 1)?);
        if kind & SECTION_FAT != 0 {
            size |= usize::from(byte_at(bytes, start + 2)?) << 8;
            size |= usize::from(byte_at(bytes, start + 3)?) << 16;
        }
        if size < 4 {
            let kind = BodyErrorKind::SectionSize(size);
            return Err(BodyError {
                offset: start + 1,
                kind,
            });
        }
        // For a size without the four bytes of the header, the runtime reads all clauses.
        let clause = if kind & SECTION_FAT == 0 { 12 } else { 24 };
        if size % clause == 0 {
            size += 4;
        }
        end = start.saturating_add(size);
        if kind & SECTION_MORE == 0 {
            return Ok(end);
        }
    }
}

fn byte_at(bytes: &[u8], offset: usize) -> Result<u8, BodyError> {
    bytes.get(offset).copied().ok_or(truncated(bytes))
}

fn truncated(bytes: &[u8]) -> BodyError {
    BodyError {
        offset: bytes.len(),
        kind: BodyErrorKind::Truncated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fat body with `code` bytes of code, and sections.
    fn fat(code: u32, more: bool, sections: &[&[u8]]) -> Vec<u8> {
        let mut body = vec![if more { 0x1b } else { 0x13 }, 0x30, 8, 0];
        body.extend(code.to_le_bytes());
        body.extend([0; 4]);
        body.extend(vec![0; code as usize]);
        for section in sections {
            body.resize(body.len().next_multiple_of(4), 0);
            body.extend(*section);
        }
        body
    }

    #[test]
    fn tiny_and_fat() {
        assert_eq!(encoded_length(&[0x02]), Ok(1));
        assert_eq!(encoded_length(&[&[0xfe][..], &[0; 63]].concat()), Ok(64));
        assert_eq!(encoded_length(&fat(5, false, &[])), Ok(17));
        // Bytes after the body are ignored.
        assert_eq!(encoded_length(&[0x06, 0x2a, 0xff]), Ok(2));
    }

    #[test]
    fn sections_are_aligned_and_chained() {
        let small = [&[0x01, 16, 0, 0][..], &[0; 12]].concat();
        let chained = [&[0x81, 16, 0, 0][..], &[0; 12]].concat();
        let large = [&[0x41, 28, 0, 0][..], &[0; 24]].concat();
        assert_eq!(encoded_length(&fat(5, true, &[&small])), Ok(20 + 16));
        assert_eq!(
            encoded_length(&fat(8, true, &[&chained, &large])),
            Ok(20 + 16 + 28)
        );
    }

    #[test]
    fn every_prefix_is_truncated() {
        let section = [&[0x01, 16, 0, 0][..], &[0; 12]].concat();
        let body = fat(5, true, &[&section]);
        for length in 0..body.len() {
            let error = encoded_length(&body[..length]).unwrap_err();
            assert_eq!(error.kind, BodyErrorKind::Truncated, "of {length} bytes");
        }
    }

    #[test]
    fn hostile_headers() {
        assert_eq!(
            encoded_length(&[0x00]).unwrap_err().kind,
            BodyErrorKind::UnknownHeader(0)
        );
        assert_eq!(
            encoded_length(&[0x13, 0x20]).unwrap_err().kind,
            BodyErrorKind::HeaderSize(2)
        );
        let huge = [0x1b, 0x30, 8, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(
            encoded_length(&huge).unwrap_err().kind,
            BodyErrorKind::Truncated
        );
        let endless = fat(4, true, &[&[0x81, 0, 0, 0]]);
        assert_eq!(
            encoded_length(&endless).unwrap_err().kind,
            BodyErrorKind::SectionSize(0)
        );
    }
}
