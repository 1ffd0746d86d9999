//! The sampler that interrupts threads.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::sampling::{CpuSample, CpuSampler};
use scenario_support::log;

use super::{Shared, count, has, lock};

pub(super) fn attach(setup: &mut Setup, shared: &Arc<Shared>) -> Result<Arc<CpuSampler>> {
    let shared = Arc::clone(shared);
    let deliver = move |info: &ProfilerInfo, sample: &CpuSample<'_>| {
        let functions = sample.frames.iter().filter_map(|frame| frame.function());
        for function in functions {
            let Some(module) = lock(&shared.live).get(&function).copied() else {
                continue;
            };
            if shared.first.get() != Some(&module) {
                // Time to unload the module, which has to wait for this delivery.
                thread::sleep(Duration::from_millis(20));
            }
            match info.method(function).and_then(|method| method.full_name()) {
                Ok(_) => count(&shared.counts.named),
                // The last samples are delivered when the detach has begun.
                Err(_) if has("detach") => {}
                Err(error) => log::line(format_args!("failure: interrupts: {error}")),
            }
        }
        if sample.is_broken && std::env::var_os("STORM_BROKEN").is_some() {
            log::line(format_args!("broken: {:x?}", sample.frames));
        }
    };
    // Above the kernel's tick, events of the kernel take the samples.
    let times = if has("events") { 4 } else { 1 };
    let rate = times * crate::interrupts::ticks_per_second();
    setup.attach(CpuSampler::builder().rate(rate).build(deliver))
}

/// Logs the totals. The sampler has ended.
pub(super) fn tell(sampler: &CpuSampler) {
    let totals = sampler.totals();
    log::line(format_args!("interrupted samples {}", totals.samples));
    log::line(format_args!("totals: {totals:?}"));
    // Fewer show the start of the program alone. The kernel finds no page of a stack that is written for the first time after a
    // fork, of which there are hundreds a second: how many depends on the load, and the totals are in the log.
    for (words, count, most) in [("broken", totals.broken, 1), ("incomplete", totals.cut_off, 25)] {
        if totals.samples > 500 && count * 100 > totals.samples * most {
            log::line(format_args!("failure: {count} of {} stacks are {words}", totals.samples));
        }
    }
}
