//! The committed assemblies are built like users' assemblies.

use std::fs;
use std::path::{Path, PathBuf};

use clr_metadata::Assembly;
use clr_metadata::rows::AssemblyRefRow;

/// All assemblies below a folder.
fn assemblies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                assemblies(&path)
            } else if path.extension().is_some_and(|extension| extension == "dll") {
                vec![path]
            } else {
                Vec::new()
            }
        })
        .collect()
}

#[test]
fn none_refers_to_the_private_core_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = assemblies(&root.join("profilees"));
    for folder in ["../examples", "../clr_profiler_tools/src"] {
        paths.extend(assemblies(&root.join(folder)));
    }
    assert!(paths.len() > 40, "{paths:?}");
    for path in paths {
        let bytes = fs::read(&path).unwrap();
        let metadata = Assembly::parse(&bytes).unwrap().metadata;
        let references: Vec<_> = metadata
            .rows::<AssemblyRefRow>()
            .map(|row| metadata.string(row.unwrap().name).unwrap())
            .collect();
        println!("{}: {references:?}", path.display());
        // The helpers that examples and tools load into programs reference nothing else.
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("helper"))
            && !path.starts_with(root.join("profilees"))
        {
            assert_eq!(references, ["System.Private.CoreLib"], "{}", path.display());
            continue;
        }
        let cores = ["System.Runtime", "netstandard", "mscorlib"];
        let has_core = references.iter().any(|name| cores.contains(name));
        let has_private = references
            .iter()
            .any(|name| name.starts_with("System.Private."));
        assert!(
            has_core && !has_private,
            "{} refers to {references:?}: tests/roslyn/build.sh builds it as it should be",
            path.display()
        );
    }
}
