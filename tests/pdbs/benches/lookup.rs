//! The time of finding rows and names by token, a line by method and IL offset, and of finding and opening a PDB.
//!
//! `cargo bench -p pdb_rows --bench lookup`

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clr_metadata::Assembly;
use clr_metadata::pdb::{Pdb, PdbFile};
use clr_metadata::token::MethodDef;
use examples_support::{Pinned, runtime};

/// The least of several runs, in nanoseconds for each of `count` operations.
fn nanoseconds(count: usize, mut run: impl FnMut()) -> f64 {
    let least = (0..15)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    least * 1e9 / count as f64
}

fn lookups(name: &str, bytes: &[u8]) {
    let pdb = Pdb::parse(bytes).unwrap();
    let mut queries = Vec::new();
    for method in pdb.methods() {
        for point in pdb.sequence_points(method).unwrap() {
            queries.push((method, point.unwrap().il_offset));
        }
    }
    let parse = nanoseconds(1, || {
        black_box(Pdb::parse(black_box(bytes)).unwrap());
    });
    let decode = nanoseconds(queries.len(), || {
        for method in pdb.methods() {
            for point in pdb.sequence_points(method).unwrap() {
                black_box(point.unwrap());
            }
        }
    });
    let lookup = nanoseconds(queries.len(), || {
        for &(method, il_offset) in &queries {
            black_box(pdb.source_location(method, il_offset).unwrap());
        }
    });
    let methods: Vec<_> = pdb.methods().collect();
    let kickoff = nanoseconds(methods.len(), || {
        for &method in &methods {
            black_box(pdb.kickoff_method(method).unwrap());
        }
    });
    println!(
        "{name}: {} methods, {} points: headers {parse:.0} ns, point {decode:.1} ns, line {lookup:.0} ns, kickoff method \
         {kickoff:.0} ns",
        methods.len(),
        queries.len(),
    );
}

/// Rows and names of an assembly, in an order in which no row follows the one before.
fn tables(name: &str, bytes: &[u8]) {
    let parse = nanoseconds(1, || {
        black_box(Assembly::parse(black_box(bytes)).unwrap());
    });
    let assembly = Assembly::parse(bytes).unwrap();
    let metadata = &assembly.metadata;
    let mut methods: Vec<MethodDef> = metadata.tokens::<MethodDef>().collect();
    let count = methods.len();
    // A prime number: each method is visited once.
    const STEP: usize = 7919;
    assert!(!count.is_multiple_of(STEP));
    methods = (0..count)
        .map(|index| methods[index * STEP % count])
        .collect();
    let row = nanoseconds(count, || {
        for &method in &methods {
            black_box(metadata.row(method).unwrap());
        }
    });
    let member = nanoseconds(count, || {
        for &method in &methods {
            black_box(metadata.member_name(method).unwrap());
        }
    });
    let owner = nanoseconds(count, || {
        for &method in &methods {
            black_box(metadata.method_owner(method).unwrap());
        }
    });
    let full = nanoseconds(count, || {
        for &method in &methods {
            let owner = metadata.method_owner(method).unwrap();
            black_box(metadata.full_name(owner.into()).unwrap());
        }
    });
    println!(
        "{name}: {count} methods: headers {parse:.0} ns, row {row:.0} ns, name {member:.0} ns, owner {owner:.0} ns, full name \
         of the owner {full:.0} ns"
    );
}

fn main() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../profilees"));
    let mut files: Vec<PathBuf> = vec![
        folder.join("pdb/SourcesDebug.pdb"),
        folder.join("language/CoreDebug.pdb"),
    ];
    if let Ok(compiler) = runtime::fetch(&Pinned::ROSLYN) {
        files.push(compiler.with_file_name("Azure.Generator.pdb"));
    }
    for pinned in [Pinned::NET_CORE_3_1, Pinned::NET_8] {
        let Ok(host) = runtime::fetch(&pinned) else {
            continue;
        };
        let shared = host.with_file_name("shared").join("Microsoft.NETCore.App");
        let path = shared
            .join(pinned.version)
            .join("System.Private.CoreLib.dll");
        let name = format!("CoreLib {}", pinned.version);
        tables(&name, &fs::read(path).unwrap());
    }
    tables("Basics.dll", &fs::read(folder.join("Basics.dll")).unwrap());
    for path in &files {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        lookups(&name, &fs::read(path).unwrap());
    }
    for name in ["SourcesDebug.dll", "SourcesRelease.dll"] {
        let path = folder.join("pdb").join(name);
        let find = nanoseconds(1, || {
            black_box(PdbFile::find(&path).unwrap());
        });
        println!("find the PDB of {name}: {:.0} us", find / 1000.0);
    }
}
