//! The totals of the samples.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::stacks::{self, Form, Stacks, Unit};
use clr_profiler::Overhead;
use clr_profiler::prelude::*;
use clr_profiler::sampling::{Sample, SamplerTotals};

use super::functions::{Functions, NATIVE};
use super::options::Options;

/// The limit for different stacks, some 100 MB.
const LIMIT: usize = 1_000_000;

/// The caveat of each table.
const BIAS: &str = "own time is biased: it is booked at the next safepoint, where the runtime can \
     suspend a thread, and this can be in another method than the one that used the time\n";

/// With fewer samples, an average time says nothing.
const FEW: u64 = 20;

/// The rows of the table.
const ROWS: usize = 40;

#[derive(Clone)]
pub(crate) struct Profile {
    by_wall: bool,
    by_thread: bool,
    interval: Duration,
    /// The numbers of threads, by the operating system's id: a thread that has ended can have the same one.
    threads: HashMap<u32, u64>,
    functions: Functions,
    stacks: Stacks,
}

impl Profile {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            by_wall: options.by_wall,
            by_thread: options.by_thread,
            interval: options.interval,
            threads: HashMap::new(),
            functions: Functions::new(options.lines),
            stacks: Stacks::with_limit(LIMIT),
        }
    }

    pub(crate) fn add(&mut self, info: &ProfilerInfo, sample: &Sample<'_>) {
        // Where the system does not report a thread's processor time, each sample counts as its interval.
        let time = match sample.cpu {
            Some(cpu) if !self.by_wall => cpu,
            _ => sample.elapsed,
        };
        let Self {
            threads,
            functions,
            stacks,
            ..
        } = self;
        let thread = self.by_thread.then(|| {
            *threads
                .entry(sample.os_thread)
                .or_insert_with(|| functions.of_thread(sample.os_thread))
        });
        let frames = sample.frames.iter().rev();
        let frames = frames.map(|frame| match frame.function {
            Some(function) => functions.number(info, function, frame.ip),
            None => NATIVE,
        });
        let mut frames: Vec<u64> = frames.collect();
        if frames.is_empty() {
            frames.push(NATIVE);
        }
        stacks.add(thread.into_iter().chain(frames), time.as_nanos() as u64);
    }

    /// Says it if samples were far less frequent than asked for: the average time of a thread between two of them is
    /// more than double the interval.
    pub(crate) fn low_rate(&self, samples: u64) -> Option<String> {
        let total = Duration::from_nanos(self.stacks.total());
        low_rate(total, samples, self.interval)
    }

    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.functions.forget(module);
    }

    pub(crate) fn write(
        &self,
        form: Form,
        totals: SamplerTotals,
        overhead: Overhead,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let name = |number| self.functions.name(number);
        let title = if self.by_wall {
            "Time (own time is booked at the next safepoint)"
        } else {
            "Processor time (own time is booked at the next safepoint)"
        };
        match form {
            Form::FlameGraph => {
                stacks::flame_graph(&self.stacks, title, Unit::Nanoseconds, name, out)
            }
            Form::Speedscope => {
                stacks::speedscope(&self.stacks, title, Unit::Nanoseconds, name, out)
            }
            Form::Folded => stacks::folded(&self.stacks, name, out),
            Form::Table => self.table(totals, overhead, out),
        }
    }

    fn table(
        &self,
        totals: SamplerTotals,
        overhead: Overhead,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let all = self.stacks.total().max(1) as f64;
        let mut rows: Vec<(u64, (u64, u64))> = self.stacks.by_frame().into_iter().collect();
        rows.sort_by_key(|(frame, (own, with_callees))| {
            (std::cmp::Reverse((*own, *with_callees)), *frame)
        });
        let samples = self.stacks.calls_by_frame();
        writeln!(out, "    own    own ms  samples   with callees  method")?;
        for (frame, (own, with_callees)) in rows.iter().take(ROWS) {
            let (own, with_callees) = (*own as f64, *with_callees as f64);
            let name = self.functions.name(*frame);
            writeln!(
                out,
                "{:6.2} %  {:8.0}  {:7}       {:6.2} %  {name}",
                own / all * 100.0,
                own / 1e6,
                samples.get(frame).unwrap_or(&0),
                with_callees / all * 100.0
            )?;
        }
        if rows.len() > ROWS {
            writeln!(out, "... and {} more", rows.len() - ROWS)?;
        }
        writeln!(out, "overhead, without the samples: {overhead}")?;
        if let Some(words) = self.low_rate(totals.samples) {
            writeln!(out, "{words}")?;
        }
        writeln!(
            out,
            "{:.3} s in {} samples; the program was stopped {} times, {:.3} s in all, at most \
             {:.3} s at a time; {:.3} s passed until its threads were suspended; {} stacks were \
             truncated, {} could not be walked, {:.2} % of the time found no place",
            all / 1e9,
            totals.samples,
            totals.stops,
            totals.stopped.as_secs_f64(),
            totals.longest.as_secs_f64(),
            totals.suspending.as_secs_f64(),
            totals.truncated,
            totals.failed_walks,
            self.stacks.cut() as f64 / all * 100.0,
        )?;
        out.write_all(BIAS.as_bytes())
    }
}

fn low_rate(total: Duration, samples: u64, interval: Duration) -> Option<String> {
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
