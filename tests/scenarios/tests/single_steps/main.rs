//! The walk of the sampler that interrupts threads at each instruction of managed code: the processor traps after it, the runtime walks from
//! these registers, and the sampler takes a sample of them.

#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(dead_code, reason = "its tests are for Linux on x86-64")
)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod steps;
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests;
mod verdicts;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use clr_profiler::prelude::*;
use clr_profiler::sampling::CpuSampler;
use scenario_support::{clsid, log};

use verdicts::Verdicts;

/// Logs the stacks that were compared, and those in which the sampler and the runtime differ.
pub(crate) struct SingleSteps {
    sampler: Arc<CpuSampler>,
    verdicts: Arc<Verdicts>,
    driver: Mutex<Option<JoinHandle<()>>>,
}

/// The weights of samples that were taken at a step begin here; the rest of the weight is the step's number.
const FIRST: u32 = 1 << 24;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number in an environment variable.
fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// For the handler of the trap, which has no other way to it.
static VERDICTS: OnceLock<Arc<Verdicts>> = OnceLock::new();

#[profiler(clsid = clsid("SingleSteps"))]
impl Profiler for SingleSteps {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failure: {failure}")));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let verdicts = Arc::new(Verdicts::new(info.clone()));
        let _ = VERDICTS.set(Arc::clone(&verdicts));
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        steps::install();
        // Its own samples are as seldom as they can be: the timers are there for their keys.
        let sampler = CpuSampler::builder().rate(1).build({
            let verdicts = Arc::clone(&verdicts);
            move |_, sample| {
                if let Some(step) = sample.weight.checked_sub(FIRST) {
                    verdicts.sampled(step, sample);
                }
            }
        });
        let sampler = setup.attach(sampler)?;
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        let driver = thread::Builder::new()
            .name("steps".to_owned())
            .spawn(steps::drive)?;
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        let driver = thread::spawn(|| {});
        Ok(Self {
            sampler,
            verdicts,
            driver: Mutex::new(Some(driver)),
        })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        steps::end();
        if let Some(driver) = lock(&self.driver).take() {
            driver
                .join()
                .map_err(|_| Error::other("the thread of the steps panicked"))?;
        }
        self.sampler.stop()?;
        self.verdicts.tell();
        log::line(format_args!("totals: {:?}", self.sampler.totals()));
        Ok(())
    }
}
