#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! - [`Scenario`]: a program, a profiler, and the runtimes; [`same_output`](Scenario::same_output) compares the runs.
//! - [`Runtime`]: a runtime of this machine; [`available`](Runtime::available) finds all of them.
//! - [`Fetcher`] and [`Pinned`]: runtimes from package indexes, fetched on request alone (feature `fetch`).
//! - [`build_library`]: the library of a profiler, built by cargo now.
//! - [`AssemblyFile`]: runs an edit of IL on every method of a file; [`EditedAssembly`] has the results.
//! - [`snapshot`]: compares a text, such as a listing, with a committed file.
//! - [`CSharp`]: a program in a string, compiled by Roslyn.
//! - `stand_in`: a runtime without a program, whose calls fail as the test says (feature `stand_in`, 64-bit Linux).
//! - [`Finished`], [`Running`]: a program that has ended, and one that the test talks to.

mod cargo;
mod csharp;
mod error;
#[cfg(feature = "fetch")]
mod fetch;
mod offline;
mod process;
mod program;
mod running;
mod runtime;
mod scenario;
mod scratch;
mod snapshot;
#[cfg(all(
    feature = "stand_in",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub mod stand_in;

pub use cargo::build_library;
pub use csharp::{CSharp, Compiled};
pub use error::Error;
#[cfg(feature = "fetch")]
pub use fetch::{Archive, Fetcher, Index, Pinned, Platform};
pub use offline::{
    AssemblyFile, EditedAssembly, EditedMethod, OfflineContext, OfflineProps, Outcome,
};
pub use process::Finished;
pub use running::Running;
pub use runtime::Runtime;
pub use scenario::{Comparison, Scenario, Started};
pub use snapshot::snapshot;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
