use super::*;

/// A stream of tables: two type references, then the manifest.
fn tables() -> Vec<u8> {
    let mut stream = vec![0, 0, 0, 0, 2, 0, 0, 1];
    stream.extend((1_u64 << 1 | 1 << 0x20).to_le_bytes());
    stream.extend([0; 8]);
    stream.extend([2_u32, 1].map(u32::to_le_bytes).concat());
    // For each type reference: scope, name, namespace.
    stream.extend([0; 2 * 6]);
    stream.extend(0x8004_u32.to_le_bytes());
    stream.extend([1_u16, 2, 3, 4].map(u16::to_le_bytes).concat());
    stream.extend(1_u32.to_le_bytes());
    // Key at 1, name at 1, culture at 8.
    stream.extend([1_u16, 1, 8].map(u16::to_le_bytes).concat());
    stream
}

fn metadata(tables: &[u8]) -> Vec<u8> {
    let streams: [(&[u8], &[u8]); 3] = [
        (b"#~\0\0", tables),
        (b"#Strings\0\0\0\0", b"\0Helper\0de-DE\0"),
        (b"#Blob\0\0\0", &[0, 3, 7, 8, 9]),
    ];
    let mut root = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4.0\0\0\x03\0".to_vec();
    let headers: usize = streams.iter().map(|(name, _)| 8 + name.len()).sum();
    let mut at = root.len() + headers;
    for (name, bytes) in streams {
        root.extend((at as u32).to_le_bytes());
        root.extend((bytes.len() as u32).to_le_bytes());
        root.extend(name);
        at += bytes.len();
    }
    streams.iter().for_each(|(_, bytes)| root.extend(*bytes));
    root
}

/// An image with one section at 0x2000, which begins with the CLI header.
fn image(metadata: &[u8]) -> Vec<u8> {
    const SECTION: u32 = 0x2000;
    let mut file = vec![0; 0x180];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"MZ");
    put(0x3c, &0x40_u32.to_le_bytes());
    put(0x40, b"PE\0\0");
    put(0x46, &1_u16.to_le_bytes());
    put(0x54, &0xe0_u16.to_le_bytes());
    let optional = 0x58;
    put(optional, &0x10b_u16.to_le_bytes());
    put(optional + 92, &16_u32.to_le_bytes());
    put(optional + 96 + 8 * 14, &SECTION.to_le_bytes());
    let section = optional + 0xe0;
    let size = 16 + metadata.len() as u32;
    let row = [SECTION, size, 0x180].map(u32::to_le_bytes).concat();
    put(section + 12, &row);
    file.extend([0; 8]);
    file.extend((SECTION + 16).to_le_bytes());
    file.extend((metadata.len() as u32).to_le_bytes());
    file.extend(metadata);
    file
}

#[test]
fn a_manifest_is_read() {
    let read = Manifest::read(&image(&metadata(&tables()))).unwrap();
    let expected = Manifest {
        name: "Helper".to_owned(),
        version: [1, 2, 3, 4],
        culture: "de-DE".to_owned(),
        public_key: vec![7, 8, 9],
        hash_algorithm: AssemblyHashAlgorithm::Sha1,
        flags: AssemblyFlags::PUBLIC_KEY,
        type_refs: 2,
    };
    assert_eq!(read, expected);
}

#[test]
fn what_is_no_assembly_is_told() {
    let mut no_manifest = tables();
    no_manifest[12] = 0;
    let mut native = image(&metadata(&tables()));
    native[0x58 + 96 + 8 * 14..][..4].fill(0);
    let mut unsigned = metadata(&tables());
    unsigned[0] = 0;
    for (file, problem) in [
        (b"MZ".to_vec(), AssemblyError::UnexpectedEnd),
        (b"#!/bin/sh".to_vec(), AssemblyError::NotAnImage),
        (native, AssemblyError::Native),
        (image(&unsigned), AssemblyError::NoMetadata),
        (image(&metadata(&no_manifest)), AssemblyError::NoManifest),
    ] {
        assert_eq!(Manifest::read(&file), Err(problem));
    }
}

#[test]
fn a_file_that_is_cut_or_changed_is_read_to_an_end() {
    let mut file = image(&metadata(&tables()));
    for end in 0..file.len() {
        assert!(Manifest::read(&file[..end]).is_err(), "{end}");
    }
    for at in 0..file.len() {
        let byte = std::mem::replace(&mut file[at], 0xff);
        let _ = Manifest::read(&file);
        file[at] = byte;
    }
}
