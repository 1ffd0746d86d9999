//! The command on real runtimes.

mod attaching;
mod command;
#[cfg(target_os = "linux")]
mod compiled;
#[cfg(target_os = "linux")]
mod cover;
mod doctor;
#[cfg(target_os = "linux")]
mod doctor_outside;
mod formats;
mod making;
#[cfg(target_os = "linux")]
mod perf_names;
mod profiling;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod top;
