//! Which native methods are wrapped, and where each was seen to work.
//!
//! `docs/api-coverage.md` is made of three things: the sentences "Wraps `Interface::Method`" in the
//! sources of `clr_profiler`, the list of those methods that are not tried on the fake runtime, and
//! recordings of scenarios on real runtimes.

mod document;
mod real;
mod sources;

pub use document::{Document, Line};
pub use real::{RUNTIMES, Real, Seen};
pub use sources::wrappers;

use std::path::{Path, PathBuf};

/// The path of the document.
pub fn document_path() -> PathBuf {
    repository().join("docs/api-coverage.md")
}

/// The folder of the whole workspace.
fn repository() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}
