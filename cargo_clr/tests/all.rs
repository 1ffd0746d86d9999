//! The command on real runtimes.

mod attaching;
mod command;
mod compiled;
mod cover;
mod doctor;
#[cfg(target_os = "linux")]
mod doctor_outside;
mod formats;
mod making;
// Perf is for Linux.
#[cfg(target_os = "linux")]
mod perf_names;
mod profiling;
mod terminal;
mod top;
