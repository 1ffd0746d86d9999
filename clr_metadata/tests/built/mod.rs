//! Metadata and images that tests build.

#![allow(dead_code, reason = "each test uses some of it")]

/// A stream of tables with these numbers of rows, in the order of the tables, and the bytes of the rows.
pub(crate) fn tables(heaps: u8, sorted: u64, tables: &[(u8, u32)], rows: &[u8]) -> Vec<u8> {
    let mut stream = vec![0, 0, 0, 0, 2, 0, heaps, 1];
    let valid = tables
        .iter()
        .fold(0_u64, |valid, (table, _)| valid | 1 << table);
    stream.extend(valid.to_le_bytes());
    stream.extend(sorted.to_le_bytes());
    for (_, rows) in tables {
        stream.extend(rows.to_le_bytes());
    }
    stream.extend(rows);
    stream
}

/// Metadata with these streams.
pub(crate) fn metadata(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut root = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4.0\0\0".to_vec();
    root.extend((streams.len() as u16).to_le_bytes());
    let padded = |name: &str| (name.len() + 1).next_multiple_of(4);
    let headers: usize = streams.iter().map(|(name, _)| 8 + padded(name)).sum();
    let mut at = root.len() + headers;
    for (name, bytes) in streams {
        root.extend((at as u32).to_le_bytes());
        root.extend((bytes.len() as u32).to_le_bytes());
        root.extend(name.as_bytes());
        root.resize(root.len() + padded(name) - name.len(), 0);
        at += bytes.len();
    }
    streams.iter().for_each(|(_, bytes)| root.extend(*bytes));
    root
}

/// The address of the only section.
pub(crate) const SECTION: u32 = 0x2000;

/// An image whose section has the CLI header, and these bytes after it.
pub(crate) fn image(metadata: &[u8], is_mapped: bool) -> Vec<u8> {
    let mut file = vec![0; if is_mapped { SECTION as usize } else { 0x180 }];
    let start = file.len() as u32;
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    let size = 72 + metadata.len() as u32;
    put(0, b"MZ");
    put(0x3c, &0x40_u32.to_le_bytes());
    put(0x40, b"PE\0\0");
    put(0x44, &0x14c_u16.to_le_bytes());
    put(0x46, &1_u16.to_le_bytes());
    put(0x54, &0xe0_u16.to_le_bytes());
    let optional = 0x58;
    put(optional, &0x10b_u16.to_le_bytes());
    put(optional + 56, &(SECTION + size).to_le_bytes());
    put(optional + 92, &16_u32.to_le_bytes());
    put(optional + 96 + 8 * 14, &SECTION.to_le_bytes());
    // On disk a section is at another offset than in memory.
    let row = [SECTION, size, if is_mapped { 0xff_ffff } else { start }];
    put(optional + 0xe0 + 12, &row.map(u32::to_le_bytes).concat());
    let cli = [72, 0, SECTION + 72, metadata.len() as u32, 1, 0x0600_0001];
    file.extend(cli.map(u32::to_le_bytes).concat());
    file.resize(start as usize + 72, 0);
    file.extend(metadata);
    file
}
