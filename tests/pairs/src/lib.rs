//! The examples' profilers, alone and in pairs, in one library.

use clr_profiler::register;

include!(concat!(env!("OUT_DIR"), "/pairs.rs"));
