//! Each row of each PDB at hand is the one that System.Reflection.Metadata reads, and each IL offset has the line that
//! the runtime's stack traces show.

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clr_metadata::Image;
use clr_metadata::pdb::{FindError, Pdb, PdbFile};
use clr_metadata::token::MethodDef;
use examples_support::{Pinned, runtime};
use support::{Scratch, assemblies, dotnet, profilee};

#[allow(dead_code, unreachable_pub)] // A module of another package, of which this uses a part.
#[path = "../../src/sample.rs"]
mod sample;

/// The files of a folder with one of these extensions.
fn files_in(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| {
            let extension = path.extension().unwrap_or_default();
            extensions.iter().any(|wanted| extension == *wanted)
        })
        .collect();
    paths.sort();
    paths
}

/// All PDBs and assemblies at hand: those of the tests, the examples, the compiler and its package, and the frameworks.
fn corpus() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["", "language", "pdb", "mscorlib", "netstandard", "helper"] {
        files.extend(files_in(&profilee(folder), &["dll", "pdb"]));
    }
    let mut folders = Vec::new();
    for pinned in [Pinned::NET_CORE_3_1, Pinned::NET_8] {
        let host = runtime::fetch(&pinned).unwrap();
        let shared = host.with_file_name("shared").join("Microsoft.NETCore.App");
        folders.push(shared.join(pinned.version));
    }
    let compiler = runtime::fetch(&Pinned::ROSLYN).unwrap();
    folders.push(compiler.with_file_name(""));
    folders.push(compiler.with_file_name("net10.0"));
    for folder in folders.iter().filter(|folder| folder.exists()) {
        files.extend(files_in(folder, &["dll", "pdb"]));
    }
    files
}

/// The first lines that differ, as a message.
fn assert_same(expected: &str, found: &str) {
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "line {number}");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn each_row_is_that_of_system_reflection_metadata() {
    let Some(dotnet) = dotnet() else { return };
    let sample = sample::Sample::one_of(12);
    let files = corpus();
    let files: Vec<_> = files
        .iter()
        .enumerate()
        .filter(|(number, path)| sample.has(*number) || path.starts_with(profilee("pdb")))
        .map(|(_, path)| path.clone())
        .collect();
    let scratch = Scratch::new();
    let expected = dotnet.rows(&scratch, &[], &files);

    let (mut found, mut pdbs) = (String::new(), 0);
    for path in &files {
        let bytes = fs::read(path).unwrap();
        writeln!(found, "file {}", path.display()).unwrap();
        let start = found.len();
        pdb_rows::write_file(&bytes, &mut found)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        pdbs += found[start..].matches("pdb x").count();
    }
    assert_same(&expected, &found);
    println!(
        "{} files, {pdbs} PDBs, {} rows",
        files.len(),
        found.lines().count()
    );
    assert!(pdbs >= 3 && found.lines().count() > 1000, "{pdbs} PDBs");
    if sample.is_whole() {
        assert!(pdbs >= 70, "{pdbs} PDBs");
    }
}

/// The lines of an assembly, as `PdbRows -lines` prints them.
fn lines(path: &Path, out: &mut String) {
    let bytes = fs::read(path).unwrap();
    let image = Image::parse(&bytes).unwrap();
    let metadata = image.metadata().unwrap();
    let file = PdbFile::find_for(&image, path).unwrap();
    let pdb = file.pdb().unwrap();
    for method in metadata.tokens::<MethodDef>() {
        let rva = metadata.row(method).unwrap().rva;
        if rva == 0 {
            continue;
        }
        let body = image.body(rva).unwrap();
        let size = match body[0] & 3 {
            2 => u32::from(body[0] >> 2),
            _ => u32::from_le_bytes(body[4..8].try_into().unwrap()),
        };
        let mut last = None;
        for offset in 0..=size {
            let location = pdb.source_location(method, offset).unwrap();
            let line = location.map(|location| {
                let name = pdb.document(location.document).unwrap().name().unwrap();
                let span = location.span;
                format!(
                    "{} {} {}",
                    pdb_rows::quoted(&name),
                    span.start_line,
                    span.start_column
                )
            });
            let line = line.unwrap_or_else(|| "nil".to_owned());
            if last.as_ref() != Some(&line) {
                writeln!(out, " at {:08x} {offset} {line}", method.raw()).unwrap();
                last = Some(line);
            }
        }
    }
}

#[test]
fn each_offset_has_the_line_of_a_stack_trace() {
    let Some(dotnet) = dotnet() else { return };
    let mut files = assemblies("pdb", &["SourcesDebug", "SourcesRelease"]);
    if sample::Sample::one_of(2).is_whole() {
        let names = ["CoreDebug", "CoreRelease", "NetDebug", "NetRelease"];
        files.extend(assemblies("language", &names));
    }
    let scratch = Scratch::new();
    let expected = dotnet.rows(&scratch, &["-lines"], &files);
    let mut found = String::new();
    for path in &files {
        writeln!(found, "file {}", path.display()).unwrap();
        lines(path, &mut found);
    }
    assert_same(&expected, &found);
    assert!(found.lines().count() > 400, "{}", found.lines().count());
}

/// The frames of the exceptions that a program throws, as its runtime prints them.
#[test]
fn frames_of_a_program_have_the_lines_that_it_prints() {
    let Some(dotnet) = dotnet() else { return };
    for program in assemblies("pdb", &["SourcesDebug", "SourcesRelease"]) {
        let file = PdbFile::find(&program).unwrap();
        let pdb = file.pdb().unwrap();
        let mut documents = 0;
        for frame in dotnet.run(&program, &[]).lines() {
            // A line of the program itself.
            let Some((token, rest)) = frame.split_once(' ') else {
                continue;
            };
            let Ok(token) = u32::from_str_radix(token, 16) else {
                continue;
            };
            let (offset, rest) = rest.split_once(' ').unwrap();
            let (place, _) = rest.rsplit_once(' ').unwrap();
            let method = MethodDef::from_row(token & 0xff_ffff).unwrap();
            let location = pdb
                .source_location(method, offset.parse().unwrap())
                .unwrap();
            let found = location.map_or_else(
                || ":0:0".to_owned(),
                |location| {
                    let name = pdb.document(location.document).unwrap().name().unwrap();
                    let span = location.span;
                    format!("{name}:{}:{}", span.start_line, span.start_column)
                },
            );
            documents += usize::from(found.starts_with("/_/other/"));
            assert_eq!(found, place, "{frame}");
        }
        // Frames in documents of `#line`, too.
        assert!(documents >= 2, "{documents}");
    }
}

/// The rows of an unknown PDB are those of the other reader; this reads the same PDB by both ways of the crate.
#[test]
fn a_pdb_that_is_embedded_is_like_the_same_in_a_file() {
    let release = profilee("pdb").join("SourcesRelease.dll");
    let embedded = PdbFile::find(&release).unwrap();
    assert_eq!(embedded.path(), None);
    let scratch = Scratch::new();
    let path = scratch.0.join("SourcesRelease.pdb");
    fs::write(&path, embedded.bytes()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let pdb = Pdb::parse(&bytes).unwrap();
    assert_eq!(pdb.id(), embedded.id());
    let debug = PdbFile::find(profilee("pdb").join("SourcesDebug.dll")).unwrap();
    assert!(
        debug
            .path()
            .is_some_and(|path| path.ends_with("SourcesDebug.pdb"))
    );
    assert_ne!(debug.id(), embedded.id());
}

/// Compilers write the hash of each PDB into its assembly.
#[test]
fn each_pdb_has_the_hash_that_its_assembly_names() {
    let mut hashes = 0;
    for path in corpus() {
        let bytes = fs::read(&path).unwrap();
        let Ok(image) = Image::parse(&bytes) else {
            continue;
        };
        match PdbFile::find_for(&image, &path) {
            Ok(_) => {
                let entries = image.debug_entries().unwrap().map(Result::unwrap);
                let sums = entries.filter(|entry| entry.kind == 19).count();
                hashes += sums;
            }
            Err(FindError::NotNamed | FindError::NotFound { .. }) => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    println!("{hashes} hashes");
    assert!(hashes >= 60, "{hashes}");
}
