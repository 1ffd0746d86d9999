//! The assemblies of the runtimes, as real code for tests.

pub(crate) mod files;

use assembly_reader::Assembly;
use examples_support::Pinned;

/// Calls `visit` with each assembly of a runtime and its file name, in the order of the names, and
/// returns their number; `None` if the runtime is missing.
///
/// .NET 10 is part of a single-file application, whose other assemblies are visited, too.
///
/// # Panics
///
/// If the runtime is missing in CI, or if one of its files cannot be read.
pub(crate) fn each_assembly(
    pinned: &Pinned,
    mut visit: impl FnMut(&str, &Assembly<'_>),
) -> Option<usize> {
    let files = files::assemblies(pinned)?;
    for (name, bytes) in &files {
        match Assembly::open(bytes) {
            Ok(assembly) => visit(name, &assembly),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    Some(files.len())
}
