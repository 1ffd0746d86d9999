//! Shared by the examples. Not published.
//!
//! - [`runtime`]: a .NET runtime, an installed or a fetched one.
//! - [`samples`]: a program to profile.
//! - [`run`]: the command line of an example, described by [`Example`].

mod options;
mod runner;
pub mod runtime;
pub mod samples;

pub use clr_profiler_test::{Error, Fetcher, Pinned, Platform};
pub use options::{Example, ExampleOption, Request, Takes, UsageError};
pub use runner::run;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
