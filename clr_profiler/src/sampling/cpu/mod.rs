//! [`CpuSampler`]: stacks at intervals of each thread's own processor time.

/// Declares modules for the platforms with timers, signals and frames that the sampler knows.
macro_rules! on_platforms {
    ($($(#[$attribute:meta])* mod $module:ident;)*) => {$(
        #[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
        $(#[$attribute])*
        mod $module;
    )*};
}

on_platforms! {
    mod code;
    mod engine;
    #[allow(unsafe_code, reason = "the kernel's events and their memory")]
    mod event;
    mod feed;
    mod maps;
    mod native;
    #[cfg(target_arch = "x86_64")]
    mod precompiled;
    mod prologue;
    #[allow(unsafe_code, reason = "a call of the system about its memory")]
    mod query;
    #[allow(unsafe_code, reason = "the handler of a signal")]
    mod signal;
    #[allow(unsafe_code, reason = "memory that a handler writes")]
    mod slot;
    mod threads;
    #[allow(unsafe_code, reason = "the system's timers")]
    mod timer;
    #[cfg(all(test, target_arch = "x86_64"))]
    mod unwind_data;
    mod waiting;
    mod walk;
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "unsupported.rs"]
mod engine;

#[allow(unsafe_code, reason = "a function that a handler calls")]
mod label;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId, ThreadId};
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, lock};

use clr_profiler_macros::component;

use engine::Engine;
use label::{Label, WaitLabel};

/// A sample of a [`CpuSampler`]: the stack of a thread that was using a processor, or that was waiting.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CpuSample<'a> {
    /// The thread, which may have ended by now.
    pub thread: ThreadId,
    /// The operating system's id of the thread.
    pub os_thread: u32,
    /// The number of intervals of processor time since the last sample of the thread: 1, and one more for each that passed before the
    /// system could interrupt the thread.
    pub weight: u32,
    /// The processor time to count for the sample: the interval times the weight.
    pub cpu: Duration,
    /// The time for which the thread has waited there: not zero only with [`CpuSamplerBuilder::wall_clock`], for samples of threads
    /// that use no processor.
    pub waited: Duration,
    /// The frames, innermost first; at least one.
    pub frames: &'a [CpuFrame],
    /// Whether the stack has more frames than [`CpuSamplerBuilder::depth`].
    pub is_truncated: bool,
    /// Whether the stack could not be walked to its end, nor to the code of the runtime that called the outermost managed
    /// method. The frames up to there are right.
    pub is_broken: bool,
    /// The numbers that the function of [`CpuSamplerBuilder::label`] has returned on the thread, or that of
    /// [`CpuSamplerBuilder::label_waits`] about it, if it waited; zeros without one.
    pub label: [u64; 2],
}

/// A frame of a [`CpuSample`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuFrame {
    /// The address of the next instruction.
    pub ip: usize,
    /// The owner of the code.
    pub code: CpuCode,
}

/// The code of a [`CpuFrame`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuCode {
    /// Compiled code of a method: precompiled, of any tier, or rejitted.
    Managed(FunctionId),
    /// Code of a native library, by the name of its file.
    Native(Arc<str>),
    /// Code that the runtime generates: stubs, helpers, marshalling.
    Stub,
}

impl CpuFrame {
    /// The method, if it is one.
    #[must_use]
    pub fn function(&self) -> Option<FunctionId> {
        match self.code {
            CpuCode::Managed(function) => Some(function),
            _ => None,
        }
    }
}

/// The totals of a [`CpuSampler`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuSamplerTotals {
    /// The number of delivered samples of threads that used a processor.
    pub samples: u64,
    /// The sum of their [weights](CpuSample::weight).
    pub intervals: u64,
    /// The sum of their [processor times](CpuSample::cpu).
    pub cpu: Duration,
    /// The number of delivered samples of threads that waited.
    pub waits: u64,
    /// The sum of the times for which they [waited](CpuSample::waited).
    pub waited: Duration,
    /// The samples of them that are [broken](CpuSample::is_broken).
    pub broken_waits: u64,
    /// The intervals without a sample, because a thread's ring had no room.
    pub lost: u64,
    /// The samples that are [broken](CpuSample::is_broken), except those in [`cut_off`](Self::cut_off).
    pub broken: u64,
    /// The samples that are [broken](CpuSample::is_broken) because a part of the stack could not be copied: the thread was on
    /// another one, as in a handler of signals with a stack for it (`sigaltstack`); the kernel found no page there, as after a fork;
    /// or it was the first one of a thread that had a deep stack when the sampler began.
    pub cut_off: u64,
    /// The samples that are [truncated](CpuSample::is_truncated).
    pub truncated: u64,
    /// The samples without a managed frame.
    pub unmanaged: u64,
    /// The sampled threads.
    pub threads: u64,
    /// The threads of them that the kernel has sampled by its performance events, because the rate is above its tick.
    pub threads_by_events: u64,
    /// The first reason why others of them had a timer, although the rate is above the kernel's tick.
    pub no_events: Option<String>,
    /// The threads for which the system refused a timer, and its first reason.
    pub untimed_threads: u64,
    /// The first reason of the system to refuse a timer.
    pub refusal: Option<String>,
    /// The calls of the signal handler.
    pub interruptions: u64,
    /// The time in the signal handler, for all threads together.
    pub interrupting: Duration,
    /// The processor time of the thread that walks the copied stacks and delivers the samples.
    pub delivering: Duration,
    /// The processor time of the whole process since the sampler began, sampled or not.
    pub process: Duration,
    /// Whether the handler had to stay installed at the end, because another library had installed its own above it. It
    /// then passes all signals on.
    pub is_handler_left: bool,
}

impl CpuSamplerTotals {
    /// The samples per second of processor time, without those that were lost.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self.cpu.as_secs_f64() {
            seconds if seconds > 0.0 => self.samples as f64 / seconds,
            _ => 0.0,
        }
    }
}

/// Samples threads by their own processor time, without suspending the runtime (Linux with glibc, x86-64 and ARM64).
///
/// Each managed thread has a timer on its processor clock. The timer interrupts the thread wherever it is, at any
/// instruction, and the handler copies a part of its stack; a thread of the sampler then finds the frames, managed and native,
/// and delivers the samples. So own time is not biased towards safepoints, as that of [`Sampler`](super::Sampler) is,
/// and threads that wait cost nothing.
///
/// The handler shares the runtime's own signal (34); another library's timers pass through it. The sampler ends with
/// [`stop`](Self::stop), and by itself when the runtime shuts down or the profiler detaches: no timer, thread or handler is
/// left, except as [`CpuSamplerTotals::is_handler_left`] says.
///
/// Timers of processor time expire with the kernel's tick, mostly 250 times a second. Where a higher rate is asked for, the
/// kernel takes the samples by its performance events, without a signal, if the system allows it. Otherwise samples have a
/// higher [weight](CpuSample::weight), and [`CpuSamplerTotals::no_events`] says why.
///
/// Calls `ICorProfilerInfo8::GetFunctionFromIP3`, `ICorProfilerInfo9::GetNativeCodeStartAddresses` and
/// `ICorProfilerInfo9::GetCodeInfo4` (.NET Core 3.0 and newer). **Events**:
/// [`MONITOR_THREADS`](crate::EventMask::MONITOR_THREADS),
/// [`MONITOR_JIT_COMPILATION`](crate::EventMask::MONITOR_JIT_COMPILATION) and those of modules.
///
/// ```
/// use std::sync::Arc;
///
/// use clr_profiler::prelude::*;
/// use clr_profiler::sampling::CpuSampler;
///
/// struct Busy {
///     sampler: Arc<CpuSampler>,
/// }
///
/// #[profiler(clsid = "0E6B1D8C-5B0A-4C0E-9E0C-3B1B7C2F4A95")]
/// impl Profiler for Busy {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         CpuSampler::check()?;
///         let sampler = CpuSampler::builder().rate(100).build(|info, sample| {
///             let function = sample.frames.iter().find_map(|frame| frame.function());
///             let name = function.and_then(|function| info.method(function).ok()?.full_name().ok());
///             eprintln!("{name:?} has used {:?}", sample.cpu);
///         });
///         Ok(Busy { sampler: setup.attach(sampler)? })
///     }
///
///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
///         self.sampler.stop()?;
///         eprintln!("{:.0} samples a second", self.sampler.totals().rate());
///         Ok(())
///     }
/// }
///
/// register!(Busy);
/// ```
pub struct CpuSampler {
    options: CpuSamplerBuilder,
    /// The closure, until the sampler is attached.
    deliver: Mutex<Option<Box<CpuSampleHandler>>>,
    engine: OnceLock<Engine>,
}

type CpuSampleHandler = dyn FnMut(&ProfilerInfo, &CpuSample<'_>) + Send;

/// The options of a [`CpuSampler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSamplerBuilder {
    interval: Duration,
    depth: usize,
    wall_clock: bool,
    label: Option<Label>,
    wait_label: Option<WaitLabel>,
}

impl Default for CpuSamplerBuilder {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(4),
            depth: 512,
            wall_clock: false,
            label: None,
            wait_label: None,
        }
    }
}

impl CpuSamplerBuilder {
    /// The samples per second of a thread's processor time, 1 to 10,000; 250 by default, as often as most kernels count it.
    #[must_use]
    pub fn rate(self, per_second: u32) -> Self {
        self.interval(match per_second {
            0 => Duration::ZERO,
            _ => Duration::from_secs(1) / per_second,
        })
    }

    /// The processor time between two samples of a thread, instead of a rate: 100 microseconds to a second.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The maximum number of frames in a sample, 512 by default. The innermost frames are kept.
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// Also samples threads that wait: in a call of the system, for a lock, in `Thread.Sleep`.
    ///
    /// No signal interrupts them. Every 20 milliseconds the sampler asks the system which threads are blocked, 16 of them at most in
    /// one turn, and reads their stacks while they are. Their samples have the time for which they
    /// [waited](CpuSample::waited); times of two turns between which a thread ran are those of the place where it was found. Time in
    /// which a thread is ready to run and has no processor is in no sample.
    #[must_use]
    pub fn wall_clock(self) -> Self {
        Self {
            wall_clock: true,
            ..self
        }
    }

    /// Creates the component, to be [attached](Setup::attach). `deliver` is called while the program runs: on the
    /// sampler's thread, and on the thread that unloads a module, before the unload. A panic of it on the
    /// sampler's thread ends the sampler.
    ///
    /// The functions of a sample are valid until their modules are unloaded, which does not happen before the sample
    /// is delivered: ask for names in `deliver`.
    ///
    /// Attaching fails if an option is out of its range, if another `CpuSampler` of this library is attached, as
    /// [`CpuSampler::check`] does, if the system does not say where threads wait and [`wall_clock`](Self::wall_clock) was
    /// called, if the runtime is older than .NET Core 3.0, or if the operating system cannot create a
    /// thread.
    #[must_use]
    pub fn build(
        self,
        deliver: impl FnMut(&ProfilerInfo, &CpuSample<'_>) + Send + 'static,
    ) -> CpuSampler {
        CpuSampler {
            options: self,
            deliver: Mutex::new(Some(Box::new(deliver))),
            engine: OnceLock::new(),
        }
    }
}

const CALL: &str = "CpuSampler";

impl CpuSampler {
    /// The options, to be completed by [`CpuSamplerBuilder::build`].
    #[must_use]
    pub fn builder() -> CpuSamplerBuilder {
        CpuSamplerBuilder::default()
    }

    /// Whether this process can be sampled. Use a [`Sampler`](super::Sampler) where it cannot.
    ///
    /// **Context**: any, as soon as the runtime has called `initialize`.
    ///
    /// # Errors
    ///
    /// The operating system is not Linux with glibc on x86-64 or ARM64; the system refuses a timer (limits, `seccomp`); or
    /// the runtime's handlers are not those that the sampler's handler can share a signal with.
    pub fn check() -> Result<()> {
        engine::check()
    }

    /// Waits until the samples that are being delivered, if there are some, are delivered.
    ///
    /// The sampler itself delivers all samples before a module is unloaded. A profiler that keeps functions after the
    /// delivery calls this in [`module_unload_started`](crate::Profiler::module_unload_started) before it removes the
    /// functions of the module.
    ///
    /// **Context**: any, except while the runtime is suspended (during a collection, too), in the callbacks of
    /// exceptions, in other callbacks that receive an object, and in the closure that receives the samples.
    ///
    /// # Errors
    ///
    /// The call was made where it may not wait; it has not waited.
    pub fn wait_for_delivery(&self) -> Result<()> {
        self.engine.get().map_or(Ok(()), Engine::wait_for_delivery)
    }

    /// The totals so far.
    #[must_use]
    pub fn totals(&self) -> CpuSamplerTotals {
        self.engine.get().map(Engine::totals).unwrap_or_default()
    }

    /// Ends the sampler and waits for its end: the timers are deleted, the last samples delivered, and the runtime's
    /// handler is restored. The second call is a no-op.
    ///
    /// **Context**: any. While the runtime is suspended (during a collection, too), in the callbacks of exceptions, and in
    /// other callbacks that receive an object, it ends the sampler without waiting for the last samples, and returns an
    /// error. The closure that receives the samples does not wait either.
    ///
    /// # Errors
    ///
    /// The error that ended the sampler earlier, or a panic of the closure.
    pub fn stop(&self) -> Result<()> {
        self.engine.get().map_or(Ok(()), Engine::stop)
    }
}

#[component(crate = crate)]
impl Component for CpuSampler {
    fn attach(&self, info: &ProfilerInfo, _setup: &mut Setup) -> Result<()> {
        let CpuSamplerBuilder {
            interval, depth, ..
        } = self.options;
        let range = Duration::from_micros(100)..=Duration::from_secs(1);
        if !range.contains(&interval) || depth == 0 {
            return Err(Error::invalid(
                CALL,
                format_args!(
                    "the rate is 1 to 10000 a second, and the depth is not 0: {:?}",
                    self.options
                ),
            ));
        }
        info.check_version(CALL, 10)?;
        let deliver = lock(&self.deliver).take();
        let deliver = deliver.ok_or_else(|| Error::rule(CALL, "it was attached before"))?;
        let engine = Engine::start(info, self.options, deliver)?;
        let _ = self.engine.set(engine);
        Ok(())
    }

    fn thread_assigned_to_os_thread(
        &self,
        _info: &ProfilerInfo,
        thread: ThreadId,
        os_thread_id: u32,
    ) -> Result<()> {
        if let Some(engine) = self.engine.get() {
            engine.thread_begins(thread, os_thread_id);
        }
        Ok(())
    }

    fn thread_destroyed(&self, _info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        if let Some(engine) = self.engine.get() {
            engine.thread_ends(thread);
        }
        Ok(())
    }

    // Not that of ReJIT, whose event would make a detach impossible: its code is found when it is sampled.
    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if let Some(engine) = self.engine.get()
            && status.is_ok()
        {
            engine.compiled(info, function);
        }
        Ok(())
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if let Some(engine) = self.engine.get()
            && status.is_ok()
        {
            engine.compiled_dynamic(info, function);
        }
        Ok(())
    }

    /// Delivers the samples with functions of the module first.
    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        if let Some(engine) = self.engine.get() {
            engine.module_is_unloaded(info, module);
        }
        Ok(())
    }

    fn profiler_detach_succeeded(&self, _info: &ProfilerInfo) -> Result<()> {
        self.stop()
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.stop()
    }
}

impl Drop for CpuSampler {
    fn drop(&mut self) {
        // The error cannot be reported anymore.
        let _ = self.stop();
    }
}

opaque! { CpuSampler { this => options: this.options, totals: this.totals() } }
