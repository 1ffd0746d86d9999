//! A profiler that calls every safe function of the library in every callback and moment, with valid ids, with
//! stale ids and with ids of other things, and writes down each call before it makes it.
//!
//! [`plan`] says what one process does: the moment, the ids, the calls. [`calls`] has the calls, those of the
//! library's own table by its rows; `pool` the ids that were seen; `profiler` and [`moments`] say when calls are
//! made, `batch` makes them. The program `probe` starts the processes and writes `docs/probes.md`.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "of the tests alone")]
#![allow(unreachable_pub, reason = "the program `probe` uses them")]
#![allow(missing_debug_implementations, reason = "of the tests alone")]

pub mod at;
mod batch;
pub mod calls;
pub mod moments;
pub mod plan;
mod pool;
mod profiler;

clr_profiler::register!(profiler::Probe, profiler::WithParts);
