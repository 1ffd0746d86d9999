//! The running sampler: its timers, its handler, and the thread that reads the samples.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::code::{self, Code, CodeMap};
use super::event::{self, Alarm};
use super::feed::{self, Feed};
use super::maps::Maps;
use super::native::Natives;
use super::signal::{self, Header};
use super::slot::{self, Key};
use super::threads::{Batch, Threads};
use super::timer;
use super::waiting::{self, Wait, Waiting};
use super::walk::{Record, Walker};
use super::{CALL, CpuFrame, CpuSample, CpuSampleHandler, CpuSamplerBuilder, CpuSamplerTotals};
use crate::error::{Error, Result};
use crate::ids::{FunctionId, ModuleId, RejitId, ThreadId};
use crate::image::CopyByPipe;
use crate::info::{CorProfilerInfo, CorProfilerInfo4};
use crate::runtime::{ProfilerInfo, lock};
use crate::sampling::clock;
use crate::worker::{Stop, Worker, is_early};

/// The pauses between two reads of the samples, at least and at most.
const SHORT: Duration = Duration::from_millis(40);
const LONG: Duration = Duration::from_millis(160);

/// The intervals of a pause while there are samples: a thread has room for so many of them, whatever their stacks; and at most, if it
/// has room for stacks like the largest so far. The data of each frame is read once in a pause, from memory that the program has
/// displaced from the caches.
const FEW: u32 = 7;
const MANY: u32 = 14;

/// The pause after which threads that may wait are visited again, and the samples of the kernel are read.
const LOOK: Duration = Duration::from_millis(20);

/// The version of the runtime's interface (that of .NET 5) from which code that runs keeps its first instructions.
const KEEPS_CODE: u8 = 12;

/// The reads after which facts about libraries and threads are verified.
const RARELY: u32 = 250;

/// Whether a sampler of this library is active: the handler serves one.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether this process can be sampled.
pub(super) fn check() -> Result<()> {
    signal::check()?;
    // It never runs.
    let timer = timer::create_with_reserve(timer::this_thread(), Key::UNUSED);
    timer.map(drop).map_err(|error| {
        Error::rule(
            CALL,
            format!("the system refuses timers of processor time: {error}"),
        )
    })
}

pub(super) struct Engine {
    shared: Arc<Shared>,
    worker: Worker,
}

struct Shared {
    interval: Duration,
    depth: usize,
    threads: Mutex<Threads>,
    map: Mutex<CodeMap>,
    delivery: Mutex<Delivery>,
    totals: Mutex<CpuSamplerTotals>,
    /// The process's processor time at the start.
    process: Duration,
    /// Where the kernel samples threads.
    feed: Mutex<Option<Feed>>,
    /// Whether the timers and the handler are still there.
    is_running: AtomicBool,
}

/// Ends the sampling when the sampler's thread ends, also by a panic of the closure that it calls.
struct UntilEnd<'a>(&'a Shared);

impl Drop for UntilEnd<'_> {
    fn drop(&mut self) {
        self.0.switch_off();
        // Nobody delivers them anymore.
        lock(&self.0.threads).discard();
    }
}

/// Whoever delivers has it.
struct Delivery {
    deliver: Box<CpuSampleHandler>,
    maps: Maps,
    natives: Natives,
    frames: Vec<CpuFrame>,
    /// The words of the largest sample so far.
    largest: usize,
    waiting: Option<Waiting>,
}

impl Engine {
    pub(super) fn start(
        info: &ProfilerInfo,
        options: CpuSamplerBuilder,
        deliver: Box<CpuSampleHandler>,
    ) -> Result<Self> {
        check()?;
        if options.wall_clock {
            waiting::check()?;
        }
        if ACTIVE.swap(true, Ordering::SeqCst) {
            return Err(Error::rule(CALL, "another one of this library is active"));
        }
        let shared = Arc::new(Shared {
            interval: options.interval,
            depth: options.depth,
            threads: Mutex::default(),
            map: Mutex::default(),
            delivery: Mutex::new(Delivery {
                deliver,
                maps: Maps::default(),
                natives: Natives::default(),
                frames: Vec::new(),
                largest: 0,
                waiting: options.wall_clock.then(|| Waiting::new(options.wait_label)),
            }),
            totals: Mutex::default(),
            process: clock::of_process().unwrap_or_default(),
            feed: Mutex::default(),
            is_running: AtomicBool::new(true),
        });
        let installed = signal::install(options.depth, options.label);
        let started = installed.and_then(|()| {
            match options.label {
                _ if !feed::is_wanted(options.interval) => {}
                Some(_) => {
                    lock(&shared.threads).feed(Err("samples with labels need timers".to_owned()))
                }
                None => shared.feed(),
            }
            lock(&shared.threads).open(options.interval);
            Worker::start(info, "cpu sampler", {
                let (info, shared) = (info.clone(), Arc::clone(&shared));
                move |stop| shared.run(&info, stop)
            })
        });
        match started {
            Ok(worker) => Ok(Self { shared, worker }),
            Err(error) => {
                shared.switch_off();
                Err(error)
            }
        }
    }

    pub(super) fn thread_begins(&self, thread: ThreadId, os_thread: u32) {
        lock(&self.shared.threads).begin(thread, os_thread);
    }

    pub(super) fn thread_ends(&self, thread: ThreadId) {
        lock(&self.shared.threads).end(thread);
    }

    /// Adds the code of a method that was just compiled.
    pub(super) fn compiled(&self, info: &ProfilerInfo, function: FunctionId) {
        // Code that the runtime does not name yet is found when it is sampled.
        if let Ok(codes) = code::of_method(info, function, RejitId::from_runtime(0)) {
            // .NET Core 3.1 writes jumps over the first instructions of code that is replaced.
            if info.version() < KEEPS_CODE {
                codes.iter().for_each(Code::read);
            }
            lock(&self.shared.map).add(codes);
        }
    }

    pub(super) fn compiled_dynamic(&self, info: &ProfilerInfo, function: FunctionId) {
        if let Ok(codes) = code::of_dynamic_method(info, function) {
            lock(&self.shared.map).add(codes);
        }
    }

    /// Delivers the samples so far, and forgets the functions of a module.
    pub(super) fn module_is_unloaded(&self, info: &ProfilerInfo, module: ModuleId) {
        let mut delivery = lock(&self.shared.delivery);
        self.shared.deliver(info, &mut delivery);
        self.shared.end_waits(info, &mut delivery);
        drop(delivery);
        lock(&self.shared.map).forget(|function| {
            let method = info.method(function);
            method.is_ok_and(|method| method.module() == module)
        });
    }

    pub(super) fn wait_for_delivery(&self) -> Result<()> {
        const CALL: &str = "CpuSampler::wait_for_delivery";
        self.worker.wait_for_delivery(CALL, &self.shared.delivery)
    }

    pub(super) fn totals(&self) -> CpuSamplerTotals {
        let mut totals = lock(&self.shared.totals).clone();
        let threads = lock(&self.shared.threads);
        (totals.interruptions, totals.interrupting) = threads.costs();
        totals.threads = threads.seen;
        totals.untimed_threads = threads.refused;
        totals.refusal.clone_from(&threads.refusal);
        totals.threads_by_events = threads.fed_ever;
        totals.no_events.clone_from(&threads.reason);
        totals
    }

    pub(super) fn stop(&self) -> Result<()> {
        self.shared.switch_off();
        let panicked = "the closure that samples are delivered to has panicked";
        self.worker.stop("CpuSampler::stop", panicked)
    }
}

impl Shared {
    /// Has the kernel sample the threads that begin from now on, where the system allows it.
    fn feed(self: &Arc<Self>) {
        if let Some(reason) = event::is_filtered() {
            lock(&self.threads).feed(Err(reason.to_owned()));
            return;
        }
        let start = || {
            let alarm = Arc::new(Alarm::new()?);
            let shared = Arc::clone(self);
            let empty = move || lock(&shared.threads).empty_rings();
            Ok((Arc::clone(&alarm), Feed::start(alarm, empty)?))
        };
        let (alarm, feed) = match start() {
            Ok((alarm, feed)) => (Ok(alarm), Some(feed)),
            Err(error) => {
                let error: io::Error = error;
                (
                    Err(format!("the samples of the kernel cannot be read: {error}")),
                    None,
                )
            }
        };
        lock(&self.threads).feed(alarm);
        *lock(&self.feed) = feed;
    }

    /// Ends timers, events and the handler, once.
    fn switch_off(&self) {
        if !self.is_running.swap(false, Ordering::SeqCst) {
            return;
        }
        lock(&self.threads).close();
        // Its thread takes the lock of the threads.
        let feed = lock(&self.feed).take();
        if let Some(feed) = feed {
            feed.stop();
        }
        let is_restored = signal::uninstall();
        lock(&self.totals).is_handler_left = !is_restored;
        self.count_process();
        ACTIVE.store(false, Ordering::SeqCst);
    }

    /// The sampler's thread.
    fn run(&self, info: &ProfilerInfo, stop: &Stop) -> Result<()> {
        let _until_end = UntilEnd(self);
        self.find_threads(info)?;
        let _by_pipe = CopyByPipe::begin();
        let (mut pause, mut reads) = ((self.interval * FEW).clamp(SHORT, LONG), 0_u32);
        loop {
            let is_over = stop.wait(pause);
            let mut delivery = lock(&self.delivery);
            let is_busy = self.deliver(info, &mut delivery);
            let looks = delivery.waiting.is_some();
            let fitting = slot::RING.checked_div(delivery.largest);
            let fitting = fitting.and_then(|fitting| u32::try_from(fitting).ok());
            let busy = self.interval * fitting.unwrap_or(FEW).clamp(FEW, MANY);
            let busy = busy.clamp(SHORT, LONG);
            match is_over {
                true => self.end_waits(info, &mut delivery),
                false => self.look_at_waits(info, &mut delivery),
            }
            lock(&self.totals).delivering = clock::of_this_thread().unwrap_or_default();
            self.count_process();
            if is_over {
                return Ok(());
            }
            let is_fed = lock(&self.threads).is_fed();
            pause = match (looks || is_fed, is_busy) {
                (true, _) => LOOK,
                (false, true) => busy,
                (false, false) => (pause * 2).min(LONG),
            };
            reads += 1;
            if reads.is_multiple_of(RARELY) {
                delivery.natives.forget();
                lock(&self.map).forget_natives();
                delivery.maps.expire();
                lock(&self.threads).prune();
            }
        }
    }

    /// Samples the threads that are older than the sampler.
    fn find_threads(&self, info: &ProfilerInfo) -> Result<()> {
        let threads = match info.threads() {
            Ok(threads) => threads,
            Err(error) if is_early(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        for thread in threads {
            // A thread can end meanwhile.
            if let Ok(thread) = thread
                && let Ok(os_thread) = info.thread_info(thread)
            {
                lock(&self.threads).begin(thread, os_thread);
            }
        }
        Ok(())
    }

    fn count_process(&self) {
        let now = clock::of_process().unwrap_or_default();
        let process = now.saturating_sub(self.process);
        lock(&self.totals).process = process;
    }

    /// Delivers the samples since the last time; whether there were some.
    fn deliver(&self, info: &ProfilerInfo, delivery: &mut Delivery) -> bool {
        let batches = lock(&self.threads).collect(&mut delivery.maps);
        delivery.maps.grow_old();
        for batch in &batches {
            self.deliver_batch(info, delivery, batch);
            lock(&self.threads).delivered(batch);
        }
        !batches.is_empty()
    }

    /// Delivers the waits of threads that have ended, and reads where others wait.
    fn look_at_waits(&self, info: &ProfilerInfo, delivery: &mut Delivery) {
        let Delivery {
            deliver,
            maps,
            natives,
            waiting: Some(waiting),
            ..
        } = delivery
        else {
            return;
        };
        let threads = lock(&self.threads).all();
        let walk = |maps: &mut Maps, record: &Record<'_>, frames: &mut Vec<CpuFrame>| {
            self.walker(info, maps, natives).walk(record, frames)
        };
        waiting.look(&threads, maps, walk, |wait| {
            self.deliver_wait(info, deliver, wait)
        });
    }

    /// Delivers all waits so far: their frames are looked up again.
    fn end_waits(&self, info: &ProfilerInfo, delivery: &mut Delivery) {
        let Delivery {
            deliver, waiting, ..
        } = delivery;
        if let Some(waiting) = waiting {
            waiting.end(|wait| self.deliver_wait(info, deliver, wait));
        }
    }

    fn deliver_wait(&self, info: &ProfilerInfo, deliver: &mut CpuSampleHandler, wait: &Wait<'_>) {
        if wait.frames.is_empty() {
            return;
        }
        deliver(
            info,
            &CpuSample {
                thread: wait.thread,
                os_thread: wait.os_thread,
                weight: wait.found,
                cpu: Duration::ZERO,
                waited: wait.waited,
                frames: wait.frames,
                is_truncated: wait.walked.is_truncated,
                is_broken: wait.walked.is_broken,
                label: wait.label,
            },
        );
        let mut totals = lock(&self.totals);
        totals.waits += 1;
        totals.waited += wait.waited;
        totals.broken_waits += u64::from(wait.walked.is_broken);
    }

    fn walker<'a>(
        &'a self,
        info: &'a ProfilerInfo,
        maps: &'a mut Maps,
        natives: &'a mut Natives,
    ) -> Walker<'a> {
        Walker::new(info, &self.map, (maps, natives), self.depth)
    }

    fn deliver_batch(&self, info: &ProfilerInfo, delivery: &mut Delivery, batch: &Batch) {
        let Delivery {
            deliver,
            maps,
            natives,
            frames,
            largest,
            ..
        } = delivery;
        let mut walker = self.walker(info, maps, natives);
        let mut totals = CpuSamplerTotals {
            lost: batch.lost,
            ..CpuSamplerTotals::default()
        };
        let mut words = &*batch.records;
        while let Some(record) = Record::take(&mut words) {
            frames.clear();
            *largest = record.len().max(*largest);
            let walked = walker.walk(&record, frames);
            let weight = u32::try_from(record.header(Header::Weight)).unwrap_or(1);
            let sample = CpuSample {
                thread: batch.thread,
                os_thread: batch.os_thread,
                weight,
                cpu: self.interval * weight,
                waited: Duration::ZERO,
                frames,
                is_truncated: walked.is_truncated,
                is_broken: walked.is_broken,
                label: [Header::Label, Header::SecondLabel].map(|word| record.header(word) as u64),
            };
            totals.samples += 1;
            totals.intervals += u64::from(weight);
            totals.cpu += sample.cpu;
            totals.broken += u64::from(walked.is_broken && !walked.is_cut_off);
            totals.cut_off += u64::from(walked.is_cut_off);
            totals.truncated += u64::from(walked.is_truncated);
            let is_managed = frames.iter().any(|frame| frame.function().is_some());
            totals.unmanaged += u64::from(!is_managed);
            deliver(info, &sample);
        }
        lock(&self.totals).add(&totals);
    }
}

impl CpuSamplerTotals {
    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.intervals += other.intervals;
        self.cpu += other.cpu;
        self.lost += other.lost;
        self.broken += other.broken;
        self.cut_off += other.cut_off;
        self.truncated += other.truncated;
        self.unmanaged += other.unmanaged;
    }
}
