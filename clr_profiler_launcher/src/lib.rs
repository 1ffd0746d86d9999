//! Starts a .NET program under a profiler, or loads a profiler into a running one.
//!
//! The .NET runtime (CoreCLR) loads a profiler when environment variables name a native library
//! and the CLSID of the class in it. When anything about these is wrong, the runtime continues
//! without a profiler and mostly without a message. [`Launch`] sets the variables and checks, before
//! the program starts, everything that can be checked from outside.
//!
//! ```no_run
//! use clr_profiler_launcher::{Launch, ProfilerLibrary};
//!
//! # fn main() -> Result<(), clr_profiler_launcher::Error> {
//! let library = ProfilerLibrary::new(
//!     clr_profiler_launcher::find_library("my_profiler")?,
//!     "DF63A541-5A33-4611-8829-F4E495985EE3",
//! )?;
//! let output = Launch::new("path/to/App.dll")
//!     .args(["first", "second"])
//!     .profiler(library)
//!     .command()?
//!     .output();
//! # Ok(()) }
//! ```
//!
//! - [`Launch`]: a program to start and how; [`command`](Launch::command) or [`exec`](Launch::exec).
//! - [`Attach`]: a process to load a profiler into; [`send`](Attach::send).
//! - [`ProfilerLibrary`]: the library and the CLSID; [`check`](ProfilerLibrary::check) loads it.
//!   [`find_library`] finds one that cargo built.
//! - [`DotnetHost`]: the `dotnet` that runs managed assemblies.
//! - [`Program`]: the program's file and its kind.
//! - [`Error`]: sentences for a person, one variant for each kind of mistake.

mod attach;
mod clsid;
mod error;
mod hooks;
mod image;
mod launch;
mod library;
mod loader;
mod program;
mod runtime;
mod signature;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

pub use attach::Attach;
pub use clsid::Clsid;
pub use error::Error;
pub use launch::Launch;
pub use library::{ProfilerLibrary, find_library, find_library_next_to};
pub use program::{Program, ProgramKind};
pub use runtime::{DotnetHost, RuntimeVersion};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
