//! The command on real runtimes.

mod attaching;
mod command;
mod compiled;
// The keys are signals elsewhere.
#[cfg(windows)]
mod console_keys;
mod cover;
mod doctor;
#[cfg(target_os = "linux")]
mod doctor_outside;
mod doctor_processes;
mod formats;
mod kinds;
// The filter of calls has their numbers on x64.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod limits;
mod loading;
mod making;
// Perf is for Linux.
#[cfg(target_os = "linux")]
mod perf_names;
mod profiling;
mod terminal;
mod top;
