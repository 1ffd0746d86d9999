//! Inputs from which variations start.

/// The stream of tables of metadata, and the bytes after it; `None` without such a stream.
#[must_use]
pub fn tables(metadata: &[u8]) -> Option<&[u8]> {
    let name = metadata.windows(4).position(|name| name == b"#~\0\0")?;
    let offset = metadata.get(name.checked_sub(8)?..)?.first_chunk()?;
    metadata.get(u32::from_le_bytes(*offset) as usize..)
}

/// A bundle of version 6 with one file.
#[must_use]
pub fn bundle(file: &[u8]) -> Vec<u8> {
    let mark: [u8; 32] = [
        0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0,
        0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3,
        0x6a, 0xae,
    ];
    let size = file.len() as u64;
    let mut bytes = (40 + size).to_le_bytes().to_vec();
    bytes.extend(mark);
    bytes.extend(file);
    bytes.extend([6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, b'i', b'd']);
    bytes.extend([0; 40]);
    bytes.extend([40, size, 0].map(u64::to_le_bytes).concat());
    bytes.extend(b"\x01\x05a.dll");
    bytes
}
