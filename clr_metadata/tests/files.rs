//! Images, bundles, and a committed assembly.

mod built;

use clr_metadata::rows::{AssemblyRefRow, CustomAttributeRow};
use clr_metadata::token::{MethodDef, TypeDef};
use clr_metadata::{
    Assembly, Bundle, ConstantValue, DebugContents, ErrorKind, Image, ImageLayout, Metadata,
    TypeKind,
};
use clr_profiler_il::attributes::{AssemblyFlags, AssemblyHashAlgorithm};
use clr_profiler_il::signature::TypeSig;

const BASICS: &[u8] = include_bytes!("../../tests/profilees/Basics.dll");
const ATTRIBUTES: &[u8] = include_bytes!("../../tests/profilees/Attributes.dll");

/// Two type references, then the manifest: key at 1, name at 1, culture at 8.
fn manifest() -> Vec<u8> {
    let mut rows = vec![0; 2 * 6];
    rows.extend(0x8004_u32.to_le_bytes());
    rows.extend([1_u16, 2, 3, 4].map(u16::to_le_bytes).concat());
    rows.extend(1_u32.to_le_bytes());
    rows.extend([1_u16, 1, 8].map(u16::to_le_bytes).concat());
    let tables = built::tables(0, 0, &[(0x01, 2), (0x20, 1)], &rows);
    built::metadata(&[
        ("#~", &tables),
        ("#Strings", b"\0Helper\0de-DE\0"),
        ("#Blob", &[0, 3, 7, 8, 9]),
    ])
}

#[test]
fn a_manifest_is_read_from_a_file_and_from_a_loaded_image() {
    for layout in [ImageLayout::File, ImageLayout::Mapped] {
        let file = built::image(&manifest(), layout == ImageLayout::Mapped);
        let image = Image::with_layout(&file, layout).unwrap();
        assert!(image.headers().cli.unwrap().has_entry_point());
        let metadata = image.metadata().unwrap();
        let manifest = metadata.manifest().unwrap();
        assert_eq!(manifest.name, "Helper");
        assert_eq!(manifest.version, [1, 2, 3, 4]);
        assert_eq!(manifest.culture, "de-DE");
        assert_eq!(manifest.public_key, [7, 8, 9]);
        assert_eq!(manifest.hash_algorithm, AssemblyHashAlgorithm::Sha1);
        assert_eq!(manifest.flags, AssemblyFlags::PUBLIC_KEY);
        // Each prefix lacks something.
        for end in 0..file.len() {
            let prefix = Image::with_layout(&file[..end], layout);
            let error = prefix
                .and_then(|image| image.metadata().map(drop))
                .unwrap_err();
            assert!(error.offset() <= end, "{error:?} of {end}");
        }
    }
}

#[test]
fn other_files_are_told_apart() {
    let mut native = built::image(&manifest(), false);
    native[0x58 + 96 + 8 * 14..][..4].fill(0);
    let mut unsigned = manifest();
    unsigned[0] = 0;
    let unsigned = built::image(&unsigned, false);
    let kind = |file: &[u8]| Assembly::parse(file).unwrap_err().kind().clone();
    assert_eq!(kind(b"MZ"), ErrorKind::UnexpectedEnd);
    assert_eq!(kind(b"#!/bin/sh"), ErrorKind::NotAnImage);
    assert_eq!(kind(&native), ErrorKind::Native);
    assert_eq!(kind(&unsigned), ErrorKind::NoMetadata);
    let empty = built::metadata(&[("#~", &built::tables(0, 0, &[], &[]))]);
    let empty = built::image(&empty, false);
    let error = Assembly::parse(&empty)
        .unwrap()
        .metadata
        .manifest()
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NoManifest);
}

#[test]
fn a_real_assembly_has_types_members_and_a_debug_directory() {
    let assembly = Assembly::parse(BASICS).unwrap();
    let metadata = &assembly.metadata;
    let program = metadata.find_type("Basics.Program").unwrap();
    assert_eq!(metadata.type_kind(program), Ok(TypeKind::Class));
    assert_eq!(metadata.find_type("Program"), None);
    assert_eq!(metadata.find_type("Basics/Program"), None);
    let main = metadata
        .methods(program)
        .find(|it| metadata.member_name(*it) == Ok("Main"));
    let main = main.unwrap();
    assert_eq!(metadata.method_owner(main), Ok(program));
    let body = assembly.body(main).unwrap().unwrap();
    assert_eq!(body.last(), Some(&0x2a), "Main ends with ret");
    let wrong = metadata.member_name(program).unwrap_err();
    assert_eq!(wrong.kind(), &ErrorKind::WrongToken(program.token()));
    let references = metadata.rows::<AssemblyRefRow>();
    let names: Vec<_> = references
        .map(|row| metadata.string(row.unwrap().name).unwrap())
        .collect();
    assert!(names.contains(&"System.Runtime"), "{names:?}");
    let (mut guid, mut pdb) = (None, None);
    for entry in assembly.image.debug_entries().unwrap() {
        match entry.unwrap().contents().unwrap() {
            DebugContents::CodeView(view) => guid = Some(view.guid),
            DebugContents::EmbeddedPdb(embedded) => pdb = Some(embedded),
            _ => {}
        }
    }
    let id = |pdb: Vec<u8>| Metadata::parse(&pdb).unwrap().pdb_stream().unwrap().id;
    match pdb.unwrap().decompress() {
        Ok(pdb) => assert_eq!(id(pdb).first_chunk(), guid.as_ref()),
        Err(error) if cfg!(feature = "deflate") => panic!("{error}"),
        Err(error) => assert_eq!(error.kind(), &ErrorKind::NoDeflate),
    }
    let methods = metadata.tokens::<MethodDef>();
    let with_bodies = methods.filter(|it| assembly.body(*it).unwrap().is_some());
    assert!(with_bodies.count() > 5);
}

#[test]
fn attributes_and_constants_have_values() {
    let metadata = Assembly::parse(ATTRIBUTES).unwrap().metadata;
    let dated = metadata.find_type("Shop.Dated").unwrap();
    assert!(
        metadata
            .find_attribute(dated, "Shop.LabelAttribute")
            .is_some()
    );
    assert!(metadata.find_attribute(dated, "Shop.Label").is_none());
    let row = metadata
        .rows_of::<CustomAttributeRow>(dated)
        .next()
        .unwrap()
        .unwrap();
    // Of `DayOfWeek`.
    let value = metadata
        .attribute_value(&row, |_| Some(TypeSig::I4))
        .unwrap();
    assert_eq!((value.fixed.len(), value.named.len()), (1, 1));
    assert!(value.get("Anything").is_some());
    let error = metadata.attribute_value(&row, |_| None).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Attribute(_)), "{error}");
    // The values of an enumeration are constants.
    let mut values = 0;
    for class in metadata.tokens::<TypeDef>() {
        if let Ok(TypeKind::Enum(_)) = metadata.type_kind(class) {
            let constants = metadata
                .fields(class)
                .map(|field| metadata.constant(field).unwrap());
            values += constants.flatten().count();
        }
    }
    assert!(values > 0);
    let colour = metadata.find_type("Shop.Colour").unwrap();
    let green = metadata
        .fields(colour)
        .find(|it| metadata.member_name(*it) == Ok("Green"));
    assert_eq!(
        metadata.constant(green.unwrap()),
        Ok(Some(ConstantValue::U1(200)))
    );
}

/// A bundle with one file, in a version of the manifest.
fn bundle(version: u32, size: u64, compressed: u64, stored: &[u8]) -> Vec<u8> {
    let mark = [
        0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c, 0xfd, 0xeb, 0x28, 0x5f,
        0xcd, 0xec, 0x0a, 0x46, 0x19, 0x10, 0x51, 0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c,
        0x95, 0x51,
    ];
    let mut bytes = (40 + stored.len() as u64).to_le_bytes().to_vec();
    bytes.extend(mark.map(|byte: u8| !byte));
    bytes.extend(stored);
    bytes.extend([version, 0, 1].map(u32::to_le_bytes).concat());
    bytes.extend(b"\x02id");
    if version >= 2 {
        bytes.extend([0; 40]);
    }
    bytes.extend([40, size].map(u64::to_le_bytes).concat());
    if version >= 6 {
        bytes.extend(compressed.to_le_bytes());
    }
    bytes.extend(b"\x01\x05a.dll");
    bytes
}

/// 1,000 bytes of 7, compressed by deflate.
#[cfg(feature = "deflate")]
fn packed() -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(&[7; 1000], 6)
}

#[test]
fn bundles_of_three_versions() {
    for version in [1, 2, 6] {
        let bytes = bundle(version, 3, 0, b"abc");
        let bundle = Bundle::find(&bytes).unwrap();
        assert_eq!(
            (bundle.major_version(), bundle.id(), bundle.len()),
            (version, "id", 1)
        );
        let file = bundle.files().next().unwrap().unwrap();
        assert_eq!((file.path, file.kind.0), ("a.dll", 1));
        assert_eq!(*file.contents().unwrap(), *b"abc");
        for end in 0..bytes.len() {
            let bundle = Bundle::find(&bytes[..end]);
            assert!(
                bundle.is_err() || bundle.unwrap().files().any(|file| file.is_err()),
                "{end}"
            );
        }
    }
    for version in [0, 3, 7] {
        let error = Bundle::find(&bundle(version, 3, 0, b"abc")).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::NotABundle);
    }
    assert_eq!(
        Bundle::find(BASICS).unwrap_err().kind(),
        &ErrorKind::NotABundle
    );
}

#[cfg(feature = "deflate")]
#[test]
fn compressed_files_have_the_stated_size() {
    let packed = packed();
    for (size, is_right) in [(1000, true), (999, false), (1001, false), (u64::MAX, false)] {
        let bytes = bundle(6, size, packed.len() as u64, &packed);
        let file = Bundle::find(&bytes)
            .unwrap()
            .files()
            .next()
            .unwrap()
            .unwrap();
        match file.contents() {
            Ok(contents) => assert!(is_right && *contents == [7; 1000]),
            Err(error) => {
                assert!(!is_right, "{size}: {error}");
                assert_eq!(error.kind(), &ErrorKind::Compression);
            }
        }
    }
}
