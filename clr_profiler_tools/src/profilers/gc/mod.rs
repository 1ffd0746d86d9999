//! Writes a line for each garbage collection of a .NET program: its reason, the pause of the
//! program, and the sizes of the heap before and after.

mod collection;
mod summary;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::report::{Output, Report, Session, Settings, Tool, When, failures, lock};
use clr_profiler::Overhead;
use clr_profiler::prelude::*;

use collection::{Collection, Format, Heap};
use summary::Summary;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct GcMonitor {
    state: Arc<Mutex<State>>,
    output: Arc<Output>,
    format: Format,
    report: Arc<Report>,
    session: Session,
}

struct State {
    started: Instant,
    /// When the runtime began to suspend the program's threads, if it has.
    paused: Option<Instant>,
    /// The active collections: others may occur during a concurrent one of generation 2.
    running: Vec<Collection>,
    /// Collections that have ended, to be written after the pause.
    ended: Vec<Collection>,
    summary: Summary,
    /// The counts of the last summary that was written.
    summarised: Option<[u64; 3]>,
}

#[profiler(clsid = "0FC6B97D-3335-4EF1-B21E-308F717146F4")]
impl Profiler for GcMonitor {
    crate::start_as_tool!();

    fn runtime_suspend_started(&self, _gc: &GcScope, _reason: SuspendReason) -> Result<()> {
        lock(&self.state).paused = Some(Instant::now());
        Ok(())
    }

    fn runtime_suspend_aborted(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.state).paused = None;
        Ok(())
    }

    // The program's threads run again: writing now does not prolong the pause.
    fn runtime_resume_finished(&self, _gc: &GcScope) -> Result<()> {
        let mut state = lock(&self.state);
        state.resumed();
        self.write(&mut state);
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        let before = Heap::of(&gc.generation_bounds()?);
        lock(&self.state).began(generations, reason, before);
        Ok(())
    }

    fn surviving_references2(&self, _gc: &GcScope, ranges: SurvivingRanges<'_>) -> Result<()> {
        lock(&self.state).survived(ranges.iter().map(|range| range.len()).sum());
        Ok(())
    }

    fn moved_references2(&self, _gc: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        lock(&self.state).survived(ranges.iter().map(|range| range.length).sum());
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        let after = Heap::of(&gc.generation_bounds()?);
        let mut state = lock(&self.state);
        state.ended(after);
        // The last part of a concurrent collection is not within a pause.
        if state.paused.is_none() {
            self.write(&mut state);
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl GcMonitor {
    /// Writes the lines of the ended collections.
    fn write(&self, state: &mut State) {
        let format = self.format;
        let lines: String = state.complete().map(|ended| ended.line(format)).collect();
        self.output.append(&lines);
    }
}

impl State {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            paused: None,
            running: Vec::new(),
            ended: Vec::new(),
            summary: Summary::default(),
            summarised: None,
        }
    }

    fn began(&mut self, generations: GenerationSet, reason: GcReason, before: Heap) {
        self.running.push(Collection {
            number: self.summary.begun(),
            at: self.started.elapsed(),
            generation: generations.oldest().unwrap_or(0),
            reason,
            // A concurrent one runs while the program does, except for its beginning and its end.
            pause: Duration::ZERO,
            before,
            after: Heap::default(),
            survived: None,
        });
    }

    fn survived(&mut self, bytes: usize) {
        if let Some(collection) = self.running.last_mut() {
            *collection.survived.get_or_insert(0) += bytes as u64;
        }
    }

    fn ended(&mut self, after: Heap) {
        if let Some(mut collection) = self.running.pop() {
            collection.after = after;
            self.ended.push(collection);
        }
    }

    fn resumed(&mut self) {
        let Some(paused) = self.paused.take() else {
            return;
        };
        let pause = paused.elapsed();
        for collection in self.running.iter_mut().chain(&mut self.ended) {
            collection.pause += pause;
        }
        if !(self.running.is_empty() && self.ended.is_empty()) {
            self.summary.paused(pause);
        }
    }

    /// Takes the collections that have ended and are complete.
    fn complete(&mut self) -> impl Iterator<Item = Collection> {
        let Self { ended, summary, .. } = self;
        ended
            .drain(..)
            .inspect(|collection| summary.add(collection))
    }

    /// The summary, at a possible end of the program; once, if nothing has changed since.
    fn end(&mut self, format: Format, overhead: &Overhead) -> String {
        let counts = Some(self.summary.counts());
        if self.summarised == counts {
            return String::new();
        }
        self.summarised = counts;
        self.summary.text(format, self.started.elapsed(), overhead)
    }
}

impl Tool for GcMonitor {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("gc_monitor", setup);
        // The callbacks below need everything but the events for survivors.
        setup.remove_events(EventMask::MONITOR_GC);
        if settings.is_set("GC_MONITOR_SURVIVORS") {
            setup.add_events(EventMask::MONITOR_GC);
        }
        let output = Output::lines(settings.path("GC_MONITOR_OUTPUT", "gc_monitor.txt"))?;
        let format = match settings.get("GC_MONITOR_JSON") {
            Some(_) => Format::Json,
            None => Format::Text,
        };
        let output = Arc::new(output);
        let state = Arc::new(Mutex::new(State::new()));
        let report = Arc::new(Report::start(When::default(), {
            let (state, output, info) = (Arc::clone(&state), Arc::clone(&output), info.clone());
            move |_| {
                output.append(&lock(&state).end(format, &info.overhead()));
                Ok(())
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self {
            state,
            output,
            format,
            report,
            session,
        })
    }
}
