//! The sampler of the tool: the one that suspends nothing, where it is available.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::report::lock;
use crate::spans::threads;
use clr_profiler::prelude::*;
use clr_profiler::sampling::{
    CpuSampler as OnThread, CpuSamplerTotals, Sampler, SamplerOptions, SamplerTotals,
};

use super::options::Options;
use super::profile::Profile;

/// The caveat of samples at safepoints.
pub(crate) const BIAS: &str = "own time is biased: it is booked at the next safepoint, where the runtime can \
     suspend a thread, and this can be in another method than the one that used the time";

/// As often as most kernels count the processor time of threads.
const USUAL: Duration = Duration::from_millis(4);

/// Whether this platform has the sampler that suspends nothing.
const HAS_TIMERS: bool = cfg!(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// The reason elsewhere.
const ELSEWHERE: &str =
    "the sampler that interrupts threads instead is for Linux with glibc, on x64 and arm64";

/// A running sampler.
pub(crate) enum Sampling {
    /// Interrupts each thread by its own processor time.
    OnThread(Arc<OnThread>, Duration),
    /// Suspends the runtime; with the reason, if the other one was wanted.
    Suspending(Arc<Sampler>, Duration, Option<String>),
}

/// The totals of either.
#[derive(Clone, Debug)]
pub(crate) enum Totals {
    OnThread(CpuSamplerTotals, Duration),
    Suspending(SamplerTotals, Duration, Option<String>),
}

impl Sampling {
    pub(crate) fn attach(
        setup: &mut Setup,
        options: &Options,
        profile: &Arc<Mutex<Profile>>,
    ) -> Result<Self> {
        let is_wanted = !options.suspends;
        let available = match (is_wanted, HAS_TIMERS) {
            (true, true) => OnThread::check(),
            (true, false) => Err(Error::other(ELSEWHERE)),
            (false, _) => Ok(()),
        };
        let profile = Arc::clone(profile);
        if is_wanted && available.is_ok() {
            let interval = options.interval.unwrap_or(USUAL);
            let mut builder = OnThread::builder().interval(interval.min(Duration::from_secs(1)));
            if options.by_wall {
                builder = builder.wall_clock();
            }
            let sampler = builder.build(move |info, sample| lock(&profile).add_cpu(info, sample));
            return Ok(Self::OnThread(setup.attach(sampler)?, interval));
        }
        let mut how = SamplerOptions::default();
        how.interval = options.interval.unwrap_or(how.interval);
        how.idle_threads = options.by_wall;
        let interval = how.interval;
        let sampler = Sampler::new(how, move |info, sample| lock(&profile).add(info, sample));
        let reason = available.err().map(|error| error.to_string());
        Ok(Self::Suspending(setup.attach(sampler)?, interval, reason))
    }

    /// Samples threads with the labels of their spans; those that wait, too, if that is wanted.
    ///
    /// # Errors
    ///
    /// Threads cannot be interrupted, or no handler can read their spans.
    pub(crate) fn attach_labelled(
        setup: &mut Setup,
        profile: &Arc<Mutex<Profile>>,
        by_wall: bool,
    ) -> Result<Self> {
        if !HAS_TIMERS {
            return Err(Error::other(ELSEWHERE));
        }
        OnThread::check()?;
        let builder = threads::label(OnThread::builder().interval(USUAL));
        let mut builder = builder.ok_or_else(|| {
            Error::other("a handler of signals can read the span of a thread on x64 alone")
        })?;
        if by_wall {
            builder = builder.wall_clock();
        }
        let profile = Arc::clone(profile);
        let sampler = builder.build(move |info, sample| lock(&profile).add_cpu(info, sample));
        Ok(Self::OnThread(setup.attach(sampler)?, USUAL))
    }

    pub(crate) fn wait_for_delivery(&self) -> Result<()> {
        match self {
            Self::OnThread(sampler, _) => sampler.wait_for_delivery(),
            Self::Suspending(sampler, ..) => sampler.wait_for_delivery(),
        }
    }

    pub(crate) fn stop(&self) -> Result<()> {
        match self {
            Self::OnThread(sampler, _) => sampler.stop(),
            Self::Suspending(sampler, ..) => sampler.stop(),
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        match self {
            Self::OnThread(sampler, interval) => Totals::OnThread(sampler.totals(), *interval),
            Self::Suspending(sampler, interval, reason) => {
                Totals::Suspending(sampler.totals(), *interval, reason.clone())
            }
        }
    }

    /// The progress, in words.
    pub(crate) fn progress(&self) -> String {
        match self.totals() {
            Totals::OnThread(totals, _) => format!("{} samples", totals.samples),
            Totals::Suspending(totals, ..) => {
                format!("{} samples in {} stops", totals.samples, totals.stops)
            }
        }
    }
}

/// With fewer samples, shares and average times say nothing.
const FEW: u64 = 20;

impl Totals {
    /// Whether own time is that of the instructions that used it.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, Self::OnThread(..))
    }

    /// The lines below a table.
    pub(crate) fn lines(&self, all: Duration, cut: f64) -> Vec<String> {
        let seconds = all.as_secs_f64();
        match self {
            Self::OnThread(totals, interval) => {
                let share = |part: u64| percent(part as f64, totals.samples as f64);
                let others = totals.process.saturating_sub(totals.cpu);
                let first = format!(
                    "{seconds:.3} s in {} samples; the program was stopped 0 times; {:.0} samples a second of processor \
                     time; {} intervals were lost, {:.2} % of them; {:.2} % of the stacks are broken, {:.2} % without a \
                     managed frame, {} were truncated, {cut:.2} % of the time found no place",
                    totals.samples,
                    totals.rate(),
                    totals.lost,
                    percent(totals.lost as f64, (totals.lost + totals.intervals) as f64),
                    share(totals.broken),
                    share(totals.unmanaged),
                    totals.truncated,
                );
                let second = format!(
                    "the handler took {:.1} ms of {} threads, the walks {:.1} ms; {:.3} s of the process were on threads \
                     that are not sampled, because they are not managed, or in the time before their first interval",
                    totals.interrupting.as_secs_f64() * 1e3,
                    totals.threads,
                    totals.delivering.as_secs_f64() * 1e3,
                    others.as_secs_f64(),
                );
                let mut lines = vec![first, second];
                if totals.threads_by_events > 0 {
                    lines.push(format!(
                        "{:.0} samples a second were asked for, above the kernel's tick: its performance events have sampled {} \
                         of {} threads, without interrupting them",
                        1.0 / interval.as_secs_f64(),
                        totals.threads_by_events,
                        totals.threads,
                    ));
                }
                if totals.cut_off > 0 {
                    lines.push(format!(
                        "{:.2} % of the stacks lack callers, because a part of them could not be copied, for example in a handler of signals \
                         with a stack of its own",
                        share(totals.cut_off),
                    ));
                }
                if totals.waits > 0 {
                    lines.push(format!(
                        "{:.3} s of waiting in {} samples, {:.2} % of whose stacks are broken; time in which threads were ready \
                         to run and had no processor is not in it",
                        totals.waited.as_secs_f64(),
                        totals.waits,
                        percent(totals.broken_waits as f64, totals.waits as f64),
                    ));
                }
                lines
            }
            Self::Suspending(totals, ..) => {
                let first = format!(
                    "{seconds:.3} s in {} samples; the program was stopped {} times, {:.3} s in all, at most {:.3} s at a \
                     time; {:.3} s passed until its threads were suspended; {} stacks were truncated, {} could not be \
                     walked, {cut:.2} % of the time found no place",
                    totals.samples,
                    totals.stops,
                    totals.stopped.as_secs_f64(),
                    totals.longest.as_secs_f64(),
                    totals.suspending.as_secs_f64(),
                    totals.truncated,
                    totals.failed_walks,
                );
                vec![first, BIAS.to_owned()]
            }
        }
    }

    /// Lines for the user of the command. `total` is the time of all samples.
    pub(crate) fn remarks(&self, total: Duration) -> Vec<String> {
        let mut remarks = Vec::new();
        match self {
            Self::OnThread(totals, interval) => {
                let asked = 1.0 / interval.as_secs_f64();
                if let Some(reason) = &totals.no_events {
                    let others = totals.threads_by_events + totals.untimed_threads;
                    let threads = totals.threads.saturating_sub(others);
                    remarks.push(format!(
                        "{threads} of {} threads were sampled at the kernel's tick instead of {asked:.0} times a second, and each \
                         sample counts for all of its intervals: {reason}",
                        totals.threads
                    ));
                } else if totals.samples >= FEW && totals.rate() < asked / 2.0 {
                    remarks.push(format!(
                        "{:.0} samples were taken in a second of processor time, instead of {asked:.0}: the system's \
                         timers do not expire more often; each sample counts for all of its intervals",
                        totals.rate()
                    ));
                }
                if totals.lost > 0 {
                    let all = (totals.lost + totals.intervals) as f64;
                    let lost = percent(totals.lost as f64, all);
                    remarks.push(format!(
                        "{lost:.2} % of the intervals found no room and were lost"
                    ));
                }
                let broken = percent(totals.broken as f64, totals.samples as f64);
                if totals.samples >= FEW && broken >= 1.0 {
                    remarks.push(format!(
                        "{broken:.1} % of the stacks are broken: their callers are missing"
                    ));
                }
                if let Some(reason) = &totals.refusal {
                    remarks.push(format!(
                        "{} of {} threads were not sampled: {reason}",
                        totals.untimed_threads, totals.threads
                    ));
                }
                if totals.is_handler_left {
                    remarks.push(
                        "the handler of signal 34 stays installed, because another library has installed its own above it"
                            .to_owned(),
                    );
                }
            }
            Self::Suspending(totals, interval, reason) => {
                if let Some(reason) = reason {
                    remarks.push(format!(
                        "the runtime is suspended for each sample: {reason}"
                    ));
                }
                remarks.extend(low_rate(total, totals.samples, *interval));
            }
        }
        remarks
    }
}

fn percent(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all * 100.0 } else { 0.0 }
}

/// Says it if samples were far less frequent than asked for: the average time of a thread between two of them is
/// more than double the interval.
pub(crate) fn low_rate(total: Duration, samples: u64, interval: Duration) -> Option<String> {
    let average = total.div_f64(samples.max(1) as f64);
    let is_low = samples >= FEW && average > interval * 2;
    is_low.then(|| {
        format!(
            "a sample stands for {:.1} ms on average, instead of {:.1} ms: the threads could not be stopped more often",
            average.as_secs_f64() * 1e3,
            interval.as_secs_f64() * 1e3
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_the_system_cannot_take_are_said() {
        let said = |totals: &CpuSamplerTotals, interval| {
            let totals = Totals::OnThread(totals.clone(), interval);
            totals.remarks(Duration::from_secs(1)).join("\n")
        };
        let mut totals = CpuSamplerTotals::default();
        (totals.samples, totals.intervals) = (250, 1000);
        (totals.cpu, totals.threads) = (Duration::from_secs(1), 4);
        assert_eq!(said(&totals, Duration::from_millis(4)), "");
        let words = said(&totals, Duration::from_millis(1));
        assert!(
            words.starts_with("250 samples were taken in a second of processor time, instead of 1000: the system's"),
            "{words}"
        );
        (totals.threads_by_events, totals.no_events) = (1, Some("no rings".to_owned()));
        let words = said(&totals, Duration::from_millis(1));
        assert!(
            words.starts_with("3 of 4 threads were sampled at the kernel's tick instead of 1000 times a second, and"),
            "{words}"
        );
        assert!(words.ends_with(" intervals: no rings"), "{words}");
        (totals.no_events, totals.refusal) = (None, Some("no more".to_owned()));
        (totals.untimed_threads, totals.broken) = (3, 4);
        let words = said(&totals, Duration::from_millis(4));
        assert!(
            words.contains("3 of 4 threads were not sampled: no more"),
            "{words}"
        );
        assert!(words.contains("1.6 % of the stacks are broken"), "{words}");
    }

    #[test]
    fn a_rate_far_below_the_one_asked_for_is_said() {
        let (second, millisecond) = (Duration::from_secs(1), Duration::from_millis(1));
        let words = low_rate(second, 400, millisecond).unwrap();
        assert!(
            words.contains("2.5 ms on average, instead of 1.0 ms"),
            "{words}"
        );
        assert_eq!(low_rate(second, 600, millisecond), None);
        assert_eq!(low_rate(second, FEW - 1, millisecond), None);
    }
}
