//! Samples programs with deep stacks, and with many threads.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clr_profiler::prelude::*;
use clr_profiler::{Sampler, SamplerOptions};

use crate::log;

/// Says what its sampler has done. With `SCENARIO_THREADS` it samples threads that wait, too, and says
/// when it has seen so many.
pub(crate) struct SamplesDeep {
    sampler: Arc<Sampler>,
    begun: Instant,
}

#[profiler(clsid = crate::clsid("SamplesDeep"))]
impl Profiler for SamplesDeep {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let threads = std::env::var("SCENARIO_THREADS").ok();
        let wanted: Option<usize> = threads.and_then(|threads| threads.parse().ok());
        let mut options = SamplerOptions::default();
        options.depth = usize::MAX;
        options.idle_threads = wanted.is_some();
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let sampler = setup.attach(Sampler::new(options, move |_, sample| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            // Threads that have not called so deep yet do not count.
            if sample.frames.len() > 20 && seen.insert(sample.thread) && Some(seen.len()) == wanted
            {
                log::line("all seen");
            }
        }))?;
        let begun = Instant::now();
        Ok(Self { sampler, begun })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let stopped = self.sampler.stop();
        let (totals, time) = (self.sampler.totals(), self.begun.elapsed());
        log::line(format_args!(
            "time {} stopped {} suspending {} longest {}",
            time.as_micros(),
            totals.stopped.as_micros(),
            totals.suspending.as_micros(),
            totals.longest.as_micros()
        ));
        log::line(format_args!(
            "stops {} samples {} truncated {} postponed {}",
            totals.stops, totals.samples, totals.truncated, totals.postponed
        ));
        stopped
    }
}
