//! The sampler that interrupts threads: hardware exceptions, and a detach in the middle.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its tests are for Linux"))]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::sampling::CpuSampler;
use scenario_support::{clsid, log};

/// Logs the timers, the thread and the handler of its sampler: when there are samples, and after its end. With `SCENARIO_DETACH` it detaches.
pub(crate) struct Interrupts {
    sampler: Arc<CpuSampler>,
    samples: Arc<AtomicU64>,
    handler: usize,
}

#[profiler(clsid = clsid("Interrupts"))]
impl Profiler for Interrupts {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let detaches = std::env::var_os("SCENARIO_DETACH").is_some();
        let handler = handler();
        let samples = Arc::new(AtomicU64::new(0));
        let sampler = CpuSampler::builder().rate(1000).build({
            let samples = Arc::clone(&samples);
            move |info, sample| {
                // The program to which it is attached is another one.
                if detaches && sample.frames.iter().any(|frame| frame.function().is_some()) {
                    samples.fetch_add(1, Ordering::SeqCst);
                }
                let names = sample.frames.iter().filter_map(|frame| frame.function());
                let names = names.map(|function| info.method(function)?.full_name());
                if names.flatten().any(|name| name == "Sampled.Program.Run(string, int)") {
                    samples.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let sampler = setup.attach(sampler)?;
        if detaches {
            let (info, samples) = (info.clone(), Arc::clone(&samples));
            thread::spawn(move || {
                while samples.load(Ordering::SeqCst) < 20 {
                    thread::sleep(Duration::from_millis(1));
                }
                installed("during", handler);
                let answer = info.request_profiler_detach(Duration::from_millis(10));
                log::line(format_args!("detach {answer:?}"));
            });
        }
        Ok(Self {
            sampler,
            samples,
            handler,
        })
    }

    fn profiler_detach_succeeded(&self, _info: &ProfilerInfo) -> Result<()> {
        installed("after", self.handler);
        log::line(format_args!("broken {}", self.sampler.totals().broken));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.sampler.stop()?;
        installed("after", self.handler);
        let totals = self.sampler.totals();
        let samples = self.samples.load(Ordering::SeqCst);
        log::line(format_args!("found {samples}"));
        log::line(format_args!("totals {totals:?}"));
        Ok(())
    }
}

/// Logs whether there are timers and a thread of the sampler, and whose handler of its signal is installed.
pub(crate) fn installed(when: &str, handler_before: usize) {
    let timers = fs::read_to_string("/proc/self/timers").unwrap_or_default();
    let has_timers = timers.lines().any(|line| line.starts_with("ID: "));
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut stats = tasks.map(|task| fs::read_to_string(task.path().join("stat")));
    let has_thread = stats.any(|stat| stat.is_ok_and(|stat| is_alive_sampler(&stat)));
    let is_before = handler() == handler_before;
    log::line(format_args!(
        "{when}: timers {has_timers} thread {has_thread} first handler {is_before}"
    ));
}

/// Whether a line of `/proc/PID/task/ID/stat` is of a sampler's thread that runs code of the process: the kernel lists one
/// that has ended for a moment after `join` has returned, with `PF_EXITING` in its flags.
fn is_alive_sampler(stat: &str) -> bool {
    const PF_EXITING: u64 = 0x4;
    let rest = stat.split_once("(cpu sampler) ").map(|(_, rest)| rest);
    let flags = rest.and_then(|rest| rest.split(' ').nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & PF_EXITING == 0)
}

/// The handler of the runtime's own signal, where it has one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn handler() -> usize {
    0
}

/// The handler of the runtime's own signal.
#[cfg(target_os = "linux")]
pub(crate) fn handler() -> usize {
    // SAFETY: all zeros are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only writes the action of the signal to `action`.
    unsafe { libc::sigaction(34, std::ptr::null(), &raw mut action) };
    action.sa_sigaction
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use clr_profiler_tests::{Scenario, has_line, name_of};

    use super::Interrupts;

    fn sampled(way: &str, threads: &str) -> Scenario {
        let sampled = Scenario::new("Sampled").args(&[way, "1500", threads]);
        sampled.profiled_by::<Interrupts>()
    }

    #[test]
    fn programs_with_hardware_exceptions_and_short_threads_survive_samples() {
        for (way, threads) in [("faults", "3"), ("threads", "2")] {
            sampled(way, threads).on_each_runtime(|runtime, finished| {
                let log = &finished.log;
                assert_eq!(
                    finished.output(),
                    (Some(0), "sampled\n", ""),
                    "{} {way} {log}",
                    runtime.name
                );
                let after = "after: timers false thread false first handler true";
                assert!(has_line(log, after), "{} {way} {log}", runtime.name);
                println!("{} {way} {log}", runtime.name);
            });
        }
    }

    #[test]
    fn a_detach_leaves_neither_timer_nor_thread_nor_handler() {
        let scenario = Scenario::new("Waits").env("SCENARIO_DETACH", "1");
        scenario.waiting_on_each_runtime(|runtime, mut program| {
            assert_eq!(program.ask("busy"), "busy");
            let after = "after: timers false thread false first handler true";
            for round in 1..=3 {
                program.attach(name_of::<Interrupts>(), b"").unwrap();
                let ended = |log: &str| log.lines().filter(|line| *line == after).count();
                program.until("the profiler has detached", |log| ended(log) == round);
            }
            assert_eq!(program.ask("calm"), "calm");
            let log = program.works_and_ends_well();
            // Also the first stacks of threads that ran at the attach are whole.
            let broken = log.lines().filter_map(|line| line.strip_prefix("broken "));
            let broken: Vec<u32> = broken.map(|count| count.parse().unwrap()).collect();
            assert!(broken.len() == 3 && broken.iter().all(|count| *count <= 1), "{log}");
            for line in [
                "during: timers true thread true first handler false",
                "detach Ok(())",
            ] {
                let count = log.lines().filter(|logged| *logged == line).count();
                assert_eq!(count, 3, "{} {line}: {log}", runtime.name);
            }
        });
    }
}
