//! The oracles: any bytes as metadata and as the files that contain it.

use clr_metadata::{Assembly, Bundle, Error, Image, ImageLayout, Metadata};

use crate::everything::visit;

/// Errors are inside of the input.
fn is_inside(error: &Error, length: usize) {
    assert!(error.offset() <= length, "{error:?} of {length} bytes");
}

/// Any bytes as metadata.
pub fn root(bytes: &[u8]) {
    match Metadata::parse(bytes) {
        Ok(metadata) => {
            visit(&metadata, None, &mut |_, error| {
                is_inside(&error, bytes.len())
            });
        }
        Err(error) => is_inside(&error, bytes.len()),
    }
}

/// The same for bytes as the stream of tables. The heaps consist of the bytes, too: most indexes are valid.
pub fn tables(bytes: &[u8]) {
    let mut metadata = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4.0\0\0\x04\0".to_vec();
    let names: [&[u8]; 4] = [
        b"#~\0\0",
        b"#Strings\0\0\0\0",
        b"#Blob\0\0\0",
        b"#GUID\0\0\0",
    ];
    let headers: usize = names.iter().map(|name| 8 + name.len()).sum();
    let start = metadata.len() + headers;
    for name in names {
        metadata.extend((start as u32).to_le_bytes());
        metadata.extend((bytes.len() as u32).to_le_bytes());
        metadata.extend(name);
    }
    metadata.extend(bytes);
    root(&metadata);
}

/// Any bytes as a PE file, and as a loaded image.
pub fn image(bytes: &[u8]) {
    for layout in [ImageLayout::File, ImageLayout::Mapped] {
        let assembly =
            Image::with_layout(bytes, layout).and_then(|image| Ok((image.metadata()?, image)));
        match assembly {
            Ok((metadata, image)) => {
                let assembly = Assembly::new(image, metadata.clone());
                visit(&metadata, Some(&assembly), &mut |_, error| {
                    is_inside(&error, bytes.len())
                });
            }
            Err(error) => is_inside(&error, bytes.len()),
        }
    }
}

/// The most that a file of an accepted bundle may take when it is decompressed; longer ones are skipped.
const MOST: u64 = 1 << 20;

/// Any bytes as a single-file application.
pub fn bundle(bytes: &[u8]) {
    match Bundle::find(bytes) {
        Ok(bundle) => {
            for file in bundle.files() {
                match file {
                    Ok(file) if file.size <= MOST => {
                        if let Ok(contents) = file.contents() {
                            assert_eq!(contents.len() as u64, file.size, "{}", file.path);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => is_inside(&error, bytes.len()),
                }
            }
        }
        Err(error) => is_inside(&error, bytes.len()),
    }
}
