//! A proxy between a runtime and a profiler, which counts their calls.
//!
//! The runtime loads this library as the profiler's. It loads the real one, which
//! `CLR_PROFILER_RECORDED_LIBRARY` names, and passes on every call in both directions unchanged:
//! arguments, order, results, references. Only interfaces are exchanged, so that further calls pass
//! through here, too. The calls of each method are counted in a file of this process in the
//! folder `CLR_PROFILER_RECORD_FOLDER`, under the names in `CLR_PROFILER_RECORD_RUNTIME` and
//! `CLR_PROFILER_RECORD_SCENARIO`.
//!
//! With `CLR_PROFILER_FAULTS` it breaks calls of the profiler instead of passing them on: see the module
//! `faults`.

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
