//! Stands between a runtime and a profiler, and counts what they ask of each other.
//!
//! The runtime loads this library as the profiler's. It loads the real one, which
//! `CLR_PROFILER_RECORDED_LIBRARY` names, and passes on every call in both directions as it is:
//! arguments, order, answers, references. Only interfaces are exchanged, so that further calls come
//! through here, too. What was called is counted for each method in a file of this process in the
//! folder `CLR_PROFILER_RECORD_FOLDER`, under the names in `CLR_PROFILER_RECORD_RUNTIME` and
//! `CLR_PROFILER_RECORD_SCENARIO`.
//!
//! With `CLR_PROFILER_FAULTS` it breaks calls of the profiler instead of passing them on: the module
//! `faults` tells how.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod exports;
mod faults;
mod library;
mod proxy;
mod record;
mod rules;

pub use exports::{DllCanUnloadNow, DllGetClassObject, MetaDataGetDispenser};
