//! Tells a command the hot methods, threads, allocations, collections and exceptions of a running program, once a period.

mod collections;
mod message;
mod window;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::report::{Moment, Output, Report, Session, Settings, Tool, When, failures, lock};
use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::heap::AllocationTicks;
use clr_profiler::prelude::*;
use clr_profiler::sampling::{CpuSampler, Sampler, SamplerOptions};

use collections::Collections;
use window::Window;

/// The first version of the interface with the runtime's own samples of allocations: that of .NET 5.
const ALLOCATIONS: u8 = 12;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct LiveMonitor {
    sampling: Arc<Sampling>,
    window: Arc<Mutex<Window>>,
    collections: Arc<Mutex<Collections>>,
    report: Arc<Report>,
    session: Session,
}

/// One of the samplers.
enum Sampling {
    OnThread(Arc<CpuSampler>),
    /// Where the other one is not available.
    Suspending(Arc<Sampler>),
}

#[profiler(clsid = "6D2F8C41-93B7-4E05-A1D8-5C7E40B9F263")]
impl Profiler for LiveMonitor {
    crate::start_as_tool!();

    fn runtime_suspend_started(&self, _gc: &GcScope, reason: SuspendReason) -> Result<()> {
        lock(&self.collections).suspending(reason);
        Ok(())
    }

    fn runtime_suspend_aborted(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.collections).aborted();
        Ok(())
    }

    fn runtime_resume_finished(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.collections).resumed();
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        generations: GenerationSet,
        _reason: GcReason,
    ) -> Result<()> {
        lock(&self.collections).began(generations);
        Ok(())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let name = info.class_full_name(info.class_from_object(thrown)?);
        let name = name.as_deref().unwrap_or("[unknown type]");
        lock(&self.window).thrown(name);
        Ok(())
    }

    // The samples that are delivered now may contain functions of the module, which are then forgotten.
    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let waited = match &*self.sampling {
            Sampling::OnThread(sampler) => sampler.wait_for_delivery(),
            Sampling::Suspending(sampler) => sampler.wait_for_delivery(),
        };
        lock(&self.window).forget(module);
        waited
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let stopped = self.sampling.stop();
        self.report.finish();
        self.session.end();
        stopped
    }
}

impl Sampling {
    fn attach(setup: &mut Setup, window: &Arc<Mutex<Window>>) -> Result<Self> {
        let window = Arc::clone(window);
        if CpuSampler::check().is_ok() {
            let sampler = CpuSampler::builder()
                .build(move |info, sample| lock(&window).add_cpu(info, sample));
            return Ok(Self::OnThread(setup.attach(sampler)?));
        }
        let mut options = SamplerOptions::default();
        options.interval = Duration::from_millis(10);
        let sampler = Sampler::new(options, move |info, sample| lock(&window).add(info, sample));
        Ok(Self::Suspending(setup.attach(sampler)?))
    }

    fn stop(&self) -> Result<()> {
        match self {
            Self::OnThread(sampler) => sampler.stop(),
            Self::Suspending(sampler) => sampler.stop(),
        }
    }

    /// Whether own time is booked where it was used.
    fn is_exact(&self) -> bool {
        matches!(self, Self::OnThread(_))
    }
}

/// The time between two messages: `TOP_PERIOD` is a number of milliseconds.
fn period(settings: &Settings) -> Result<Duration> {
    let Some(text) = settings.text("TOP_PERIOD")? else {
        return Ok(Duration::from_secs(1));
    };
    match text.parse() {
        Ok(milliseconds @ 100..=60_000) => Ok(Duration::from_millis(milliseconds)),
        _ => Err(Error::other(format!(
            "the period `{text}` is not a number of milliseconds from 100 to 60000"
        ))),
    }
}

impl Tool for LiveMonitor {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("live_monitor", setup);
        // The callbacks of collections need everything but the events for survivors.
        setup.remove_events(EventMask::MONITOR_GC);
        let output = Output::lines(settings.path("TOP_OUTPUT", "top.jsonl"))?;
        let has_allocations = info.version() >= ALLOCATIONS;
        let window = Arc::new(Mutex::new(Window::new(has_allocations)));
        let collections = Arc::new(Mutex::new(Collections::default()));
        let sampling = Arc::new(Sampling::attach(setup, &window)?);
        if has_allocations {
            let window = Arc::clone(&window);
            setup.attach(AllocationTicks::new(move |info, tick| {
                // Asked before the lock is taken, for types that are new.
                let known = lock(&window).allocated(tick.class, tick.bytes);
                if !known {
                    let name = info.class_full_name(tick.class);
                    let name = name.as_deref().unwrap_or("[unknown type]");
                    lock(&window).allocated_first(tick.class, name, tick.bytes);
                }
                Ok(())
            }))?;
        }
        // For runtimes on which the callbacks of exceptions are dangerous.
        setup.attach(ExceptionEvents::instead_of_callbacks({
            let window = Arc::clone(&window);
            move |_, event| {
                if let ExceptionEvent::Thrown(thrown) = event {
                    lock(&window).thrown(&thrown.type_name);
                }
                Ok(())
            }
        }))?;
        let report = Arc::new(Report::start(When::every(period(settings)?), {
            let (window, collections) = (Arc::clone(&window), Arc::clone(&collections));
            let sampling = Arc::clone(&sampling);
            let began = Instant::now();
            move |moment| {
                if moment == Moment::Meanwhile {
                    let window = lock(&window).take();
                    let collections = lock(&collections).clone();
                    let is_exact = sampling.is_exact();
                    let line = message::line(&window, &collections, began.elapsed(), is_exact);
                    output.append(&line);
                }
                Ok(())
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let (report, sampling) = (Arc::clone(&report), Arc::clone(&sampling));
            move || {
                if let Err(error) = sampling.stop() {
                    failures::add("failed", error);
                }
                report.finish();
            }
        })?;
        Ok(Self {
            sampling,
            window,
            collections,
            report,
            session,
        })
    }
}
