//! Sampling: stack traces of all threads at an interval.
//!
//! [`CpuSampler`] is a component that interrupts each thread by its own processor time, on Linux. [`Sampler`] suspends the
//! runtime at an interval, on all platforms, and can sample threads that wait. Both call a closure with each sample; their
//! documentation has examples. A single stack trace is
//! [`do_stack_snapshot`](crate::info::CorProfilerInfo2::do_stack_snapshot).

#[allow(unsafe_code, reason = "the operating system's clocks")]
mod clock;
mod cpu;
mod pace;
mod walk;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::ids::{FunctionId, ModuleId, ThreadId};
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, lock};
use crate::worker::{Stop, Worker, is_early};

use clr_profiler_macros::component;

use pace::Pace;
use walk::Stacks;

pub use cpu::{CpuCode, CpuFrame, CpuSample, CpuSampler, CpuSamplerBuilder, CpuSamplerTotals};

/// A sample of a thread: its stack trace and its processor time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// The thread, which may have ended by now.
    pub thread: ThreadId,
    /// The operating system's id of the thread.
    pub os_thread: u32,
    /// The managed frames, innermost first. Empty if the thread has none, or if its stack could not
    /// be walked at that moment.
    pub frames: &'a [SampledFrame],
    /// Whether the stack has more frames: it was truncated at [`SamplerOptions::depth`], or when
    /// the stop had walked stacks for [`SamplerOptions::walk_time`].
    pub is_truncated: bool,
    /// The processor time of the thread since its last sample; `None` where the operating system
    /// does not provide it (all but Linux).
    pub cpu: Option<Duration>,
    /// The time since the last sample of the thread; for its first sample, since the last stop.
    pub elapsed: Duration,
}

/// A frame of a [`Sample`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFrame {
    /// The function; `None` for frames without managed code.
    pub function: Option<FunctionId>,
    /// The instruction pointer.
    pub ip: usize,
}

/// The options of a [`Sampler`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SamplerOptions {
    /// The average time between two stops of the program. Each interval is longer or shorter by a
    /// random part of it, up to a quarter, so that stops do not follow the program's rhythm.
    pub interval: Duration,
    /// The maximum number of frames in a sample. The innermost frames are kept.
    pub depth: usize,
    /// Whether waiting threads are sampled. Otherwise, where the operating system provides the
    /// processor time of threads, only threads that have used a processor are sampled, and a
    /// program that waits is not stopped at all.
    pub idle_threads: bool,
    /// The maximum time that one stop walks stacks, for all threads together. The stack being
    /// walked at its end is truncated; the next stop begins with the remaining threads.
    pub walk_time: Duration,
    /// The maximum share of the time that the program is stopped, as a long-term average. When stops
    /// have exceeded it by more than a tenth of a second, the next stop is delayed until they no longer
    /// do. Suspending takes long, for example, during a garbage collection or when the program's
    /// threads wait for a processor.
    pub most_stopped: f64,
}

impl Default for SamplerOptions {
    /// One stop per millisecond, 256 frames, no waiting threads; a stop walks stacks for at most a
    /// millisecond, and the program is stopped for at most a fifth of the time.
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(1),
            depth: 256,
            idle_threads: false,
            walk_time: Duration::from_millis(1),
            most_stopped: 0.2,
        }
    }
}

/// The totals of a [`Sampler`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplerTotals {
    /// The number of stops of the program's threads.
    pub stops: u64,
    /// The number of delivered samples.
    pub samples: u64,
    /// The number of samples whose stacks were truncated.
    pub truncated: u64,
    /// The number of stacks that could not be walked when they were sampled.
    pub failed_walks: u64,
    /// The number of threads that a stop postponed to the next one because its time was over, for
    /// all stops together.
    pub postponed: u64,
    /// The time that the threads were stopped, for all stops together.
    pub stopped: Duration,
    /// The part of `stopped` until the runtime had suspended all threads. It is spent in the
    /// runtime and the operating system, not in walking stacks.
    pub suspending: Duration,
    /// The longest stop.
    pub longest: Duration,
}

impl SamplerTotals {
    fn add(&mut self, stop: &Self) {
        self.stops += stop.stops;
        self.samples += stop.samples;
        self.truncated += stop.truncated;
        self.failed_walks += stop.failed_walks;
        self.postponed += stop.postponed;
        self.stopped += stop.stopped;
        self.suspending += stop.suspending;
        self.longest = self.longest.max(stop.longest);
    }
}

/// Samples the stacks of all managed threads, on a thread of its own.
///
/// At each interval it stops the program: it suspends the threads, copies the frames of their
/// stacks, resumes them, and then delivers the samples. It ends with [`stop`](Self::stop), and by
/// itself when the runtime shuts down or the profiler detaches.
///
/// The runtime suspends threads only at safepoints, so the innermost frames are biased: processor
/// time is attributed to the next safepoint after the code that has used it, which can be in
/// another method.
///
/// Each stop calls `ICorProfilerInfo10::SuspendRuntime`,
/// `ICorProfilerInfo4::EnumThreads`, `ICorProfilerInfo2::DoStackSnapshot` and
/// `ICorProfilerInfo10::ResumeRuntime` (.NET Core 3.0 and newer). **Events**:
/// [`ENABLE_STACK_SNAPSHOT`](EventMask::ENABLE_STACK_SNAPSHOT) and those of modules.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use clr_profiler::prelude::*;
/// use clr_profiler::sampling::{Sampler, SamplerOptions};
///
/// struct Hottest {
///     leaves: Arc<Mutex<Vec<String>>>,
/// }
///
/// #[profiler(clsid = "5B8C1C0E-3C5D-4A55-9B65-2C5A6E0B7F10")]
/// impl Profiler for Hottest {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let leaves = Arc::new(Mutex::new(Vec::new()));
///         let names = Arc::clone(&leaves);
///         setup.attach(Sampler::new(SamplerOptions::default(), move |info, sample| {
///             let function = sample.frames.first().and_then(|frame| frame.function);
///             let name = function.and_then(|function| info.method(function).ok()?.full_name().ok());
///             names.lock().unwrap_or_else(|e| e.into_inner()).extend(name);
///         }))?;
///         Ok(Hottest { leaves })
///     }
///
///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
///         let leaves = self.leaves.lock().unwrap_or_else(|e| e.into_inner());
///         eprintln!("{} samples", leaves.len());
///         Ok(())
///     }
/// }
///
/// register!(Hottest);
/// ```
pub struct Sampler {
    options: SamplerOptions,
    shared: Arc<Shared>,
    /// The closure, until the sampler is attached.
    deliver: Mutex<Option<Box<SampleHandler>>>,
    /// The thread, once the sampler is attached.
    worker: OnceLock<Worker>,
}

type SampleHandler = dyn FnMut(&ProfilerInfo, &Sample<'_>) + Send;

#[derive(Default)]
struct Shared {
    totals: Mutex<SamplerTotals>,
    /// Held from before the threads are resumed until their samples are delivered.
    delivery: Mutex<()>,
}

impl Sampler {
    /// Creates the component, to be [attached](Setup::attach). It begins to sample when
    /// `initialize` has returned and the runtime is ready. `deliver` is called on the sampler's
    /// thread while the program's threads run; a panic of it ends the sampler.
    ///
    /// The functions of a sample are valid until their modules are unloaded, which does not happen
    /// before the sample is delivered: ask for names in `deliver`.
    ///
    /// Attaching fails if the interval, the depth or the walk time is zero, if the share of the
    /// time is not above 0 and at most 1, if the runtime is older than .NET Core 3.0, or if the
    /// operating system cannot create a thread.
    #[must_use]
    pub fn new(
        options: SamplerOptions,
        deliver: impl FnMut(&ProfilerInfo, &Sample<'_>) + Send + 'static,
    ) -> Self {
        Self {
            options,
            shared: Arc::default(),
            deliver: Mutex::new(Some(Box::new(deliver))),
            worker: OnceLock::new(),
        }
    }

    /// Waits until the samples of the current stop, if there is one, are delivered.
    ///
    /// The sampler itself delays the unloading of modules. A profiler that keeps functions after
    /// the delivery calls this in [`module_unload_started`](crate::Profiler::module_unload_started)
    /// before it removes the functions of the module.
    ///
    /// **Context**: any, except while the runtime is suspended (during a collection, too), in the
    /// callbacks of exceptions, in other callbacks that receive an object, and in the closure that
    /// receives the samples.
    ///
    /// # Errors
    ///
    /// The call was made where it may not wait; it has not waited.
    pub fn wait_for_delivery(&self) -> Result<()> {
        match self.worker.get() {
            Some(worker) => {
                worker.wait_for_delivery("Sampler::wait_for_delivery", &self.shared.delivery)
            }
            None => Ok(()),
        }
    }

    /// The totals so far.
    #[must_use]
    pub fn totals(&self) -> SamplerTotals {
        *lock(&self.shared.totals)
    }

    /// Ends the sampler and waits for its end: no sample is delivered afterwards. The second call
    /// is a no-op.
    ///
    /// If the closure that receives the samples calls it, it does not wait: the remaining samples
    /// of the same stop are still delivered.
    ///
    /// **Context**: any. While the runtime is suspended (during a collection, too), in the callbacks of
    /// exceptions, and in other callbacks that receive an object, it ends the sampler without waiting,
    /// and returns an error.
    ///
    /// # Errors
    ///
    /// The error that ended the sampler earlier, such as `CORPROF_E_INCONSISTENT_WITH_FLAGS`
    /// without the event, or a panic of the closure.
    pub fn stop(&self) -> Result<()> {
        let panicked = "the closure that samples are delivered to has panicked";
        match self.worker.get() {
            Some(worker) => worker.stop("Sampler::stop", panicked),
            None => Ok(()),
        }
    }
}

#[component(crate = crate)]
impl Component for Sampler {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        const CALL: &str = "Sampler::new";
        let options = self.options.clone();
        let is_zero = options.interval.is_zero() || options.walk_time.is_zero();
        let is_share = options.most_stopped > 0.0 && options.most_stopped <= 1.0;
        if is_zero || options.depth == 0 || !is_share {
            return Err(Error::invalid(
                CALL,
                format_args!(
                    "`interval`, `depth` and `walk_time` may not be zero, and `most_stopped` is above 0 \
                     and at most 1: {options:?}"
                ),
            ));
        }
        info.check_version(CALL, 10)?;
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let deliver = lock(&self.deliver).take();
        let deliver = deliver.ok_or_else(|| Error::rule(CALL, "it was attached before"))?;
        let worker = Worker::start(info, "sampler", {
            let (info, shared) = (info.clone(), Arc::clone(&self.shared));
            move |stop| {
                let mut sampling = Sampling {
                    info: &info,
                    stacks: Stacks::new(&options),
                    options,
                    shared: &shared,
                    deliver,
                };
                sampling.run(stop)
            }
        })?;
        let _ = self.worker.set(worker);
        Ok(())
    }

    /// Delays the unloading: the closure may ask for functions of the module.
    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.wait_for_delivery()
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.stop()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // The error cannot be reported anymore.
        let _ = self.stop();
    }
}

opaque! { Sampler { this => totals: this.totals() } }

/// The sampler's thread.
struct Sampling<'a> {
    info: &'a ProfilerInfo,
    options: SamplerOptions,
    shared: &'a Shared,
    stacks: Stacks,
    deliver: Box<SampleHandler>,
}

impl Sampling<'_> {
    fn run(&mut self, stop: &Stop) -> Result<()> {
        let mut pace = Pace::new(self.options.interval, self.options.most_stopped);
        let mut last = Instant::now();
        while !stop.wait(pace.pause()) {
            let stopped = match self.sample() {
                Ok(stopped) => stopped,
                Err(error) if is_early(&error) && !self.info.has_ended() => Duration::ZERO,
                Err(error) => return Err(error),
            };
            let now = Instant::now();
            pace.stopped(stopped, now - last);
            last = now;
        }
        Ok(())
    }

    /// Samples once, and returns the time that the program was stopped.
    fn sample(&mut self) -> Result<Duration> {
        if !self.options.idle_threads && !self.stacks.is_program_busy(self.options.interval) {
            return Ok(Duration::ZERO);
        }
        let (stop, delivery) = self.stacks.walk(self.info, &self.shared.delivery)?;
        for sample in self.stacks.samples() {
            (self.deliver)(self.info, &sample);
        }
        drop(delivery);
        lock(&self.shared.totals).add(&stop);
        Ok(stop.stopped)
    }
}
