//! The profilers of the scenarios: each does one thing and writes results to the scenario's log.
//!
//! A scenario is a file or a folder in `tests`, with its profilers and the tests that run programs under
//! them: the file of a test, and a module of this library. Profilers of several scenarios are here.

// `register!` has a list of all of them.
#![recursion_limit = "512"]

mod contexts;
mod cover_floor;
mod every_callback;
mod flag_rules;
mod hooks_bench;
mod jit_share;
mod load_paths;
mod native_calls_bench;
mod patches_bench;
mod refused_code;
mod start;

use clr_profiler::prelude::*;

include!(concat!(env!("OUT_DIR"), "/profilers.rs"));
