//! The example `jit_logger`, from its command line to what it leaves behind.

#![cfg(unix)]

mod bad_input;
mod example;
mod lines;
mod output;
mod program;
mod tiers;
