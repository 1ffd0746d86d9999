//! All tests on real runtimes and on their assemblies in one program, because a program runs its tests at the same
//! time, and cargo runs one program after the other. Programs of their own are only those that
//! need it: `api` and `object`, which are a runtime themselves, and `hygiene`.

mod corpus;
mod corpus_attributes;
mod corpus_bodies;
mod corpus_metadata;
mod corpus_signatures;
mod corpus_text;
mod corpus_verify;
mod corpus_wrap;
mod coverage;
mod facades;
mod faults;
mod guide;
mod guide_facts;
#[path = "jit_logger/main.rs"]
mod jit_logger;
#[path = "language/main.rs"]
mod language;
mod programs;
mod references;
#[path = "rewriting/main.rs"]
mod rewriting;
mod runtime_async;
#[cfg(unix)]
mod source_lines;
#[path = "tracing/main.rs"]
mod tracing;
#[path = "watching/main.rs"]
mod watching;
mod whole_compiler;

use std::fs;
use std::path::{Path, PathBuf};

/// Cargo does not look for tests itself, so that each of these files is one of the modules above.
#[test]
fn each_file_is_in_a_program() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    for entry in fs::read_dir(package.join("tests")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.trim_end_matches(".rs");
        let is_module = include_str!("all.rs").contains(&format!("\nmod {name};\n"));
        let is_program = manifest.contains(&format!("\npath = \"tests/{file}"));
        assert!(is_module || is_program, "tests/{file} is not compiled");
    }
}

/// The entries of a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Looking for code takes time, so that packages without code in their documentation say so; they must not get any.
#[test]
fn code_in_documentation_is_compiled() {
    fn check(folder: &Path) {
        for path in entries(folder) {
            if path.is_dir() && !path.ends_with("src/bin") {
                check(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = ["/// ```", "//! ```"];
                let has_code = text.lines().any(|line| {
                    let line = line.trim_start();
                    code.iter().any(|start| line.starts_with(start))
                });
                assert!(!has_code, "{} is not compiled", path.display());
            }
        }
    }

    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for packages in [package, &package.join("../examples")] {
        for folder in entries(packages) {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            if manifest.contains("\ndoctest = false\n") {
                check(&folder.join("src"));
                checked += 1;
            }
        }
    }
    assert!(checked > 15, "{checked}");
}
