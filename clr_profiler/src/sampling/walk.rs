//! One stop of the program, which walks the stacks of its threads.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{Sample, SampledFrame, SamplerOptions, SamplerTotals, clock};
use crate::error::{Error, Hresult, Result};
use crate::ids::ThreadId;
use crate::info::{
    CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo10, SnapshotOptions, SuspendedRuntime,
};
use crate::runtime::{ProfilerInfo, lock};

/// The number of threads for which memory is reserved before the first stop.
const THREADS: usize = 64;

/// The number of frames between two reads of the clock. A read takes a fifth of the time of a frame.
const FRAMES_A_CLOCK: usize = 16;

/// The stacks of the last stop. The memory is reused for each stop.
pub(super) struct Stacks {
    depth: usize,
    idle_threads: bool,
    walk_time: Duration,
    /// The samples, without frames, and the ranges of their frames in `frames`.
    threads: Vec<(Sample<'static>, Range<usize>)>,
    frames: Vec<SampledFrame>,
    /// The managed threads of the stop.
    all: Vec<ThreadId>,
    /// The thread at which the next stop begins: the first one that the last stop had no time for.
    next: Option<ThreadId>,
    /// The last sample of each thread, by the operating system's id.
    sampled: HashMap<u32, Sampled>,
    stops: u64,
    /// The last stop.
    last: Instant,
    /// The processor time of the process, without that of the sampler.
    program: Option<Duration>,
}

/// The last time that a thread was sampled or found idle.
struct Sampled {
    /// Its processor time, where the operating system provides it.
    used: Option<Duration>,
    at: Instant,
    stop: u64,
}

impl Stacks {
    pub(super) fn new(options: &SamplerOptions) -> Self {
        Self {
            depth: options.depth,
            idle_threads: options.idle_threads,
            walk_time: options.walk_time,
            threads: Vec::with_capacity(THREADS),
            frames: Vec::with_capacity(THREADS * options.depth.min(64)),
            all: Vec::with_capacity(THREADS),
            next: None,
            sampled: HashMap::with_capacity(THREADS),
            stops: 0,
            last: Instant::now(),
            program: None,
        }
    }

    /// Whether the program has used enough processor time since the last stop to be worth another
    /// one. The sampler's own time does not count.
    pub(super) fn is_program_busy(&mut self, interval: Duration) -> bool {
        let (Some(process), Some(own)) = (clock::of_process(), clock::of_this_thread()) else {
            return true;
        };
        let program = process.saturating_sub(own);
        let before = *self.program.get_or_insert(Duration::ZERO);
        let is_busy = program.saturating_sub(before) >= interval / 20;
        if is_busy {
            self.program = Some(program);
        }
        is_busy
    }

    /// Suspends the program's threads, walks their stacks, and resumes them. Nothing is unloaded
    /// before the guard is dropped: see `Sampler::wait_for_delivery`.
    pub(super) fn walk<'a>(
        &mut self,
        info: &ProfilerInfo,
        delivery: &'a Mutex<()>,
    ) -> Result<(SamplerTotals, MutexGuard<'a, ()>)> {
        self.threads.clear();
        self.frames.clear();
        self.all.clear();
        self.stops += 1;
        let mut stop = SamplerTotals {
            stops: 1,
            ..SamplerTotals::default()
        };
        let begun = Instant::now();
        let delivery = info.with_suspended_runtime(|suspended| {
            stop.suspending = begun.elapsed();
            self.walk_threads(info, suspended, &mut stop)?;
            // Threads that wait for the delivery hold this lock only for a moment.
            Ok(lock(delivery))
        })?;
        stop.stopped = begun.elapsed();
        stop.longest = stop.stopped;
        self.last = begun;
        if self.stops.is_multiple_of(1024) {
            let stops = self.stops;
            self.sampled
                .retain(|_, sampled| sampled.stop + 1024 >= stops);
        }
        Ok((stop, delivery))
    }

    /// The samples of the last stop.
    pub(super) fn samples(&self) -> impl Iterator<Item = Sample<'_>> {
        self.threads.iter().map(|(sample, frames)| Sample {
            frames: self.frames.get(frames.clone()).unwrap_or_default(),
            ..*sample
        })
    }

    /// Walks the stacks of the suspended threads until the time of the stop is over. Begins with
    /// the threads that the last stop had no time for, and always walks at least one.
    fn walk_threads(
        &mut self,
        info: &ProfilerInfo,
        suspended: &SuspendedRuntime<'_>,
        stop: &mut SamplerTotals,
    ) -> Result<()> {
        let begun = Instant::now();
        // While the runtime is suspended, no thread can begin or end.
        for thread in suspended.threads()? {
            self.all.push(thread?);
        }
        let is_next = |thread: &ThreadId| Some(*thread) == self.next;
        let first = self.all.iter().position(is_next).unwrap_or(0);
        self.next = None;
        for turn in 0..self.all.len() {
            let Some(thread) = self.all.get((first + turn) % self.all.len()) else {
                break;
            };
            let thread = *thread;
            if turn > 0 && begun.elapsed() >= self.walk_time {
                self.next = Some(thread);
                stop.postponed = (self.all.len() - turn) as u64;
                break;
            }
            self.walk_thread(info, thread, begun, stop)?;
        }
        Ok(())
    }

    fn walk_thread(
        &mut self,
        info: &ProfilerInfo,
        thread: ThreadId,
        begun: Instant,
        stop: &mut SamplerTotals,
    ) -> Result<()> {
        let Ok(os_thread) = info.thread_info(thread) else {
            return Ok(());
        };
        let (cpu, elapsed) = self.since_last_sample(os_thread, begun);
        if !self.idle_threads && cpu.is_some_and(|cpu| cpu.is_zero()) {
            return Ok(());
        }
        let (frames, is_truncated) = match self.frames_of(info, thread, begun) {
            Ok(walked) => walked,
            Err(error) => {
                if error.is(Hresult::CORPROF_E_INCONSISTENT_WITH_FLAGS) {
                    return Err(error);
                }
                // The thread still uses its time somewhere, such as in the runtime's own code.
                stop.failed_walks += 1;
                (0..0, false)
            }
        };
        stop.truncated += u64::from(is_truncated);
        stop.samples += 1;
        let sample = Sample {
            thread,
            os_thread,
            frames: &[],
            is_truncated,
            cpu,
            elapsed,
        };
        self.threads.push((sample, frames));
        Ok(())
    }

    /// The processor time and the elapsed time since the last sample of a thread. For its first
    /// sample, no processor time, because its start is unknown, and the time since the last stop.
    fn since_last_sample(&mut self, os_thread: u32, now: Instant) -> (Option<Duration>, Duration) {
        let used = clock::of_thread(os_thread);
        let sampled = Sampled {
            used,
            at: now,
            stop: self.stops,
        };
        let before = self.sampled.insert(os_thread, sampled);
        let (used_before, at) = match before {
            Some(before) => (before.used, before.at),
            None => (used, self.last),
        };
        let cpu = used.map(|used| used.saturating_sub(used_before.unwrap_or(used)));
        (cpu, now.saturating_duration_since(at))
    }

    fn frames_of(
        &mut self,
        info: &ProfilerInfo,
        thread: ThreadId,
        begun: Instant,
    ) -> Result<(Range<usize>, bool), Error> {
        let first = self.frames.len();
        let last = first.saturating_add(self.depth);
        let mut is_truncated = false;
        let frames = &mut self.frames;
        let walked = info.do_stack_snapshot(Some(thread), SnapshotOptions::default(), |frame| {
            let count = frames.len() - first;
            let is_late = count > 0
                && count.is_multiple_of(FRAMES_A_CLOCK)
                && begun.elapsed() >= self.walk_time;
            if frames.len() >= last || is_late {
                is_truncated = true;
                return ControlFlow::Break(());
            }
            frames.push(SampledFrame {
                function: frame.function,
                ip: frame.ip,
            });
            ControlFlow::Continue(())
        });
        if let Err(error) = walked {
            self.frames.truncate(first);
            return Err(error);
        }
        Ok((first..self.frames.len(), is_truncated))
    }
}
