//! The command on real runtimes.

mod attaching;
mod command;
mod doctor;
mod making;
mod profiling;
