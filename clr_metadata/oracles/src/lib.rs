//! Properties of `clr_metadata` that must hold for any input.
//!
//! Each oracle takes any bytes and panics if the crate breaks one of its promises. The fuzzers in
//! `clr_metadata/fuzz` call the oracles with inputs that evolve towards new coverage; the tests of this crate call
//! them with pseudo-random variations of real files.
//!
//! # Map
//!
//! - [`root`]: any bytes as metadata; every row, name, blob and lookup is a value or an error.
//! - [`tables`]: the same for bytes as the stream of tables of intact metadata, so that a fuzzer starts there.
//! - [`image`]: any bytes as a PE file, and as a loaded image.
//! - [`bundle`]: any bytes as a single-file application.
//! - [`pdb`]: any bytes as a portable PDB; every row and blob is a value or an error.
//! - [`embedded_pdb`]: any bytes as an assembly that embeds a PDB.
//! - [`seeds`]: parts of intact files.
//! - [`visit`]: reads everything, and passes errors on: also for tests with intact files.

#![forbid(unsafe_code)]

mod container;
mod everything;
mod portable_pdb;
pub mod seeds;

pub use container::{bundle, image, root, tables};
pub use everything::{Counts, visit};
pub use portable_pdb::{embedded_pdb, pdb, read_embedded_pdb, read_pdb};

/// Panics if a promise is broken.
pub type Oracle = fn(&[u8]);

/// All oracles, by the name of their fuzzer.
pub const ORACLES: [(&str, Oracle); 6] = [
    ("root", root),
    ("tables", tables),
    ("image", image),
    ("bundle", bundle),
    ("pdb", pdb),
    ("embedded_pdb", embedded_pdb),
];
