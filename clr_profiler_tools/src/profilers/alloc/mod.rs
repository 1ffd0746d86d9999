//! Shows which types a .NET program allocates, where, and how much of it survives collections.

mod numbers;
mod options;
mod profile;
mod survival;
mod thread;

use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use crate::report::{Moment, Pace, Report, Session, Settings, Tool, When, failures, limit, lock};
use crate::stacks::Live;
use clr_profiler::heap::AllocationSamples;
use clr_profiler::prelude::*;

use options::Options;
use profile::{Profile, Samples};
use survival::Survival;
use thread::Recorder;

/// The limit for different stacks, for the running threads and for the ended ones: 24 MB each.
const STACKS: usize = 300_000;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct AllocProfiler {
    recorder: Recorder,
    /// Locked by the collector's callbacks, and briefly by others.
    survival: Arc<Mutex<Survival>>,
    wants_survival: bool,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68")]
impl Profiler for AllocProfiler {
    crate::start_as_tool!();

    fn object_allocated(
        &self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        class: ClassId,
    ) -> Result<()> {
        // First the queries about the object: names may trigger a GC.
        let size = info.object_size2(object)?;
        let (number, is_new) = self.recorder.of_type(info, class);
        if is_new && self.wants_survival {
            lock(&self.survival).named(class, number);
        }
        self.recorder.add(info, number, size as u64);
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        _generations: GenerationSet,
        _reason: GcReason,
    ) -> Result<()> {
        lock(&self.survival).began(gc.generation_bounds()?);
        Ok(())
    }

    fn surviving_references2(&self, _gc: &GcScope, ranges: SurvivingRanges<'_>) -> Result<()> {
        let mut survival = lock(&self.survival);
        ranges
            .iter()
            .for_each(|range| survival.survived(range.start, range));
        Ok(())
    }

    fn moved_references2(&self, _gc: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        let mut survival = lock(&self.survival);
        for range in ranges.iter() {
            let now = range.new_start..range.new_start.saturating_add(range.length);
            survival.survived(range.old_start, now);
        }
        Ok(())
    }

    // Called for each object in the heap, after the collector has moved them.
    fn object_references(
        &self,
        gc: &GcScope,
        object: ObjectId<'_>,
        class: Option<ClassId>,
        _references: ObjectIds<'_>,
    ) -> Result<()> {
        let Some(class) = class else {
            return Ok(());
        };
        lock(&self.survival).lives(object.address(), class, || gc.object_size(object))
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.recorder.forget();
        lock(&self.survival).forget();
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Tool for AllocProfiler {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("alloc_profiler", setup);
        let options = Options::read(settings)?;
        if let Some(problem) = options.problem(info.version()) {
            return Err(failures::refuse("alloc_profiler", problem));
        }
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        // The callbacks below would request all of them.
        let exact = EventMask::MONITOR_OBJECT_ALLOCATED | EventMask::ENABLE_OBJECT_ALLOCATED;
        if options.sampled {
            setup.remove_events(exact);
        }
        if !options.survival {
            setup.remove_events(EventMask::MONITOR_GC | EventMask::HIGH_BASIC_GC);
        }
        let live = Live::with_limit(limit("ALLOC_PROFILER_LIMIT_STACKS", STACKS));
        let recorder = Recorder::new(live, options.depth());
        let survival = Arc::new(Mutex::new(Survival::default()));
        // The runtime's own samples, if they are requested.
        if options.sampled {
            let recorder = recorder.clone();
            setup.attach(AllocationSamples::new(move |info, sample| {
                recorder.add_sample(info, &sample);
                Ok(())
            }))?;
        }
        let wants_survival = options.survival;
        let sampling = match options.sampled {
            true => Some(AllocationSamples::are_random(info)?),
            false => None,
        };
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (recorder, survival) = (recorder.clone(), Arc::clone(&survival));
            let (info, settings) = (info.clone(), settings.clone());
            let mut pace = Pace::start();
            let first = (SystemTime::now(), Instant::now());
            move |moment| {
                let written = pace.replace(&options.output, moment, |file| {
                    let profile = Profile {
                        stacks: recorder.stacks(),
                        names: recorder.numbers.names(),
                        threads: recorder.threads(),
                        survival: options.survival.then(|| {
                            let survival = lock(&survival);
                            (survival.collections, survival.bytes())
                        }),
                        overhead: info.overhead(),
                        samples: sampling.map(|is_random| Samples {
                            is_random,
                            number: recorder.samples(),
                        }),
                        form: options.form,
                        began: first,
                    };
                    profile.write(file)
                });
                if let (Moment::End, Some(is_random)) = (moment, sampling) {
                    let number = recorder.samples();
                    Session::say(&settings, Samples { is_random, number });
                }
                written
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self {
            recorder,
            survival,
            wants_survival,
            report,
            session,
        })
    }
}
