//! The framework of the scenarios: a program, a profiler, a runtime, and the output of both.
//!
//! ```no_run
//! use clr_profiler_tests::Scenario;
//!
//! // On each runtime, without and with the profiler:
//! Scenario::new("Basics")
//!     .profiler("Null")
//!     .compare(|plain, profiled| assert_eq!(profiled.output(), plain.output()));
//! ```
//!
//! A profiled program is `profilees/NAME.dll`, built from the source next to it. A profiler of a
//! scenario is in the package `scenarios`, which has one library for all of them, is identified by the
//! name of its type, and writes lines for the assertions into the file that `SCENARIO_LOG` names.

/// The code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The code of the README of `clr_profiler`.
#[cfg(doctest)]
#[doc = include_str!("../../clr_profiler/README.md")]
struct ApiReadme;

#[cfg(target_os = "linux")]
pub mod coverage;
mod example;
mod guide;
mod modes;
mod programs;
mod recorder;
mod runtimes;
mod sample;
mod scenario;
mod waits;

pub use clr_profiler_test::{Finished, Pinned, Running, Runtime};
pub use example::{Example, Folder};
pub use programs::{GENERATOR, VALIDATOR, configure_generator, fetched, write_log, write_proteins};
pub use runtimes::{compiles_twice, matrix, runtimes, runtimes_where, ways};
pub use sample::{Sample, seed, seed_of};
pub use scenario::{Scenario, Started, clsid, full_path, has_line, name_of, profilee};

/// The [`output`](Finished::output) of `Stress`, which does everything at once and checks it.
pub const STRESS: (Option<i32>, &str, &str) = (
    Some(11),
    "Compile right True\n\
     Instantiate right True\n\
     Allocate right True\n\
     Throw right True\n\
     Start right True\n\
     Load right True\n\
     Collect right True\n",
    "",
);
