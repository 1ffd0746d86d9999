//! Profilers at the borders of the library. `tests/` runs programs under them.

mod forked;
mod leaves_locals;
mod panics_in_drops;
mod panics_on_a_thread;

use std::fmt::Display;
use std::process;

use clr_profiler::register;
use scenario_support::log;

use forked::Forked;
use leaves_locals::LeavesLocals;
use panics_in_drops::PanicsInDrops;
use panics_on_a_thread::PanicsOnAThread;

register!(Forked, LeavesLocals, PanicsInDrops, PanicsOnAThread);

/// Writes a line to the scenario's log, with the id of the writing process.
fn told(text: impl Display) {
    log::line(format_args!("{} {text}", process::id()));
}
