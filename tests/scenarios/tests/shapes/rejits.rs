use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use scenario_support::{clsid, log};

use super::census::Census;
use super::{counts, wraps};

/// Wraps and unwraps all methods again and again, by ReJIT, while the program runs.
pub(crate) struct RejitsShapes {
    switching: Arc<Switching>,
    rejit: Arc<Rejit>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The state of the thread that switches.
struct Switching {
    census: Census,
    is_over: AtomicBool,
    times: AtomicU32,
    asked: AtomicU32,
    /// How many methods are wrapped before the first ones are unwrapped.
    least: usize,
    compiled: AtomicU32,
}

/// How long methods keep their IL, at least.
const PAUSE: Duration = Duration::from_millis(25);
const PATIENCE: Duration = Duration::from_secs(30);

impl Switching {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn run(&self, rejit: &Rejit) {
        let mut is_on = false;
        while !self.is_over() {
            let methods = self.census.all();
            if methods.is_empty() {
                thread::sleep(PAUSE / 25);
                continue;
            }
            is_on = !is_on;
            if is_on {
                rejit.request(methods);
                self.times.fetch_add(1, Ordering::Relaxed);
            } else {
                rejit.revert(methods);
            }
            if !rejit.wait(PATIENCE) {
                return;
            }
            // The program's progress by then is not left to chance.
            while is_on && !self.is_over() && self.census.rewritten() < self.least {
                thread::sleep(PAUSE / 25);
            }
            // Also as long as a whole round takes.
            let times = self.times.load(Ordering::Relaxed);
            thread::sleep(PAUSE * if is_on { 1 + times % 8 } else { 1 });
        }
    }
}

#[profiler(clsid = clsid("RejitsShapes"))]
impl Profiler for RejitsShapes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let switching = Arc::new(Switching {
            census: Census::new(),
            is_over: AtomicBool::new(false),
            times: AtomicU32::new(0),
            asked: AtomicU32::new(0),
            least: super::variable("SHAPES_LEAST").parse().unwrap_or(0),
            compiled: AtomicU32::new(0),
        });
        let rejit = setup.attach(Rejit::new(RejitOptions::default(), {
            let switching = Arc::clone(&switching);
            move |info, module, method, control| {
                switching.asked.fetch_add(1, Ordering::Relaxed);
                let rewritten = control.rewrite(info, module, method, wraps::wrap);
                // Refusals are counted there, and are not failures.
                switching
                    .census
                    .became((module, method), rewritten.map(drop));
                Ok(())
            }
        }))?;
        let thread = thread::spawn({
            let (switching, rejit) = (Arc::clone(&switching), Arc::clone(&rejit));
            move || switching.run(&rejit)
        });
        Ok(Self {
            switching,
            rejit,
            thread: Mutex::new(Some(thread)),
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        self.switching.census.take(info, module)?;
        Ok(())
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        self.switching.census.may_inline(info, callee)
    }

    fn rejit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _rejit: RejitId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if status.is_ok() {
            self.switching.compiled.fetch_add(1, Ordering::Relaxed);
        } else {
            log::line(format_args!("not compiled again {status}"));
        }
        Ok(())
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!("error {method} {status}"));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let switching = &self.switching;
        switching.is_over.store(true, Ordering::Release);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            thread
                .join()
                .map_err(|_| Error::other("the thread that switches has panicked"))?;
        }
        self.rejit.stop()?;
        let read = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        log::line(format_args!("switched {}", read(&switching.times)));
        log::line(format_args!("asked {}", read(&switching.asked)));
        log::line(format_args!("compiled {}", read(&switching.compiled)));
        switching.census.report();
        counts::report(wraps::is_balanced);
        Ok(())
    }
}
