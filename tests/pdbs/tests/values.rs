//! The decoded values of custom debug information, the hashes, and the match of a PDB with its assembly.

mod support;

use std::fs;
use std::path::Path;

use clr_metadata::pdb::{CustomKind, CustomValue, FindError, HashAlgorithm, Pdb, PdbFile};
use clr_metadata::token::{LocalScope, MethodDef, Module};
use clr_metadata::{DebugContents, Image, Metadata};
use examples_support::{Pinned, runtime};
use sha2::{Digest, Sha256};
use support::{Scratch, profilee};

/// The assembly and the PDB of a program of the tests.
struct Program {
    assembly: Vec<u8>,
    pdb: PdbFile,
}

impl Program {
    fn new(name: &str) -> Self {
        let path = profilee("pdb").join(name);
        let (assembly, pdb) = (fs::read(&path).unwrap(), PdbFile::find(&path).unwrap());
        Self { assembly, pdb }
    }

    fn metadata(&self) -> Metadata<'_> {
        Image::parse(&self.assembly).unwrap().metadata().unwrap()
    }

    fn pdb(&self) -> Pdb<'_> {
        self.pdb.pdb().unwrap()
    }

    /// The method with this name.
    fn method(&self, name: &str) -> MethodDef {
        let metadata = self.metadata();
        let mut methods = metadata.tokens::<MethodDef>();
        let is_named =
            |method: &MethodDef| metadata.string(metadata.row(*method).unwrap().name) == Ok(name);
        methods.find(is_named).unwrap_or_else(|| panic!("{name}"))
    }

    /// The values of this kind about a local variable, searched in all scopes.
    fn of_variable(&self, name: &str, kind: CustomKind) -> Vec<Vec<u8>> {
        let pdb = self.pdb();
        let mut values = Vec::new();
        for scope in pdb.metadata().tokens::<LocalScope>() {
            let scope = pdb.local_scope(scope).unwrap();
            for variable in pdb.local_variables(&scope).map(Result::unwrap) {
                if variable.name == name {
                    let infos = pdb.custom_debug_info(variable.token).map(Result::unwrap);
                    let of_kind = infos.filter(|info| info.kind == kind);
                    values.extend(of_kind.map(|info| info.bytes().to_vec()));
                }
            }
        }
        values
    }
}

#[test]
fn state_machines_are_those_of_their_methods() {
    for name in ["SourcesDebug.dll", "SourcesRelease.dll"] {
        let program = Program::new(name);
        let pdb = program.pdb();
        for (method, awaits, is_void) in [
            ("Later", Some(3), false),
            ("Deeper", Some(1), false),
            ("Streams", Some(2), false),
            ("Forgotten", Some(1), true),
            ("Numbered", Some(1), false),
            ("Items", None, false),
        ] {
            let kickoff = program.method(method);
            let move_next = pdb.move_next_method(kickoff).unwrap().unwrap();
            assert_eq!(pdb.kickoff_method(move_next), Ok(Some(kickoff)), "{method}");
            assert_eq!(pdb.kickoff_method(kickoff), Ok(None), "{method}");
            let steps = pdb.async_steps(move_next).unwrap();
            let Some(steps) = steps else {
                assert_eq!(awaits, None, "{method}");
                continue;
            };
            assert_eq!(steps.catch_handler.is_some(), is_void, "{method}");
            let all: Vec<_> = steps.awaits.map(Result::unwrap).collect();
            println!("{method}: {all:?}");
            for step in &all {
                assert_eq!(step.resume_method, move_next, "{method}");
                assert!(step.yield_offset < step.resume_offset, "{step:?}");
            }
            assert_eq!(Some(all.len()), awaits, "{method}");
        }
        assert_eq!(pdb.move_next_method(program.method("Others")), Ok(None));
    }
}

#[test]
fn locals_have_the_names_of_their_elements() {
    let program = Program::new("SourcesDebug.dll");
    let names = program.of_variable("one", CustomKind::TUPLE_NAMES);
    assert_eq!(names, [b"Count\0Name\0"]);
    let names = program.of_variable("two", CustomKind::TUPLE_NAMES);
    assert_eq!(names, [b"\0\0Deep\0\0"]);
    // `Dictionary<string, dynamic[]>`: the fourth type.
    assert_eq!(program.of_variable("deep", CustomKind::DYNAMIC), [[0b1000]]);
    assert_eq!(
        program.of_variable("several", CustomKind::DYNAMIC),
        [[0b10]]
    );

    let pdb = program.pdb();
    let method = program.method("Blocks");
    // The variables of the method's scope are valid everywhere in it.
    let scopes: Vec<_> = pdb.local_scopes(method).map(Result::unwrap).collect();
    let inner = scopes
        .iter()
        .flat_map(|scope| {
            pdb.local_variables(scope)
                .map(move |variable| (scope, variable.unwrap()))
        })
        .find(|(_, variable)| variable.name == "number")
        .unwrap();
    let (scope, number) = inner;
    assert!(scope.start > 0 && scope.end > scope.start);
    assert_eq!(
        pdb.local_name(method, number.index, scope.start),
        Ok(Some("number"))
    );
    assert_eq!(pdb.local_name(method, number.index, 0), Ok(None));
}

#[test]
fn the_module_has_options_and_references() {
    let program = Program::new("SourcesRelease.dll");
    let pdb = program.pdb();
    let (mut options, mut references) = (Vec::new(), Vec::new());
    for info in pdb.custom_debug_info(Module::from_row(1).unwrap()) {
        match info.unwrap().value().unwrap() {
            CustomValue::Options(values) => options.extend(values.map(Result::unwrap)),
            CustomValue::References(values) => references.extend(values.map(Result::unwrap)),
            other => panic!("{other:?}"),
        }
    }
    assert!(options.contains(&("language", "C#")), "{options:?}");
    assert!(
        options.contains(&("optimization", "release")),
        "{options:?}"
    );
    let system = references
        .iter()
        .find(|reference| reference.file_name == "System.Runtime.dll");
    assert!(
        system.is_some_and(|reference| reference.is_assembly),
        "{system:?}"
    );
    assert!(
        references
            .iter()
            .all(|reference| !reference.embeds_interop_types)
    );
    let interface = program.metadata().find_type("Sources.IEmpty").unwrap();
    let of_type: Vec<_> = pdb
        .custom_debug_info(interface)
        .map(Result::unwrap)
        .collect();
    assert_eq!(of_type.len(), 1);
    let Ok(CustomValue::TypeDocuments(documents)) = of_type[0].value() else {
        panic!("{of_type:?}");
    };
    for document in documents {
        let name = pdb.document(document.unwrap()).unwrap().name().unwrap();
        assert_eq!(name, "/_/tests/profilees/pdb/Sources.cs");
    }
}

/// The PDBs of the package that has the compiler contain the generated source files.
#[test]
fn embedded_sources_have_the_hashes_of_their_documents() {
    let compiler = match runtime::fetch(&Pinned::ROSLYN) {
        Ok(compiler) => compiler,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            eprintln!("NOT TESTED: {error}");
            return;
        }
    };
    let bytes = fs::read(compiler.with_file_name("Azure.Generator.pdb")).unwrap();
    let pdb = Pdb::parse(&bytes).unwrap();
    let link = pdb.source_link().unwrap().unwrap();
    assert!(link.starts_with("{\"documents\":{"), "{link}");
    let mut count = 0;
    for document in pdb.documents().map(Result::unwrap) {
        let Some(source) = pdb.embedded_source(document.token()).unwrap() else {
            continue;
        };
        assert_eq!(document.hash_algorithm(), Ok(Some(HashAlgorithm::SHA256)));
        let content = source.bytes().unwrap();
        assert_eq!(content.len(), source.len());
        assert_eq!(Sha256::digest(&content)[..], *document.hash().unwrap());
        count += 1;
    }
    assert!(count >= 2, "{count}");
}

/// The hash of a PDB without its id is in the debug directory.
#[test]
fn the_checksum_is_that_of_the_pdb() {
    for name in ["SourcesDebug.dll", "SourcesRelease.dll"] {
        let program = Program::new(name);
        let id = program.pdb.id().0;
        let mut bytes = program.pdb.bytes().to_vec();
        let at = bytes.windows(id.len()).position(|part| part == id).unwrap();
        bytes[at..at + id.len()].fill(0);
        let image = Image::parse(&program.assembly).unwrap();
        let sums = image
            .debug_entries()
            .unwrap()
            .map(|entry| entry.unwrap().contents());
        let sums: Vec<_> = sums
            .filter_map(|contents| match contents.unwrap() {
                DebugContents::PdbChecksum(sum) => Some(sum),
                _ => None,
            })
            .collect();
        assert_eq!(sums.len(), 1);
        assert_eq!(sums[0].algorithm, "SHA256");
        assert_eq!(sums[0].hash, &Sha256::digest(&bytes)[..], "{name}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

#[test]
fn a_pdb_of_another_build_is_refused() {
    let folder = profilee("pdb");
    let scratch = Scratch::new();
    let assembly = scratch.0.join("SourcesDebug.dll");
    copy(&folder.join("SourcesDebug.dll"), &assembly);

    let error = PdbFile::find(&assembly).unwrap_err();
    assert!(
        matches!(&error, FindError::NotFound { paths, .. } if paths.len() == 1),
        "{error}"
    );

    let other = profilee("language").join("CoreDebug.pdb");
    let path = scratch.0.join("SourcesDebug.pdb");
    copy(&other, &path);
    let expected = PdbFile::find(folder.join("SourcesDebug.dll")).unwrap().id();
    let found = Pdb::parse(&fs::read(&other).unwrap()).unwrap().id();
    let error = PdbFile::find(&assembly).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{} is the PDB of another build: its id is {found}, the assembly names {expected}",
            path.display()
        )
    );

    fs::write(&path, b"Microsoft C/C++ MSF 7.00\r\n").unwrap();
    let error = PdbFile::find(&assembly).unwrap_err().to_string();
    assert!(
        error.contains("this is a Windows PDB, not a portable one"),
        "{error}"
    );

    // Under the name of the assembly, if that was renamed.
    copy(&folder.join("SourcesDebug.pdb"), &path);
    assert_eq!(PdbFile::find(&assembly).unwrap().id(), expected);
    let renamed = scratch.0.join("Other.dll");
    fs::rename(&assembly, &renamed).unwrap();
    assert_eq!(PdbFile::find(&renamed).unwrap().id(), expected);
    fs::rename(&path, scratch.0.join("Other.pdb")).unwrap();
    assert_eq!(PdbFile::find(&renamed).unwrap().id(), expected);

    let none = PdbFile::find(profilee("helper/Helper.dll")).unwrap_err();
    assert!(matches!(none, FindError::NotNamed), "{none}");
}

/// The PDB of the assembly is replaced by one that decompresses to more than it says.
#[test]
fn a_bomb_is_an_error() {
    let mut assembly = fs::read(profilee("pdb/SourcesRelease.dll")).unwrap();
    let at = assembly
        .windows(4)
        .position(|mark| mark == b"MPDB")
        .unwrap();
    let bomb = miniz_oxide::deflate::compress_to_vec(&vec![0; 4 << 20], 9);
    assert!(bomb.len() < 5000, "{}", bomb.len());
    assembly[at + 8..at + 8 + bomb.len()].copy_from_slice(&bomb);
    let scratch = Scratch::new();
    let path = scratch.0.join("Bomb.dll");
    // Less than the contents, more than 512 MiB, and more than deflate can make of the data.
    for size in [100_u32, 0x2000_0001, u32::MAX, 0x1000_0000] {
        assembly[at + 4..at + 8].copy_from_slice(&size.to_le_bytes());
        fs::write(&path, &assembly).unwrap();
        let error = PdbFile::find(&path).unwrap_err();
        assert!(
            matches!(error, FindError::Malformed { .. }),
            "{size}: {error}"
        );
    }
}
