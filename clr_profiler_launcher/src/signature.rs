//! Finds the mark that every apphost and single-file .NET program contains.

use std::io::{self, Read};

/// The complement of the 32 bytes, so that programs that contain this crate do not contain the mark.
const COMPLEMENT: [u8; LENGTH] = [
    0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c, 0xfd, 0xeb, 0x28, 0x5f, 0xcd,
    0xec, 0x0a, 0x46, 0x19, 0x10, 0x51, 0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c, 0x95, 0x51,
];
const LENGTH: usize = 32;
const CHUNK: usize = 64 * 1024;

/// Whether `file` contains the bundle signature, read in pieces of 64 KiB to its end or to the mark.
pub(crate) fn is_in(file: &mut impl Read) -> io::Result<bool> {
    // How far the window may move if its last byte is this one (Horspool's search).
    let mut shift = [LENGTH; 256];
    for (position, &byte) in COMPLEMENT.iter().enumerate().take(LENGTH - 1) {
        shift[usize::from(!byte)] = LENGTH - 1 - position;
    }
    let mut kept = 0;
    let mut buffer = vec![0_u8; LENGTH + CHUNK];
    loop {
        let read = match file.read(&mut buffer[kept..]) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + read;
        let mut start = 0;
        while let Some(window) = buffer[..filled].get(start..start + LENGTH) {
            if window
                .iter()
                .zip(&COMPLEMENT)
                .all(|(&byte, &not)| byte == !not)
            {
                return Ok(true);
            }
            start += shift[usize::from(window[LENGTH - 1])];
        }
        // The mark may begin in the remaining bytes: keep them in front of the next piece.
        let rest = start.min(filled);
        buffer.copy_within(rest..filled, 0);
        kept = filled - rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most `1` to `n` bytes a call, so that the mark crosses every border.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn found_at_any_place_and_with_any_piece_size() {
        let mark: Vec<u8> = COMPLEMENT.iter().map(|byte| !byte).collect();
        let text: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            text,
            "8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae"
        );
        for place in [
            0,
            1,
            31,
            32,
            33,
            1000,
            CHUNK - 16,
            CHUNK + 16,
            CHUNK + 31,
            3 * CHUNK,
        ] {
            let mut file = vec![0x8b; place];
            file.extend(&mark);
            file.extend([0; 40]);
            for piece in [7, 31, 32, 33, 4096, usize::MAX] {
                assert!(is_in(&mut Drip(&file, piece)).unwrap(), "{place} {piece}");
            }
            // One byte changed, or one byte short: not the mark.
            let mut wrong = file.clone();
            wrong[place + 15] ^= 1;
            assert!(!is_in(&mut wrong.as_slice()).unwrap(), "{place}");
            assert!(!is_in(&mut &file[..place + 31]).unwrap(), "{place}");
            assert!(is_in(&mut &file[..place + 32]).unwrap(), "{place}");
        }
        assert!(!is_in(&mut [0_u8; 0].as_slice()).unwrap());
    }
}
