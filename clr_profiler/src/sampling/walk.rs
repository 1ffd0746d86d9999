//! A look at all stacks.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{SampledFrame, SamplerOptions, clock, lock};
use crate::error::{Error, Result};
use crate::ids::ThreadId;
use crate::info::{
    CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo10, ProfilerInfo, SnapshotOptions,
    SuspendedRuntime,
};

/// How many threads and frames there is room for before the first look.
const THREADS: usize = 64;

/// The stacks of the last look. Its memory is used again and again.
pub(super) struct Stacks {
    depth: usize,
    idle_threads: bool,
    threads: Vec<Thread>,
    frames: Vec<SampledFrame>,
    /// How long each thread had used a processor at the last look, by the operating system's id.
    used: HashMap<u32, Used>,
    looks: u64,
    /// The same for the whole process but the sampler.
    program: Option<Duration>,
}

struct Used {
    time: Duration,
    /// The last look that saw the thread.
    look: u64,
}

/// A thread with its part of the frames.
pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) os_thread: u32,
    pub(super) cpu: Option<Duration>,
    pub(super) is_cut: bool,
    frames: Range<usize>,
}

/// What a look took.
pub(super) struct Walked<'a> {
    pub(super) stopped: Duration,
    /// Stacks that could not be walked.
    pub(super) failed: u64,
    /// Held until the samples are delivered.
    pub(super) delivery: MutexGuard<'a, ()>,
}

impl Stacks {
    pub(super) fn new(options: &SamplerOptions) -> Self {
        Self {
            depth: options.depth,
            idle_threads: options.idle_threads,
            threads: Vec::with_capacity(THREADS),
            frames: Vec::with_capacity(THREADS * options.depth.min(64)),
            used: HashMap::with_capacity(THREADS),
            looks: 0,
            program: None,
        }
    }

    /// Whether the program has used a processor worth a look since the last one. The sampler's own
    /// time does not count.
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

    /// Stops the program's threads, walks their stacks, and lets them go on.
    pub(super) fn walk<'a>(
        &mut self,
        info: &ProfilerInfo,
        delivery: &'a Mutex<()>,
    ) -> Result<Walked<'a>> {
        self.threads.clear();
        self.frames.clear();
        self.looks += 1;
        let begun = Instant::now();
        let (failed, delivery) = info.with_suspended_runtime(|suspended| {
            let failed = self.walk_threads(info, suspended)?;
            // Nothing can be unloaded before the samples are delivered: see `wait_for_delivery`,
            // which holds it only for a moment.
            Ok((failed, lock(delivery)))
        })?;
        if self.looks.is_multiple_of(1024) {
            let looks = self.looks;
            self.used.retain(|_, used| used.look + 1024 >= looks);
        }
        Ok(Walked {
            stopped: begun.elapsed(),
            failed,
            delivery,
        })
    }

    /// Walks the stacks of the suspended threads; gives the number of those that could not be walked.
    fn walk_threads(
        &mut self,
        info: &ProfilerInfo,
        suspended: &SuspendedRuntime<'_>,
    ) -> Result<u64> {
        let mut failed = 0;
        // Among the threads that there are while none can begin or end.
        for thread in suspended.threads()? {
            let thread = thread?;
            let Ok(os_thread) = info.thread_info(thread) else {
                continue;
            };
            let cpu = self.used_since(os_thread);
            if !self.idle_threads && cpu.is_some_and(|cpu| cpu.is_zero()) {
                continue;
            }
            let (frames, is_cut) = match self.frames_of(info, thread) {
                Ok(walked) => walked,
                Err(error) => {
                    if error.hresult().name() == Some("CORPROF_E_INCONSISTENT_WITH_FLAGS") {
                        return Err(error);
                    }
                    // It uses its time somewhere, such as in the runtime's own code.
                    failed += 1;
                    (0..0, false)
                }
            };
            self.threads.push(Thread {
                id: thread,
                os_thread,
                cpu,
                is_cut,
                frames,
            });
        }
        Ok(failed)
    }

    /// The threads of the last look with their frames.
    pub(super) fn walked(&self) -> impl Iterator<Item = (&Thread, &[SampledFrame])> {
        self.threads.iter().map(|thread| {
            let frames = self.frames.get(thread.frames.clone());
            (thread, frames.unwrap_or_default())
        })
    }

    /// The time that a thread has used a processor for since the last look; nothing the first time,
    /// when nobody knows since when it counts.
    fn used_since(&mut self, os_thread: u32) -> Option<Duration> {
        let time = clock::of_thread(os_thread)?;
        let now = Used {
            time,
            look: self.looks,
        };
        let before = self.used.insert(os_thread, now);
        Some(match before {
            Some(before) => time.saturating_sub(before.time),
            None => Duration::ZERO,
        })
    }

    fn frames_of(
        &mut self,
        info: &ProfilerInfo,
        thread: ThreadId,
    ) -> Result<(Range<usize>, bool), Error> {
        let first = self.frames.len();
        let last = first.saturating_add(self.depth);
        let mut is_cut = false;
        let frames = &mut self.frames;
        let walked = info.do_stack_snapshot(Some(thread), SnapshotOptions::default(), |frame| {
            if frames.len() >= last {
                is_cut = true;
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
        Ok((first..self.frames.len(), is_cut))
    }
}
