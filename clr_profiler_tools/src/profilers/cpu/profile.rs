//! The totals of the samples.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::stacks::{Export, Form, Label, Labels, Node, Stacks, Timeline, Unit};
use clr_profiler::Overhead;
use clr_profiler::prelude::*;
use clr_profiler::sampling::{CpuCode, CpuSample, Sample};

use super::functions::{Functions, NATIVE, STUB, UNKNOWN, thread_name};
use super::options::Options;
use super::sampling::Totals;

/// The limit for different stacks, some 100 MB.
const LIMIT: usize = 1_000_000;

/// The limit for single samples, 64 MB.
const SAMPLES: usize = 2_000_000;

/// The limit for the spans of stacks, some 100 MB while the file is made.
const LABELS: usize = 50_000;

/// The span of a sample's label.
pub(crate) type Spanned = Arc<dyn Fn([u64; 2]) -> Label + Send + Sync>;

/// How late samples of threads that were interrupted are delivered.
const LATE: Duration = Duration::from_millis(40);

/// The rows of the table.
const ROWS: usize = 40;

#[derive(Clone)]
pub(crate) struct Profile {
    by_wall: bool,
    by_thread: bool,
    /// The numbers of threads, by the operating system's id: a thread that has ended can have the same one.
    threads: HashMap<u32, u64>,
    functions: Functions,
    stacks: Stacks,
    began: (SystemTime, Instant),
    /// If the format has them.
    timeline: Option<Timeline>,
    /// The spans of samples, if there are some.
    labels: Option<(Spanned, Labels)>,
    /// The time of samples in spans.
    in_spans: Duration,
    /// The error that has ended the sampler.
    failure: Option<String>,
}

impl Profile {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            by_wall: options.by_wall,
            by_thread: options.by_thread,
            threads: HashMap::new(),
            functions: Functions::new(options.lines),
            stacks: Stacks::with_limit(LIMIT),
            began: (SystemTime::now(), Instant::now()),
            timeline: (options.form == Form::Firefox).then(|| Timeline::with_limit(SAMPLES)),
            labels: None,
            in_spans: Duration::ZERO,
            failure: None,
        }
    }

    /// Samples have the spans of their labels from now on.
    pub(crate) fn label_by(&mut self, spanned: Spanned) {
        self.labels = Some((spanned, Labels::with_limit(LABELS)));
    }

    /// The time of samples in spans.
    pub(crate) fn in_spans(&self) -> Duration {
        self.in_spans
    }

    pub(crate) fn add(&mut self, info: &ProfilerInfo, sample: &Sample<'_>) {
        // Where the system does not report a thread's processor time, each sample counts as its interval.
        let time = match sample.cpu {
            Some(cpu) if !self.by_wall => cpu,
            _ => sample.elapsed,
        };
        let thread = self.thread(sample.os_thread);
        let Self {
            functions, stacks, ..
        } = self;
        let frames = sample.frames.iter().rev();
        let frames = frames.map(|frame| match frame.function {
            Some(function) => functions.number(info, function, frame.ip),
            None => NATIVE,
        });
        let mut frames: Vec<u64> = frames.collect();
        if frames.is_empty() {
            frames.push(NATIVE);
        }
        let frames = thread.into_iter().chain(frames);
        let node = stacks.add(frames, time.as_nanos() as u64);
        self.add_to_timeline(sample.os_thread, self.began.1.elapsed(), node, time);
    }

    fn add_to_timeline(&mut self, os_thread: u32, at: Duration, node: Node, time: Duration) {
        if let Some(timeline) = &mut self.timeline {
            let name = || thread_name(os_thread).unwrap_or_else(|| format!("Thread {os_thread}"));
            timeline.add(os_thread, name, at, node, time.as_nanos() as u64);
        }
    }

    /// The time of a sample that is delivered now: the thread has used the time of the sample since the one before.
    fn time_of(&self, sample: &CpuSample<'_>) -> Duration {
        let now = self.began.1.elapsed();
        let last = self
            .timeline
            .as_ref()
            .and_then(|timeline| timeline.last(sample.os_thread));
        let earliest = now.saturating_sub(LATE);
        last.map_or(earliest, |last| {
            (last + sample.cpu + sample.waited).clamp(earliest, now)
        })
    }

    /// The number of a thread, if stacks begin with their threads.
    fn thread(&mut self, os_thread: u32) -> Option<u64> {
        let functions = &mut self.functions;
        let number = || functions.of_thread(os_thread);
        self.by_thread
            .then(|| *self.threads.entry(os_thread).or_insert_with(number))
    }

    /// Adds a sample of a thread that was interrupted. Frames of one library in a row are one frame.
    pub(crate) fn add_cpu(&mut self, info: &ProfilerInfo, sample: &CpuSample<'_>) {
        let thread = self.thread(sample.os_thread);
        let Self {
            functions, stacks, ..
        } = self;
        let mut frames: Vec<u64> = Vec::with_capacity(sample.frames.len() + 1);
        let mut before = None;
        for frame in sample.frames.iter().rev() {
            let number = match &frame.code {
                CpuCode::Managed(function) => functions.number(info, *function, frame.ip),
                CpuCode::Native(library) => functions.of_library(library),
                _ => STUB,
            };
            let is_again = frame.function().is_none() && before == Some(number);
            before = Some(number);
            if !is_again {
                frames.push(number);
            }
        }
        if sample.is_broken {
            frames.insert(0, UNKNOWN);
        }
        let frames = thread.into_iter().chain(frames);
        let time = sample.cpu + sample.waited;
        let node = stacks.add(frames, time.as_nanos() as u64);
        if let Some((spanned, labels)) = &mut self.labels
            && sample.label != [0, 0]
        {
            labels.add(node, spanned(sample.label), time.as_nanos() as u64);
            self.in_spans += time;
        }
        let at = self.time_of(sample);
        self.add_to_timeline(sample.os_thread, at, node, time);
    }

    /// An error has ended the sampler.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.failure = Some(error.to_string());
    }

    /// Lines for the user of the command.
    pub(crate) fn remarks(&self, totals: &Totals) -> Vec<String> {
        let mut remarks = totals.remarks(self.total());
        if let Some(error) = &self.failure {
            remarks.push(format!("sampling has ended early: {error}"));
        }
        let left_out = self.timeline.as_ref().map_or(0, Timeline::left_out);
        if left_out > 0 {
            remarks.push(format!(
                "the file has no room for the last {left_out} samples"
            ));
        }
        let left_out = self
            .labels
            .as_ref()
            .map_or(0, |(_, labels)| labels.left_out());
        if left_out > 0 {
            remarks.push(format!(
                "the file has no room for the spans of the last {left_out} samples"
            ));
        }
        remarks
    }

    /// The time of all samples.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.stacks.total())
    }

    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.functions.forget(module);
    }

    pub(crate) fn write(
        &self,
        form: Form,
        totals: &Totals,
        overhead: Overhead,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if form == Form::Table {
            return self.table(totals, overhead, out);
        }
        let title = match (self.by_wall, totals.is_exact()) {
            (false, true) => "Processor time",
            (false, false) => "Processor time (own time is booked at the next safepoint)",
            (true, true) => "Time",
            (true, false) => "Time (own time is booked at the next safepoint)",
        };
        let (began, clock) = self.began;
        let export = Export {
            stacks: &self.stacks,
            title,
            unit: Unit::Nanoseconds,
            values: ("samples", if self.by_wall { "wall" } else { "cpu" }),
            began,
            duration: clock.elapsed(),
            timeline: self.timeline.as_ref(),
        };
        let labels = self.labels.as_ref().map(|(_, labels)| labels);
        export.write_labelled(form, labels, |number| self.functions.frame(number), out)
    }

    fn table(&self, totals: &Totals, overhead: Overhead, out: &mut dyn Write) -> io::Result<()> {
        let all = self.stacks.total().max(1) as f64;
        let mut rows: Vec<(u64, (u64, u64))> = self.stacks.by_frame().into_iter().collect();
        rows.sort_by_key(|(frame, (own, with_callees))| {
            (std::cmp::Reverse((*own, *with_callees)), *frame)
        });
        let samples = self.stacks.calls_by_frame();
        writeln!(out, "    own    own ms  samples   with callees  method")?;
        for (frame, (own, with_callees)) in rows.iter().take(ROWS) {
            let (own, with_callees) = (*own as f64, *with_callees as f64);
            let name = self.functions.frame(*frame);
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
        for words in self.remarks(totals) {
            writeln!(out, "{words}")?;
        }
        for line in totals.lines(self.total(), self.stacks.cut() as f64 / all * 100.0) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}
