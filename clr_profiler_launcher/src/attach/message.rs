//! The messages of the diagnostics protocol: a header of 20 bytes, then the payload of the command.
//!
//! ```text
//! magic "DOTNET_IPC_V1\0" | size of all: u16 | command set: u8 | command: u8 | 0: u16
//! ```
//!
//! All numbers are little-endian.

use std::io::{self, Read};

use crate::{Clsid, Error, Result};

const MAGIC: &[u8; 14] = b"DOTNET_IPC_V1\0";
const HEADER: usize = MAGIC.len() + 6;

const PROFILER_COMMANDS: u8 = 3;
const ATTACH_PROFILER: u8 = 1;

const SERVER_COMMANDS: u8 = 0xFF;
const OK: u8 = 0;
const ERROR: u8 = 0xFF;

/// The request to load a profiler.
pub(super) fn attach_profiler(
    timeout_ms: u32,
    clsid: Clsid,
    path: &str,
    client_data: &[u8],
) -> Result<Vec<u8>> {
    let path: Vec<u16> = path.encode_utf16().chain([0]).collect();
    let without_data = HEADER + 4 + 16 + 4 + 2 * path.len() + 4;
    let limit = usize::from(u16::MAX).saturating_sub(without_data);
    let too_long = || Error::ClientDataTooLong {
        length: client_data.len(),
        limit,
    };
    let size = u16::try_from(without_data + client_data.len()).map_err(|_| too_long())?;

    let mut message = Vec::with_capacity(usize::from(size));
    message.extend(MAGIC);
    message.extend(size.to_le_bytes());
    message.extend([PROFILER_COMMANDS, ATTACH_PROFILER, 0, 0]);
    message.extend(timeout_ms.to_le_bytes());
    message.extend(clsid.to_bytes_le());
    message.extend((path.len() as u32).to_le_bytes());
    message.extend(path.iter().flat_map(|unit| unit.to_le_bytes()));
    message.extend((client_data.len() as u32).to_le_bytes());
    message.extend(client_data);
    Ok(message)
}

/// Why no answer could be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    Io(io::Error),
    /// The sender does not speak this protocol; the reason in words.
    Bad(String),
}

/// Reads the answer's HRESULT.
///
/// Reads no more of the message than that takes, whatever size the message claims.
pub(super) fn read_answer(from: &mut impl Read) -> Result<i32, Unreadable> {
    let header: [u8; HEADER] = read(from)?;
    let (magic, rest) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Unreadable::Bad(format!(
            "it begins with \"{}\"",
            magic.escape_ascii()
        )));
    }
    let &[size0, size1, set, command, ..] = rest else {
        return Err(Unreadable::Bad("its header is too short".to_owned()));
    };
    let size = usize::from(u16::from_le_bytes([size0, size1]));
    if size < HEADER + 4 {
        return Err(Unreadable::Bad(format!(
            "it holds no result in its {size} bytes"
        )));
    }
    if set != SERVER_COMMANDS || (command != OK && command != ERROR) {
        return Err(Unreadable::Bad(format!(
            "it is the command 0x{set:02X}, 0x{command:02X}"
        )));
    }
    match i32::from_le_bytes(read(from)?) {
        0.. if command == ERROR => Err(Unreadable::Bad(
            "it is an error with a code that means success".to_owned(),
        )),
        hresult => Ok(hresult),
    }
}

fn read<const N: usize>(from: &mut impl Read) -> Result<[u8; N], Unreadable> {
    let mut bytes = [0; N];
    match from.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(Unreadable::Bad("it ends too early".to_owned()))
        }
        Err(error) => Err(Unreadable::Io(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLSID: Clsid = Clsid::from_u128(0xDF63A541_5A33_4611_8829_F4E495985EE3);

    #[test]
    fn the_request_byte_by_byte() {
        let message = attach_profiler(1000, CLSID, "/ä", &[7, 8]).unwrap();
        let expected: Vec<u8> = [
            &b"DOTNET_IPC_V1\0"[..],
            &[56, 0, 3, 1, 0, 0],
            &[0xE8, 3, 0, 0],
            &[
                0x41, 0xA5, 0x63, 0xDF, 0x33, 0x5A, 0x11, 0x46, 0x88, 0x29, 0xF4, 0xE4, 0x95, 0x98,
                0x5E, 0xE3,
            ],
            &[3, 0, 0, 0, b'/', 0, 0xE4, 0, 0, 0],
            &[2, 0, 0, 0, 7, 8],
        ]
        .concat();
        assert_eq!(message, expected);
    }

    #[test]
    fn a_message_holds_what_fits_and_no_more() {
        let limit = 65_535 - (20 + 4 + 16 + 4 + 6 + 4);
        let most = attach_profiler(1, CLSID, "/p", &vec![0; limit]).unwrap();
        assert_eq!(most.len(), 65_535);
        assert_eq!(most[14..16], [0xFF, 0xFF]);
        let error = attach_profiler(1, CLSID, "/p", &vec![0; limit + 1]).unwrap_err();
        assert!(
            matches!(error, Error::ClientDataTooLong { length, limit: l } if length == limit + 1 && l == limit),
            "{error:?}"
        );
        let long = "p".repeat(40_000);
        assert!(matches!(
            attach_profiler(1, CLSID, &long, &[]),
            Err(Error::ClientDataTooLong { limit: 0, .. })
        ));
    }

    fn answer(size: u16, set: u8, command: u8, payload: &[u8]) -> Vec<u8> {
        let size = size.to_le_bytes();
        [&MAGIC[..], &[size[0], size[1], set, command, 0, 0], payload].concat()
    }

    #[test]
    fn answers_are_read() {
        for (bytes, hresult) in [
            (answer(24, 0xFF, 0, &[0, 0, 0, 0]), 0),
            (answer(24, 0xFF, 0, &[1, 0, 0, 0]), 1),
            (
                answer(24, 0xFF, 0xFF, &[0x6A, 0x13, 0x13, 0x80]),
                0x8013_136A_u32 as i32,
            ),
            // An answer that reports success and carries a failure code is a failure.
            (
                answer(24, 0xFF, 0, &[5, 0x40, 0, 0x80]),
                0x8000_4005_u32 as i32,
            ),
            // More than the protocol has today, and a wrong size.
            (answer(99, 0xFF, 0, &[0; 9]), 0),
            (answer(65_535, 0xFF, 0, &[0; 4]), 0),
        ] {
            assert_eq!(read_answer(&mut &bytes[..]).unwrap(), hresult, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_answer_is_described() {
        for (bytes, problem) in [
            (Vec::new(), "ends too early"),
            (b"DOTNET".to_vec(), "ends too early"),
            (answer(24, 0xFF, 0, &[0; 3]), "ends too early"),
            (
                b"HTTP/1.1 400 Bad Request\r\n".to_vec(),
                r#"begins with "HTTP/1.1 400 B""#,
            ),
            (answer(0, 0xFF, 0, &[0; 4]), "no result in its 0 bytes"),
            (answer(23, 0xFF, 0, &[0; 4]), "no result in its 23 bytes"),
            (answer(24, 3, 1, &[0; 4]), "the command 0x03, 0x01"),
            (answer(24, 0xFF, 2, &[0; 4]), "the command 0xFF, 0x02"),
            (answer(24, 0xFF, 0xFF, &[0; 4]), "means success"),
        ] {
            match read_answer(&mut &bytes[..]) {
                Err(Unreadable::Bad(text)) => assert!(text.contains(problem), "{text}"),
                other => panic!("{bytes:?}: {other:?}"),
            }
        }
    }
}
