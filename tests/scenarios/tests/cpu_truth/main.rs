//! Compares the shares of the sampler that interrupts threads with those that a program measures itself, and with `perf`.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its tests are for Linux"))]

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod perf;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fs};

use clr_profiler::prelude::*;
use clr_profiler::sampling::{CpuCode, CpuSample, CpuSampler};
use scenario_support::{clsid, log};

/// Logs the times of all threads together: of each method with its callees, and of each method, library or stub alone.
/// `TRUTH_RATE` is the rate; with `TRUTH_CODE`, the addresses of the code are logged, too.
pub(crate) struct Truths {
    sampler: Arc<CpuSampler>,
    times: Arc<Mutex<Times>>,
}

#[derive(Default)]
struct Times {
    names: HashMap<FunctionId, Arc<str>>,
    whole: BTreeMap<Arc<str>, Duration>,
    own: BTreeMap<Arc<str>, Duration>,
    threads: BTreeSet<u32>,
}

impl Times {
    fn name(&mut self, info: &ProfilerInfo, function: FunctionId) -> Arc<str> {
        let name = self.names.entry(function).or_insert_with(|| {
            let name = info.method(function).and_then(|method| method.full_name());
            name.unwrap_or_else(|_| "[dynamic]".to_owned()).into()
        });
        Arc::clone(name)
    }

    fn add(&mut self, info: &ProfilerInfo, sample: &CpuSample<'_>) {
        self.threads.insert(sample.os_thread);
        let mut seen = HashSet::new();
        for (index, frame) in sample.frames.iter().enumerate() {
            let name: Arc<str> = match &frame.code {
                CpuCode::Managed(function) => self.name(info, *function),
                CpuCode::Native(library) => format!("[{library}]").into(),
                _ => "[stub]".into(),
            };
            if index == 0 {
                *self.own.entry(Arc::clone(&name)).or_default() += sample.cpu;
            }
            if frame.function().is_some() && seen.insert(Arc::clone(&name)) {
                *self.whole.entry(name).or_default() += sample.cpu;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[profiler(clsid = clsid("Truths"))]
impl Profiler for Truths {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failure: {failure}")));
        let rate = env::var("TRUTH_RATE")
            .ok()
            .and_then(|rate| rate.parse().ok());
        let times = Arc::new(Mutex::new(Times::default()));
        let sampler = CpuSampler::builder().rate(rate.unwrap_or(1000)).build({
            let times = Arc::clone(&times);
            move |info, sample| lock(&times).add(info, sample)
        });
        Ok(Self {
            sampler: setup.attach(sampler)?,
            times,
        })
    }

    /// Has the name of each method, so that code which was not sampled is known by it, too.
    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        lock(&self.times).name(info, function);
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        self.sampler.stop()?;
        let times = lock(&self.times);
        log::line(format_args!("totals {:?}", self.sampler.totals()));
        for (kind, times) in [("whole", &times.whole), ("own", &times.own)] {
            for (name, time) in times {
                log::line(format_args!("{kind} {} {name}", time.as_nanos()));
            }
        }
        if env::var_os("TRUTH_CODE").is_none() {
            return Ok(());
        }
        for thread in &times.threads {
            log::line(format_args!("thread {thread}"));
        }
        for (function, name) in &times.names {
            for start in info.native_code_start_addresses(*function, RejitId::ORIGINAL)? {
                for range in info.code_info4(start)? {
                    log::line(format_args!(
                        "code {:x} {:x} {name}",
                        range.start, range.size
                    ));
                }
            }
        }
        for line in fs::read_to_string("/proc/self/maps")?.lines() {
            log::line(format_args!("map {line}"));
        }
        Ok(())
    }
}
