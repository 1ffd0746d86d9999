//! The PDB of an assembly: found, and refused if it is another one.

#![cfg(all(feature = "checksum", feature = "deflate"))]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, process};

use clr_metadata::ImageLayout;
use clr_metadata::pdb::{FindError, PdbFile, WantedPdb};

fn program(name: &str) -> PathBuf {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/profilees/pdb"
    ))
    .join(name)
}

/// A folder of its own, which is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("clr_metadata-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_pdb_that_was_changed_has_another_hash() {
    let scratch = Scratch::new("changed");
    let (assembly, pdb) = (
        scratch.0.join("SourcesDebug.dll"),
        scratch.0.join("SourcesDebug.pdb"),
    );
    fs::copy(program("SourcesDebug.dll"), &assembly).unwrap();
    let bytes = fs::read(program("SourcesDebug.pdb")).unwrap();
    fs::write(&pdb, &bytes).unwrap();
    let found = PdbFile::find(&assembly).unwrap();
    assert_eq!(
        (found.path(), found.bytes()),
        (Some(pdb.as_path()), &bytes[..])
    );

    // The headers stay as they are, and one letter in the heap of names changes.
    let name = b"Letter\0";
    let at = bytes.windows(name.len()).position(|window| window == name);
    let mut changed = bytes.clone();
    changed[at.unwrap()] = b'B';
    fs::write(&pdb, &changed).unwrap();
    let error = PdbFile::find(&assembly).unwrap_err();
    assert!(
        matches!(&error, FindError::WrongChecksum { path, algorithm: "SHA256" } if *path == pdb),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        format!(
            "{} was changed after the build: it has another SHA256 hash than the assembly names",
            pdb.display()
        )
    );

    // Another id is told first: that is another build, not a changed file.
    let id = found.id().0;
    let at = bytes.windows(20).position(|window| window == id).unwrap();
    let mut other = changed;
    other[at] ^= 1;
    fs::write(&pdb, &other).unwrap();
    let error = PdbFile::find(&assembly).unwrap_err();
    assert!(matches!(error, FindError::WrongId { .. }), "{error:?}");

    fs::remove_file(&pdb).unwrap();
    let error = PdbFile::find(&assembly).unwrap_err();
    assert!(
        matches!(&error, FindError::NotFound { id: wanted, paths } if wanted.0 == id && *paths == [pdb]),
        "{error:?}"
    );
}

#[test]
fn a_pdb_from_elsewhere_is_checked() {
    let file = File::open(program("SourcesDebug.dll")).unwrap();
    let wanted = WantedPdb::read(&file, ImageLayout::File).unwrap();
    assert_eq!(wanted.file_name(), Some("SourcesDebug.pdb"));
    assert!(!wanted.is_embedded());
    let bytes = fs::read(program("SourcesDebug.pdb")).unwrap();
    let accepted = wanted.accept(bytes.clone(), "elsewhere").unwrap();
    assert_eq!((Some(accepted.id()), accepted.path()), (wanted.id(), None));
    let mut changed = bytes;
    *changed.last_mut().unwrap() ^= 1;
    let error = wanted.accept(changed, "elsewhere").unwrap_err();
    assert!(
        matches!(&error, FindError::WrongChecksum { path, .. } if path == Path::new("elsewhere")),
        "{error:?}"
    );
}

#[test]
fn an_image_is_read_from_any_source() {
    let path = program("SourcesRelease.dll");
    let bytes = fs::read(&path).unwrap();
    let from_file = PdbFile::find(&path).unwrap();
    let from_slice = PdbFile::find_in(&bytes[..], ImageLayout::File, &path).unwrap();
    assert_eq!(from_file.path(), None);
    assert_eq!(from_file.bytes(), from_slice.bytes());
    // Each prefix lacks something, or has all that is needed: then it is the same PDB.
    let mut refused = 0;
    for end in (0..bytes.len()).step_by(7) {
        match PdbFile::find_in(&bytes[..end], ImageLayout::File, "no such folder/x.dll") {
            Ok(found) => assert_eq!(found.bytes(), from_file.bytes()),
            Err(FindError::Malformed { error, .. }) => {
                assert!(error.offset() <= bytes.len());
                refused += 1;
            }
            Err(error) => panic!("{end}: {error}"),
        }
    }
    assert!(refused * 7 * 2 > bytes.len());
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let error = PdbFile::find(program("Missing.dll")).unwrap_err();
    assert!(matches!(error, FindError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("Missing.dll: "), "{error}");
}
