//! The assemblies of the runtimes: what people wrote and compilers made of it.

use std::path::PathBuf;

use assembly_reader::{Assembly, Bundle, BundledFile};
use examples_support::{Pinned, runtime};

/// Calls `visit` with each assembly of a runtime and its file name, in the order of the names, and
/// gives their number; `None` where the runtime is missing.
///
/// .NET 10 is part of a single-file application, the other assemblies of which are visited, too.
///
/// # Panics
///
/// If the runtime is missing in CI, or if one of its files is not to be read.
pub(crate) fn each_assembly(
    pinned: &Pinned,
    mut visit: impl FnMut(&str, &Assembly<'_>),
) -> Option<usize> {
    let executable = match runtime::fetch(pinned) {
        Ok(executable) => executable,
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "{} is missing: {error}",
                pinned.name
            );
            eprintln!("NOT TESTED on {}: {error}", pinned.name);
            return None;
        }
    };
    let mut open = |name: &str, bytes: &[u8]| match Assembly::open(bytes) {
        Ok(assembly) => visit(name, &assembly),
        Err(error) => panic!("{name}: {error}"),
    };
    let folder = executable
        .with_file_name("shared")
        .join("Microsoft.NETCore.App")
        .join(pinned.version);
    let mut count = 0;
    if folder.exists() {
        for path in libraries(folder) {
            let name = path.file_name().expect("a name").to_string_lossy();
            open(&name, &std::fs::read(&path).expect("a file"));
            count += 1;
        }
    } else {
        let executable = std::fs::read(executable).expect("a file");
        let mut files = Bundle::open(&executable).expect("a bundle").files;
        files.retain(|file| file.kind == BundledFile::ASSEMBLY);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        for file in files {
            let content = file.content();
            let content = content.unwrap_or_else(|error| panic!("{}: {error}", file.path));
            open(&file.path, &content);
            count += 1;
        }
    }
    Some(count)
}

/// The libraries in a folder, by name. The native ones have another extension here.
fn libraries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("{}: {error}", folder.display());
    });
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dll"));
    paths.sort();
    paths
}
