//! Coverage: which lines and branches of a program have run, from the hits of probes.
//!
//! A [`MethodMap`] says where the probes of a method are and what they mean, and inserts them into its body. The profiler and the
//! report each make it, from the assembly and its PDB. [`HitsLayout`] is the file into which the program stores its hits,
//! [`Hits`] is its content, and [`Coverage`] the sum of many files, which [`report`] writes in the formats of other tools.
//! Nothing here needs a runtime.
//!
//! ```
//! use clr_profiler_tools::coverage::ModuleFiles;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/profilees/language/NetRelease.dll");
//! let files = ModuleFiles::read(path.as_ref())?;
//! let module = files.module()?;
//! let mut points = 0;
//! for method in module.methods() {
//!     if let Some(map) = module.map(method)? {
//!         points += map.points.len();
//!     }
//! }
//! assert!(points > 0);
//! # Ok(())
//! # }
//! ```

mod adding;
mod bundled;
mod classes;
mod code;
mod contents;
mod contexts;
mod edit;
mod generated;
mod hits;
mod implied;
#[cfg(feature = "profilers")]
mod machine;
mod map;
mod marks;
mod module;
pub mod report;
mod sources;
mod totals;

pub use bundled::AssemblyReader;
#[cfg(feature = "profilers")]
pub(crate) use bundled::{path_in as path_in_bundle, read_in as read_in_bundle};
#[cfg(feature = "profilers")]
pub(crate) use code::Code;
pub use contexts::{ContextHits, Contexts, ContextsState};
#[cfg(feature = "profilers")]
pub(crate) use hits::{GIVEN, REFUSED, ROW};
pub use hits::{Hits, HitsLayout, MethodHits, ProbeKind};
#[cfg(feature = "profilers")]
pub(crate) use machine::{AsyncMachine, ends as machine_ends};
#[cfg(feature = "profilers")]
pub(crate) use map::MethodProbes;
pub use map::{Branch, MethodMap, Point, Probe};
pub use module::{CoveredModule, MethodName, ModuleFiles};
pub use totals::{
    BranchKey, Coverage, FileCoverage, FileHits, MethodCoverage, MethodKey, Share, Shares,
};
