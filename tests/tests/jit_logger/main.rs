//! The example `jit_logger`, from its command line to its results.

#![cfg(unix)]

mod bad_input;
mod example;
mod lines;
mod output;
mod program;
mod tiers;
