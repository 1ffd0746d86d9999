//! [`Sampler`]: looks at the stacks of all threads every now and then.

#[allow(unsafe_code, reason = "the operating system's clocks")]
mod clock;
mod walk;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::ids::{FunctionId, ThreadId};
use crate::info::ProfilerInfo;
use crate::worker::{Stop, Worker, is_early};

use walk::Stacks;

/// What a thread was doing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// The thread, which may have ended by now.
    pub thread: ThreadId,
    /// The id that the operating system gives it.
    pub os_thread: u32,
    /// The managed frames, innermost first. None where the thread has none, and where its stack
    /// could not be walked at that moment.
    pub frames: &'a [SampledFrame],
    /// Whether the stack has more frames than [`SamplerOptions::depth`].
    pub is_cut: bool,
    /// The time that the thread has used a processor for since the last look at it; none where the
    /// operating system does not tell (all but Linux).
    pub cpu: Option<Duration>,
    /// The time since the last look at the threads.
    pub elapsed: Duration,
}

/// A frame of a [`Sample`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFrame {
    /// The function; none stands for frames without managed code.
    pub function: Option<FunctionId>,
    /// The instruction pointer.
    pub ip: usize,
}

/// How a [`Sampler`] works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SamplerOptions {
    /// The time between two looks, on average. Each takes a random part of it more or less, up to a
    /// quarter, so that it does not fall into step with the program.
    pub interval: Duration,
    /// How many frames of a stack are looked at, the innermost ones.
    pub depth: usize,
    /// Whether threads are sampled that wait. Otherwise, where the operating system tells how long
    /// a thread has used a processor, only those that have used one; a program that waits is then
    /// not stopped at all.
    pub idle_threads: bool,
}

impl Default for SamplerOptions {
    /// A millisecond, 256 frames, no threads that wait.
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(1),
            depth: 256,
            idle_threads: false,
        }
    }
}

/// What a [`Sampler`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplerTotals {
    /// How often the program's threads were stopped for a look.
    pub looks: u64,
    /// How many samples were delivered.
    pub samples: u64,
    /// Stacks that could not be walked at that moment.
    pub failed_walks: u64,
    /// For how long the threads were stopped, all looks together.
    pub stopped: Duration,
}

/// Looks at the stacks of all managed threads every now and then, on a thread of its own.
///
/// It stops the program's threads for each look, copies what is on their stacks, lets them go on, and
/// then hands the samples out. It ends with [`stop`](Self::stop), when it is dropped, and by itself
/// when the runtime shuts down or the profiler detaches.
///
/// Wraps no call of its own: each look is `ICorProfilerInfo10::SuspendRuntime`,
/// `ICorProfilerInfo4::EnumThreads`, `ICorProfilerInfo2::DoStackSnapshot` and
/// `ICorProfilerInfo10::ResumeRuntime` (.NET Core 3.0 and newer). **Events**:
/// [`ENABLE_STACK_SNAPSHOT`](crate::EventMask::ENABLE_STACK_SNAPSHOT).
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use clr_profiler::prelude::*;
/// use clr_profiler::{Sampler, SamplerOptions};
///
/// struct Hottest {
///     sampler: Sampler,
///     leaves: Arc<Mutex<Vec<String>>>,
/// }
///
/// #[profiler(clsid = "5B8C1C0E-3C5D-4A55-9B65-2C5A6E0B7F10")]
/// impl Profiler for Hottest {
///     fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
///         let leaves = Arc::new(Mutex::new(Vec::new()));
///         let (names, asks) = (Arc::clone(&leaves), info.clone());
///         let sampler = Sampler::start(info, SamplerOptions::default(), move |sample| {
///             let function = sample.frames.first().and_then(|frame| frame.function);
///             let name = function.and_then(|function| asks.method(function).ok()?.full_name().ok());
///             names.lock().unwrap_or_else(|e| e.into_inner()).extend(name);
///         })?;
///         Ok(Hottest { sampler, leaves })
///     }
///
///     // The functions of a module are asked for before they go.
///     fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
///         self.sampler.wait_for_delivery();
///         Ok(())
///     }
///
///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
///         self.sampler.stop()?;
///         let leaves = self.leaves.lock().unwrap_or_else(|e| e.into_inner());
///         eprintln!("{} samples", leaves.len());
///         Ok(())
///     }
/// }
///
/// register!(Hottest);
/// ```
pub struct Sampler {
    worker: Worker,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    totals: Mutex<SamplerTotals>,
    /// Held from before the threads go on until their samples are delivered.
    delivery: Mutex<()>,
}

impl Sampler {
    /// Begins to sample. The program's threads run while `deliver` is called, on the sampler's
    /// thread; a panic of it ends the sampler.
    ///
    /// It may be called in `initialize`: the sampler begins as soon as the runtime is ready.
    ///
    /// A function of a sample is there for as long as its module is: see
    /// [`wait_for_delivery`](Self::wait_for_delivery).
    ///
    /// # Errors
    ///
    /// The interval or the depth is zero, the runtime is older than .NET Core 3.0, or the operating
    /// system refuses a thread.
    pub fn start(
        info: &ProfilerInfo,
        options: SamplerOptions,
        deliver: impl FnMut(&Sample<'_>) + Send + 'static,
    ) -> Result<Self> {
        const CALL: &str = "Sampler::start";
        if options.interval.is_zero() || options.depth == 0 {
            return Err(Error::invalid(
                CALL,
                format_args!("neither the interval nor the depth may be zero: {options:?}"),
            ));
        }
        if info.version() < 10 {
            return Err(Error::unsupported(CALL, 10, info.version()));
        }
        let shared = Arc::new(Shared::default());
        let worker = Worker::start(info, "sampler", {
            let (info, shared) = (info.clone(), Arc::clone(&shared));
            move |stop| {
                let mut looks = Looks {
                    info: &info,
                    stacks: Stacks::new(&options),
                    options,
                    shared: &shared,
                    deliver,
                    last: Instant::now(),
                };
                looks.run(stop)
            }
        })?;
        Ok(Self { worker, shared })
    }

    /// Waits until the samples of the present look, if there is one, are delivered.
    ///
    /// A function is gone with its module. To ask for the names of functions safely in a program that
    /// unloads modules, call this in
    /// [`module_unload_started`](crate::Profiler::module_unload_started), and ask while a sample is
    /// being delivered.
    ///
    /// **Context**: any but during a collection.
    pub fn wait_for_delivery(&self) {
        drop(lock(&self.shared.delivery));
    }

    /// What was done so far.
    pub fn totals(&self) -> SamplerTotals {
        *lock(&self.shared.totals)
    }

    /// Ends the sampler and waits for its end: no sample is delivered afterwards. Does nothing the
    /// second time.
    ///
    /// Called in the closure that samples are delivered to, it does not wait: the samples of the same
    /// stop are still delivered.
    ///
    /// **Context**: any but during a collection. In the callbacks of exceptions, and others that get an
    /// object, the sampler ends but is not waited for: that is an error.
    ///
    /// # Errors
    ///
    /// What made the sampler end before, such as `CORPROF_E_INCONSISTENT_WITH_FLAGS` without the
    /// event, or a panic of the closure.
    pub fn stop(&self) -> Result<()> {
        let panicked = "the closure that samples are delivered to has panicked";
        self.worker.stop("Sampler::stop", panicked)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.stop();
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}

/// What the sampler's thread has.
struct Looks<'a, D> {
    info: &'a ProfilerInfo,
    options: SamplerOptions,
    shared: &'a Shared,
    stacks: Stacks,
    deliver: D,
    last: Instant,
}

impl<D: FnMut(&Sample<'_>)> Looks<'_, D> {
    fn run(&mut self, stop: &Stop) -> Result<()> {
        let mut chance = Chance::new();
        while !stop.wait(chance.vary(self.options.interval)) {
            match self.look() {
                Err(error) if !is_early(&error) || self.info.has_ended() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<()> {
        if !self.options.idle_threads && !self.stacks.is_program_busy(self.options.interval) {
            return Ok(());
        }
        let now = Instant::now();
        let elapsed = now - std::mem::replace(&mut self.last, now);
        let walked = self.stacks.walk(self.info, &self.shared.delivery)?;
        let mut samples = 0;
        for (thread, frames) in self.stacks.walked() {
            samples += 1;
            (self.deliver)(&Sample {
                thread: thread.id,
                os_thread: thread.os_thread,
                frames,
                is_cut: thread.is_cut,
                cpu: thread.cpu,
                elapsed,
            });
        }
        drop(walked.delivery);
        let mut totals = lock(&self.shared.totals);
        totals.looks += 1;
        totals.samples += samples;
        totals.failed_walks += walked.failed;
        totals.stopped += walked.stopped;
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers that do not follow the program's rhythm; nobody's secrets hang on them.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        // Where the stack lies differs from run to run.
        let here = 0_u8;
        Self((&raw const here as u64) | 1)
    }

    /// Up to a quarter more or less.
    fn vary(&mut self, interval: Duration) -> Duration {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let part = (self.0 >> 40) as f64 / (1_u64 << 24) as f64;
        interval.mul_f64(0.75 + part / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_vary_around_the_interval() {
        let mut chance = Chance::new();
        let interval = Duration::from_millis(100);
        let pauses: Vec<Duration> = (0..1000).map(|_| chance.vary(interval)).collect();
        let (low, high) = (interval.mul_f64(0.75), interval.mul_f64(1.25));
        assert!(pauses.iter().all(|pause| (low..=high).contains(pause)));
        let mean = pauses.iter().sum::<Duration>() / 1000;
        assert!(
            mean > interval.mul_f64(0.97) && mean < interval.mul_f64(1.03),
            "{mean:?}"
        );
        assert!(pauses.windows(2).all(|two| two[0] != two[1]));
    }
}
