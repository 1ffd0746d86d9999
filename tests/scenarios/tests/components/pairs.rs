//! The components of the library, alone and together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::heap::{AllocationTicks, HeapRecorder};
use clr_profiler::hooks::{CallHooks, HookedFunction, UnwindStep, Unwinding};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler::sampling::{Sampler, SamplerOptions};
use scenario_support::{clsid, log};

/// Attaches the components that `PAIR` names, separated by commas, and logs the results of each at the end.
#[derive(Default)]
pub(crate) struct Pairs {
    rejit: Option<Arc<Rejit>>,
    heap: Option<Arc<HeapRecorder>>,
    sampler: Option<Arc<Sampler>>,
    counts: Arc<Counts>,
    /// Whether the program's type is on its heap.
    recorded: OnceLock<bool>,
}

#[derive(Default)]
struct Counts {
    hooks: AtomicU64,
    thrown: AtomicU64,
    caught: AtomicU64,
    ticks: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

struct Enters(Arc<Counts>);

// SAFETY: the hook touches an atomic.
unsafe impl CallHooks for Enters {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {
        count(&self.0.hooks);
    }
}

fn has(what: &str) -> bool {
    let pair = std::env::var("PAIR").unwrap_or_default();
    pair.split(',').any(|one| one == what)
}

#[profiler(clsid = clsid("Pairs"))]
impl Profiler for Pairs {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut pairs = Self::default();
        let counts = || Arc::clone(&pairs.counts);
        if has("rejit") {
            let rejit = Rejit::new(RejitOptions::default(), |info, module, method, control| {
                control.rewrite(info, module, method, |body, _| {
                    body.before_ret(Fragment::new().ldc_i4(1).add())?;
                    Ok(())
                })?;
                Ok(())
            });
            let rejit = setup.attach(rejit)?;
            rejit.request_pattern(&"Waits!Waits.Program.Work1".parse()?);
            pairs.rejit = Some(rejit);
        }
        if has("heap") {
            pairs.heap = Some(setup.attach(HeapRecorder::new())?);
        }
        if has("sampler") {
            let mut options = SamplerOptions::default();
            options.idle_threads = true;
            pairs.sampler = Some(setup.attach(Sampler::new(options, |_, _| {}))?);
        }
        if has("hooks") {
            setup.hooks(Enters(counts()), |info, function| {
                let name = info.method(function).and_then(|method| method.full_name());
                let is_catch = name.is_ok_and(|name| name == "Waits.Program.Catch(int)");
                Ok(is_catch.then_some(()))
            })?;
        }
        if has("unwinding") {
            let counts = counts();
            setup.attach(Unwinding::new(move |step| {
                if let UnwindStep::Caught | UnwindStep::Handle(_) = step {
                    count(&counts.caught);
                }
            }))?;
        }
        if has("exceptions") {
            let counts = counts();
            setup.attach(ExceptionEvents::new(move |_, event| {
                if let ExceptionEvent::Thrown(thrown) = event
                    && thrown.type_name == "Waits.Thrown"
                {
                    count(&counts.thrown);
                }
                Ok(())
            }))?;
        }
        if has("ticks") {
            let counts = counts();
            setup.attach(AllocationTicks::new(move |_, _| {
                count(&counts.ticks);
                Ok(())
            }))?;
        }
        Ok(pairs)
    }

    // The last command to the program.
    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let Some(heap) = &self.heap else {
            return Ok(());
        };
        if method.assembly_name()? == "Waits" && method.name()? == "Work7" {
            let (heap, info) = (Arc::clone(heap), info.clone());
            // On a thread that never ran managed code; this one waits in preemptive mode.
            let recording = thread::spawn(move || heap.record(&info));
            let graph = recording
                .join()
                .map_err(|_| Error::other("it panicked"))??;
            let mut classes = graph.classes().iter();
            let _ = (self.recorded).set(classes.any(|class| class.name.contains("Thread")));
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if let Some(rejit) = &self.rejit {
            for outcome in rejit.outcomes() {
                log::line(format_args!("rejit {:?}", outcome.state));
            }
        }
        if self.heap.is_some() {
            log::line(format_args!("heap {:?}", self.recorded.get()));
        }
        if let Some(sampler) = &self.sampler {
            let stopped = sampler.stop();
            let totals = sampler.totals();
            let is_used = totals.stops > 0 && totals.samples > 0;
            log::line(format_args!("sampler {is_used} {stopped:?}"));
        }
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = &self.counts;
        if has("hooks") {
            log::line(format_args!("hooks {}", read(&counts.hooks)));
        }
        if has("unwinding") {
            log::line(format_args!("unwinding {}", read(&counts.caught)));
        }
        if has("exceptions") {
            log::line(format_args!("exceptions {}", read(&counts.thrown)));
        }
        if has("ticks") {
            log::line(format_args!("ticks {}", read(&counts.ticks) > 0));
        }
        Ok(())
    }
}
