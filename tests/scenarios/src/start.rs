//! Profilers that start, or do not.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Does nothing at all.
pub(crate) struct Null;

#[profiler(clsid = clsid("Null"))]
impl Profiler for Null {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

/// Returns an error from `initialize`.
pub(crate) struct FailsToStart;

#[profiler(clsid = clsid("FailsToStart"))]
impl Profiler for FailsToStart {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Err(Error::other("the licence has run out"))
    }
}

/// Panics in `initialize`.
pub(crate) struct PanicsAtStart;

#[profiler(clsid = clsid("PanicsAtStart"))]
impl Profiler for PanicsAtStart {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        panic!("no such luck")
    }
}

/// Chooses not to be active.
pub(crate) struct CancelsActivation;

#[profiler(clsid = clsid("CancelsActivation"))]
impl Profiler for CancelsActivation {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        log::line("cancelled");
        Err(Error::cancel_activation())
    }
}
