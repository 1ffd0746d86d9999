//! Writes a line for each garbage collection of a .NET program: its reason, the pause of the
//! program, and the sizes of the heap before and after; and the code that triggers it.

mod collection;
mod collections;
mod summary;
mod triggers;

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::profilers::form;
use crate::profilers::names::Names;
use crate::report::{Moment, Output, Pace, Report, Session, Settings, Tool, When, failures, lock};
use crate::stacks::Form;
use clr_profiler::Overhead;
use clr_profiler::heap::CollectionTriggers;
use clr_profiler::prelude::*;

use collection::{Collection, Format, Heap};
use collections::Collections;
use summary::Summary;
use triggers::{Named, Trigger, Triggers};

/// The limit for collections whose triggers have no names yet: more are not met within the time after which they
/// get them.
const UNNAMED: usize = 1000;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct GcMonitor {
    state: Arc<Mutex<State>>,
    log: Arc<Log>,
    report: Arc<Report>,
    session: Session,
}

/// Where collections are written.
struct Log {
    /// Held while functions are named, whose modules must not be unloaded meanwhile.
    naming: Mutex<()>,
    output: Output,
    format: Format,
    /// A format of stacks has no lines.
    form: Form,
    /// If triggers are recorded.
    triggers: Option<Mutex<Triggers>>,
    names: Names,
}

struct State {
    /// Those that have ended are written after the pause.
    collections: Collections,
    summary: Summary,
    /// The counts of the last summary that was written.
    summarised: Option<[u64; 3]>,
    /// Collections that are written when their triggers have names.
    unnamed: Vec<Collection>,
}

#[profiler(clsid = "0FC6B97D-3335-4EF1-B21E-308F717146F4")]
impl Profiler for GcMonitor {
    crate::start_as_tool!();

    fn runtime_suspend_started(&self, _gc: &GcScope, _reason: SuspendReason) -> Result<()> {
        lock(&self.state).collections.suspends();
        Ok(())
    }

    fn runtime_suspend_aborted(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.state).collections.suspends_not();
        Ok(())
    }

    // The program's threads run again: writing now does not prolong the pause.
    fn runtime_resume_finished(&self, _gc: &GcScope) -> Result<()> {
        let mut state = lock(&self.state);
        state.resumed();
        self.log.write(&mut state);
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        let before = Heap::of(&gc.generation_bounds()?);
        let generation = generations.oldest().unwrap_or(0);
        lock(&self.state).began(generation, reason, before);
        Ok(())
    }

    fn surviving_references2(&self, _gc: &GcScope, ranges: SurvivingRanges<'_>) -> Result<()> {
        let bytes = ranges.iter().map(|range| range.len()).sum();
        lock(&self.state).collections.survived(bytes);
        Ok(())
    }

    fn moved_references2(&self, _gc: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        let bytes = ranges.iter().map(|range| range.length).sum();
        lock(&self.state).collections.survived(bytes);
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        let after = Heap::of(&gc.generation_bounds()?);
        let mut state = lock(&self.state);
        state.collections.ended(after);
        // The last part of a concurrent collection is not within a pause.
        if !state.collections.is_paused() {
            self.log.write(&mut state);
        }
        Ok(())
    }

    // The functions of its stacks lose their names.
    fn module_unload_started(&self, info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.log.forget(info, &self.state);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Log {
    /// Writes the lines of the ended collections, or keeps them until their triggers have names.
    fn write(&self, state: &mut State) {
        let mut ended = state.complete();
        if self.triggers.is_some() {
            let room = UNNAMED.saturating_sub(state.unnamed.len());
            let kept = ended.drain(..ended.len().min(room));
            state.unnamed.extend(kept);
        }
        // Those for which there is no room do without.
        if !self.form.has_stacks() {
            let line = |collection: &Collection| collection.line(self.format, None);
            let lines: String = ended.iter().map(line).collect();
            self.output.append(&lines);
        }
    }

    /// Gives the triggers of collections their names, and writes the collections. Not while the runtime is suspended.
    fn name(&self, info: &ProfilerInfo, state: &Mutex<State>) {
        let _naming = lock(&self.naming);
        self.name_unnamed(info, state);
    }

    /// A module is unloaded: the functions of all stacks are named or forgotten before.
    fn forget(&self, info: &ProfilerInfo, state: &Mutex<State>) {
        let _naming = lock(&self.naming);
        // First, so that no collection that ends meanwhile brings one of them.
        lock(state).collections.forget_stacks();
        self.name_unnamed(info, state);
        self.names.forget();
    }

    fn name_unnamed(&self, info: &ProfilerInfo, state: &Mutex<State>) {
        let Some(triggers) = &self.triggers else {
            return;
        };
        let unnamed = std::mem::take(&mut lock(state).unnamed);
        let mut lines = String::new();
        for collection in unnamed {
            let trigger = collection.trigger.as_ref().map(|trigger| {
                let places = trigger.stack.iter().map(|function| (*function, 0));
                Named {
                    reason: trigger.reason,
                    frames: places
                        .map(|place| self.names.frame(info, place, false))
                        .collect(),
                }
            });
            lines += &collection.line(self.format, trigger.as_ref());
            if let Some(trigger) = trigger {
                lock(triggers).add(&collection, &trigger);
            }
        }
        if !self.form.has_stacks() {
            self.output.append(&lines);
        }
    }

    /// The table of triggers, for the end of the lines.
    fn table(&self) -> String {
        let Some(triggers) = &self.triggers else {
            return String::new();
        };
        match self.format {
            Format::Text => lock(triggers).text(),
            Format::Json => lock(triggers).json(),
        }
    }

    fn stacks(&self, out: &mut dyn Write) -> std::io::Result<()> {
        // A copy: a disk may take long.
        let triggers = self
            .triggers
            .as_ref()
            .map(|triggers| lock(triggers).clone());
        triggers.map_or(Ok(()), |triggers| triggers.write(self.form, out))
    }
}

impl State {
    fn new() -> Self {
        Self {
            collections: Collections::new(),
            summary: Summary::default(),
            summarised: None,
            unnamed: Vec::new(),
        }
    }

    fn began(&mut self, generation: u32, reason: GcReason, before: Heap) {
        let number = self.summary.begun();
        self.collections.began(number, generation, reason, before);
    }

    fn resumed(&mut self) {
        if let Some(pause) = self.collections.resumed() {
            self.summary.paused(pause);
        }
    }

    /// Takes the collections that have ended and are complete.
    fn complete(&mut self) -> Vec<Collection> {
        let ended = self.collections.complete();
        ended
            .iter()
            .for_each(|collection| self.summary.add(collection));
        ended
    }

    /// The summary, at a possible end of the program; once, if nothing has changed since.
    fn end(&mut self, format: Format, overhead: &Overhead) -> String {
        let counts = Some(self.summary.counts());
        if self.summarised == counts {
            return String::new();
        }
        self.summarised = counts;
        self.summary
            .text(format, self.collections.elapsed(), overhead)
    }

    /// The sum of the pauses so far, for a line.
    fn sum(&self) -> String {
        self.summary.sum(self.collections.elapsed())
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
        let path = settings.path("GC_MONITOR_OUTPUT", "gc_monitor.txt");
        let format = match settings.get("GC_MONITOR_JSON") {
            Some(_) => Format::Json,
            None => Format::Text,
        };
        // Lines of JSON are no file for a viewer of stacks, whatever it is called.
        let form = match format {
            Format::Text => form(settings, "GC_MONITOR_FORMAT", &path)?,
            Format::Json => Form::Table,
        };
        let wants_triggers = settings.is_set("GC_MONITOR_TRIGGERS") || form.has_stacks();
        let state = Arc::new(Mutex::new(State::new()));
        if wants_triggers {
            watch_triggers(info, setup, &state)?;
        } else {
            // For the names of triggers alone.
            setup.remove_events(EventMask::MONITOR_MODULE_LOADS);
        }
        let log = Arc::new(Log {
            naming: Mutex::default(),
            output: match form.has_stacks() {
                true => Output::whole(path)?,
                false => Output::lines(path)?,
            },
            format,
            form,
            triggers: wants_triggers.then(|| Mutex::new(Triggers::new())),
            names: Names::default(),
        });
        let when = match wants_triggers {
            true => When::every(Pace::LOOK),
            false => When::default(),
        };
        let report = Arc::new(Report::start(when, {
            let (state, log, info) = (Arc::clone(&state), Arc::clone(&log), info.clone());
            let settings = settings.clone();
            let mut pace = Pace::start();
            move |moment| {
                log.name(&info, &state);
                if form.has_stacks() {
                    if moment == Moment::End {
                        Session::say(&settings, lock(&state).sum());
                    }
                    return pace.replace(&log.output, moment, |file| log.stacks(file));
                }
                if moment != Moment::Meanwhile {
                    let end = lock(&state).end(log.format, &info.overhead());
                    let table = if end.is_empty() {
                        end.clone()
                    } else {
                        log.table()
                    };
                    log.output.append(&(table + &end));
                }
                Ok(())
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self {
            state,
            log,
            report,
            session,
        })
    }
}

/// Has the latest trigger be known.
fn watch_triggers(info: &ProfilerInfo, setup: &mut Setup, state: &Arc<Mutex<State>>) -> Result<()> {
    if info.version() < crate::profilers::TRACING {
        let problem = "the code that triggers collections is told by the runtime's own tracing, which profilers get from .NET 5 on, and \
                       this runtime is older: start it without `--triggers`, and with another ending than those of stacks";
        return Err(failures::refuse("gc_monitor", problem));
    }
    let state = Arc::clone(state);
    setup.attach(CollectionTriggers::with_depth(
        triggers::DEPTH,
        move |trigger| {
            lock(&state).collections.triggered(Trigger {
                reason: trigger.reason,
                stack: trigger.stack.to_vec(),
            });
        },
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_that_wait_for_names_are_limited() {
        let path = std::env::temp_dir().join(format!("gc-unnamed-{}", std::process::id()));
        let log = Log {
            naming: Mutex::default(),
            output: Output::lines(path.clone()).unwrap(),
            format: Format::Text,
            form: Form::Table,
            triggers: Some(Mutex::new(Triggers::new())),
            names: Names::default(),
        };
        let mut state = State::new();
        for _ in 0..UNNAMED + 3 {
            state.began(0, GcReason::Induced, Heap::default());
            state.collections.ended(Heap::default());
            log.write(&mut state);
        }
        assert_eq!(state.unnamed.len(), UNNAMED);
        let lines = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(lines.lines().count(), 3, "{lines}");
        assert!(lines.starts_with("[gc 1001] "), "{lines}");
    }
}
