//! Compressed data: bundled files and embedded PDBs.

use crate::error::{Error, ErrorKind, Result};

/// The decompressed bytes, which must be as many as stated. No more memory is taken than that.
#[cfg(feature = "deflate")]
pub(crate) fn decompress(compressed: &[u8], size: u64) -> Result<Vec<u8>> {
    let malformed = Error::new(ErrorKind::Compression, 0);
    let Ok(size) = usize::try_from(size) else {
        return Err(malformed);
    };
    match miniz_oxide::inflate::decompress_to_vec_with_limit(compressed, size) {
        Ok(bytes) if bytes.len() == size => Ok(bytes),
        _ => Err(malformed),
    }
}

#[cfg(not(feature = "deflate"))]
pub(crate) fn decompress(_: &[u8], _: u64) -> Result<Vec<u8>> {
    Err(Error::new(ErrorKind::NoDeflate, 0))
}

/// The most bytes of a PDB or a source file.
const MAX_SIZE: u64 = 0x2000_0000;

/// The most bytes that deflate makes of one: copies of 258 bytes in two bits.
const MAX_RATIO: u64 = 1032;

/// As [`decompress`], for data from anywhere: a stated size that the data cannot have, or that is beyond 512 MiB, is an
/// error before memory is allocated for it.
pub(crate) fn decompress_bounded(compressed: &[u8], size: u64) -> Result<Vec<u8>> {
    if size > MAX_SIZE || size / MAX_RATIO > compressed.len() as u64 {
        return Err(Error::new(ErrorKind::Compression, 0));
    }
    decompress(compressed, size)
}

#[cfg(all(test, feature = "deflate"))]
mod tests {
    use super::*;

    fn compressed(data: &[u8]) -> Vec<u8> {
        miniz_oxide::deflate::compress_to_vec(data, 6)
    }

    #[test]
    fn the_size_is_the_stated_one() {
        let text = b"the same text, the same text, the same text".repeat(40);
        let packed = compressed(&text);
        assert_eq!(
            decompress_bounded(&packed, text.len() as u64),
            Ok(text.clone())
        );
        for size in [0, 1, text.len() - 1, text.len() + 1, 2 * text.len()] {
            let error = decompress_bounded(&packed, size as u64).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Compression, "{size}");
        }
        for end in 0..packed.len() {
            let truncated = decompress_bounded(&packed[..end], text.len() as u64);
            assert!(truncated.is_err(), "{end}");
        }
    }

    #[test]
    fn impossible_sizes_are_refused_before_memory_is_allocated() {
        let packed = compressed(&vec![0; 1 << 20]);
        let length = packed.len() as u64;
        // The best ratio is that of equal bytes.
        assert!((1 << 20) / length <= MAX_RATIO);
        assert!(decompress_bounded(&packed, 1 << 20).is_ok());
        for size in [length * MAX_RATIO * 2, MAX_SIZE + 1, u64::MAX] {
            assert!(decompress_bounded(&packed, size).is_err(), "{size}");
        }
    }
}
