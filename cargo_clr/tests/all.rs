//! The command on real runtimes.

mod attaching;
mod command;
mod doctor;
#[cfg(target_os = "linux")]
mod doctor_outside;
mod making;
mod profiling;
#[cfg(target_os = "linux")]
mod terminal;
