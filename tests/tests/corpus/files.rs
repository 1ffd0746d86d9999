//! The files of the runtimes' assemblies.

use std::path::PathBuf;
use std::thread;

use clr_metadata::{Bundle, BundledFileKind};
use clr_profiler_tests::{Sample, seed_of};
use examples_support::{Pinned, runtime};

/// The name and content of each assembly of a runtime, in the order of the names; `None` if the
/// runtime is missing, or if it is not the one of the calling module's sample.
///
/// .NET 10 is part of a single-file application, whose other assemblies are included.
///
/// # Panics
///
/// If the runtime is missing in CI, or if one of its files cannot be read.
pub(crate) fn assemblies(pinned: &Pinned) -> Option<Vec<(String, Vec<u8>)>> {
    if !is_in_sample(pinned) {
        return None;
    }
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
    let folder = executable
        .with_file_name("shared")
        .join("Microsoft.NETCore.App")
        .join(pinned.version);
    if folder.exists() {
        let files = libraries(folder).into_iter().map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), std::fs::read(&path).expect("a file"))
        });
        return Some(files.collect());
    }
    let executable = std::fs::read(executable).expect("a file");
    let bundle = Bundle::find(&executable).expect("a bundle");
    let files = bundle.files().map(|file| file.expect("a file"));
    let mut files: Vec<_> = files
        .filter(|file| file.kind == BundledFileKind::ASSEMBLY)
        .collect();
    files.sort_by_key(|file| file.path);
    let files = files.iter().map(|file| {
        let content = file.contents();
        let content = content.unwrap_or_else(|error| panic!("{}: {error}", file.path));
        (file.path.to_string(), content.into_owned())
    });
    Some(files.collect())
}

/// Whether the calling test has its turn: each corpus has a test for each of these runtimes, of which one goes
/// through its assemblies, and all do so with `CORPUS=all`. Other tests and programs always have their turn.
fn is_in_sample(pinned: &Pinned) -> bool {
    let runtimes = [&Pinned::NET_CORE_3_1, &Pinned::NET_8, &Pinned::NET_10];
    let thread = thread::current();
    let module = thread.name().and_then(|test| test.split_once("::net_"));
    let (Some((module, _)), false) = (module, Sample::one_of(2).is_whole()) else {
        return true;
    };
    runtimes[seed_of(module) % runtimes.len()].name == pinned.name
}

/// The libraries in a folder, by name. Native ones have another extension here.
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
