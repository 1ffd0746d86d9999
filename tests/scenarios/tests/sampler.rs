//! The sampler on programs with deep stacks, and with many threads: it suspends them for a bounded part of
//! the time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clr_profiler::prelude::*;
use clr_profiler::sampling::{Sampler, SamplerOptions};
use scenario_support::{clsid, log};

/// Logs the totals of its sampler. With `SCENARIO_THREADS` it samples waiting threads, too, and logs
/// when it has seen that number of them.
pub(crate) struct SamplesDeep {
    sampler: Arc<Sampler>,
    begun: Instant,
}

#[profiler(clsid = clsid("SamplesDeep"))]
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
            // Threads that have not reached this depth yet do not count. A walk that ran out of time has it.
            if sample.frames.len() >= 16 && seen.insert(sample.thread) && Some(seen.len()) == wanted
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use clr_profiler_tests::{Finished, Scenario, runtimes};

    use super::SamplesDeep;

    fn deep(frames: &str, threads: &str, rounds: &str) -> Scenario {
        let deep = Scenario::new("Deep").arg(frames).arg(threads).arg(rounds);
        deep.profiled_by::<SamplesDeep>()
    }

    /// The numbers that the profiler has logged, by their names.
    fn numbers(finished: &Finished) -> HashMap<&str, u64> {
        let words: Vec<&str> = finished.log.split_whitespace().collect();
        let pairs = words.windows(2);
        let numbers = pairs.filter_map(|pair| Some((pair[0], pair[1].parse().ok()?)));
        numbers.collect()
    }

    /// A fifth of the time, a tenth of a second, and the suspension during which the program ended.
    fn assert_bounded(finished: &Finished) -> HashMap<&str, u64> {
        let numbers = numbers(finished);
        println!("{numbers:?}");
        let (time, stopped) = (numbers["time"], numbers["stopped"]);
        let bound = time / 5 + 100_000 + numbers["longest"];
        assert!(stopped <= bound, "{numbers:?}");
        assert!(numbers["suspending"] <= stopped, "{numbers:?}");
        numbers
    }

    #[test]
    fn a_deep_stack_is_truncated_and_rarely_walked() {
        deep("20000", "1", "1500").compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            let numbers = assert_bounded(profiled);
            assert!(numbers["truncated"] > 0, "{numbers:?}");
        });
    }

    #[test]
    fn all_of_many_threads_have_their_turn() {
        let scenario = deep("20", "800", "1").env("SCENARIO_THREADS", "800");
        for runtime in runtimes() {
            println!("on {}", runtime.name);
            let mut program = scenario.start(runtime);
            assert_eq!(program.line(), "ready");
            program.until_logged("all seen");
            let finished = program.finish();
            let plain = scenario.run_plain(runtime);
            assert_eq!(finished.output(), plain.output());
            let numbers = assert_bounded(&finished);
            assert!(numbers["postponed"] > 0, "{numbers:?}");
        }
    }
}
