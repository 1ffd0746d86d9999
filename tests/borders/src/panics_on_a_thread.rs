//! A profiler whose code panics on a thread of the library.

use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::sampling::{Sampler, SamplerOptions};
use scenario_support::clsid;

use crate::told;

pub(crate) struct PanicsOnAThread;

/// A payload that panics again when it is dropped: the standard library ends the process if the
/// result of a thread does that.
struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[profiler(clsid = clsid("PanicsOnAThread"))]
impl Profiler for PanicsOnAThread {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| told(failure));
        let mut options = SamplerOptions::default();
        options.interval = Duration::from_millis(1);
        setup.attach(Sampler::new(options, |_, _| {
            std::panic::panic_any(PanicsWhenDropped);
        }))?;
        Ok(Self)
    }
}
