//! Concurrent suspensions of the runtime, detaches and starts.

mod rejits_at_attach;
#[cfg(test)]
mod tests;

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::prelude::*;
use clr_profiler::sampling::{Sampler, SamplerOptions};
use scenario_support::{clsid, log};

pub(crate) use rejits_at_attach::RejitsAtAttach;

/// Runs the task that its client data names: `held`, `forgotten`, `raced`, `fail`, `sampler`, `delivered`, `thrown`.
pub(crate) struct Suspends {
    task: Vec<u8>,
    sampler: Option<Arc<Sampler>>,
    samples: Arc<AtomicU64>,
    once: Once,
}

/// The event that a step of a task waits for.
#[derive(Clone, Default)]
struct Signal(Arc<AtomicBool>);

impl Signal {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn wait(&self) {
        while !self.0.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Longer than the runtime takes to grant a request that does not wait.
const WHILE: Duration = Duration::from_millis(200);

impl Drop for Suspends {
    fn drop(&mut self) {
        log::line("dropped");
    }
}

#[profiler(clsid = clsid("Suspends"))]
impl Profiler for Suspends {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Err(Error::other("it is attached"))
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        let samples = Arc::new(AtomicU64::new(0));
        let mut sampler = None;
        if client_data == b"sampler" || client_data == b"thrown" {
            let mut options = SamplerOptions::default();
            options.interval = Duration::from_micros(200);
            let samples = Arc::clone(&samples);
            sampler = Some(setup.attach(Sampler::new(options, move |_, _| {
                samples.fetch_add(1, Ordering::SeqCst);
            }))?);
            // A sampler that does not wait for the events is refused meanwhile.
            thread::sleep(WHILE);
        }
        if client_data == b"delivered" {
            ends_itself(setup)?;
        }
        if client_data == b"fail" {
            let (info, suspended) = (info.clone(), Signal::default());
            thread::spawn({
                let suspended = suspended.clone();
                move || {
                    let held = known(&info).and_then(|()| {
                        info.with_suspended_runtime(|_| {
                            suspended.set();
                            thread::sleep(WHILE);
                            Ok(())
                        })
                    });
                    log::line(format_args!("held {held:?}"));
                }
            });
            suspended.wait();
            return Err(Error::other("too bad"));
        }
        let task = client_data.to_vec();
        let once = Once::new();
        Ok(Self {
            task,
            sampler,
            samples,
            once,
        })
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        let info = info.clone();
        match &self.task[..] {
            b"held" => hold(&info),
            b"forgotten" => drop(thread::spawn(move || forget(&info))),
            b"raced" => drop(thread::spawn(move || race(&info))),
            b"sampler" => {
                let (sampler, samples) = (self.sampler.clone(), Arc::clone(&self.samples));
                thread::spawn(move || {
                    while samples.load(Ordering::SeqCst) < 100 {
                        thread::sleep(Duration::from_millis(1));
                    }
                    detach(&info);
                    let stopped = sampler.map(|sampler| sampler.stop());
                    log::line(format_args!("stopped {stopped:?}"));
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        if self.task == b"thrown" {
            self.once.call_once(|| self.thrown(info));
        }
        Ok(())
    }
}

impl Suspends {
    /// A suspension that begins waits for this thread until the callback has returned.
    fn thrown(&self, info: &ProfilerInfo) {
        let stopped = self.sampler.as_ref().map(|sampler| sampler.stop());
        let refused =
            matches!(&stopped, Some(Err(error)) if error.to_string().contains("may not wait"));
        log::line(format_args!("not waited {refused}"));
        let begins = Signal::default();
        let suspender = thread::spawn({
            let (info, begins) = (info.clone(), begins.clone());
            move || {
                let ready = known(&info);
                begins.set();
                let suspended = ready.and_then(|()| info.with_suspended_runtime(|_| Ok(())));
                log::line(format_args!("suspended {suspended:?}"));
            }
        });
        begins.wait();
        thread::sleep(WHILE);
        let answer = info.request_profiler_detach(Duration::from_millis(10));
        let name = answer
            .as_ref()
            .err()
            .and_then(|error| error.hresult().name());
        log::line(format_args!("in the callback {name:?}"));
        let info = info.clone();
        thread::spawn(move || {
            let _ = suspender.join();
            detach(&info);
        });
    }
}

fn known(info: &ProfilerInfo) -> Result<()> {
    info.initialize_current_thread()
}

fn detach(info: &ProfilerInfo) {
    let answer = info.request_profiler_detach(Duration::from_millis(10));
    log::line(format_args!("detach {answer:?}"));
}

/// A sampler that is stopped and dropped in its own closure, which then requests the detach.
fn ends_itself(setup: &mut Setup) -> Result<()> {
    let slot = Arc::new(Mutex::new(None::<Arc<Sampler>>));
    let mut options = SamplerOptions::default();
    options.idle_threads = true;
    let sampler = setup.attach(Sampler::new(options, {
        let slot = Arc::clone(&slot);
        move |info, _| {
            let sampler = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(sampler) = sampler {
                log::line(format_args!("stopped {:?}", sampler.stop()));
                drop(sampler);
                detach(info);
            }
        }
    }))?;
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(sampler);
    Ok(())
}

/// One thread keeps the runtime suspended while another requests the detach.
fn hold(info: &ProfilerInfo) {
    let (suspended, requests) = (Signal::default(), Signal::default());
    thread::spawn({
        let (info, suspended, requests) = (info.clone(), suspended.clone(), requests.clone());
        move || {
            suspended.wait();
            requests.set();
            detach(&info);
        }
    });
    let info = info.clone();
    thread::spawn(move || {
        let held = known(&info).and_then(|()| {
            info.with_suspended_runtime(|_| {
                let own = info.request_profiler_detach(Duration::ZERO);
                suspended.set();
                requests.wait();
                thread::sleep(WHILE);
                Ok(own)
            })
        });
        match held {
            Ok(Err(own)) => log::line(format_args!("held, {own}")),
            other => log::line(format_args!("held {other:?}")),
        }
        let refused = loop {
            match info.with_suspended_runtime(|_| Ok(())) {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        log::line(format_args!("refused {:?}", refused.hresult().name()));
    });
}

/// How long two threads may take to meet: on a busy machine one of them may have the processor for seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Two threads suspend the runtime again and again, for a second, and for as long as it takes to meet.
fn race(info: &ProfilerInfo) {
    let (ends, refused) = (Signal::default(), Arc::new(AtomicU64::new(0)));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (info, ends, refused) = (info.clone(), ends.clone(), Arc::clone(&refused));
            thread::spawn(move || {
                known(&info)?;
                let mut counts = [0; 2];
                while !ends.0.load(Ordering::SeqCst) {
                    match info.with_suspended_runtime(|_| Ok(())) {
                        Ok(()) => counts[0] += 1,
                        Err(error) if error.is(Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS) => {
                            if counts[1] == 0 {
                                refused.fetch_add(1, Ordering::SeqCst);
                            }
                            counts[1] += 1;
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok(counts)
            })
        })
        .collect();
    let begun = Instant::now();
    thread::sleep(Duration::from_secs(1));
    while refused.load(Ordering::SeqCst) < 2 && begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
    ends.set();
    for raced in threads {
        match raced.join() {
            Ok(Ok([done, refused])) => {
                log::line(format_args!("raced {} {}", done > 0, refused > 0))
            }
            Ok(Err(error)) => log::line(format_args!("raced {error}")),
            Err(_) => log::line("panicked"),
        }
    }
    detach(info);
}

/// The ways of safe code to keep a destructor from running.
fn forget(info: &ProfilerInfo) {
    let forgotten = known(info).and_then(|()| {
        info.with_suspended_runtime(|suspended| {
            mem::forget(suspended.threads()?);
            Ok(())
        })
    });
    log::line(format_args!("forgotten {forgotten:?}"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        info.with_suspended_runtime(|_| resume_unwind(Box::new("no such luck")))
    }));
    let panicked: std::result::Result<Result<()>, _> = panicked;
    log::line(format_args!("panicked {}", panicked.is_err()));
    let again = info.with_suspended_runtime(|_| Ok(()));
    log::line(format_args!("again {again:?}"));
    detach(info);
}
