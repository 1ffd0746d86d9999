//! The sampler that interrupts threads, and that which the kernel feeds: hardware exceptions, and a detach in the middle.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its tests are for Linux"))]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::sampling::CpuSampler;
use scenario_support::{clsid, log};

/// Logs the timers, the events of the kernel, the threads and the handler of its sampler: when there are samples, and after its
/// end. With `SCENARIO_DETACH` it detaches, with `SCENARIO_PANIC` the closure for its samples panics, and `SCENARIO_RATE` is the
/// rate, above the kernel's tick by default.
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
        let panics = std::env::var_os("SCENARIO_PANIC").is_some();
        let handler = handler();
        let samples = Arc::new(AtomicU64::new(0));
        let rate = std::env::var("SCENARIO_RATE").ok();
        let rate = rate.and_then(|rate| rate.parse().ok());
        let rate = rate.unwrap_or(4 * ticks_per_second());
        let sampler = CpuSampler::builder().rate(rate).build({
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
                    assert!(!panics, "the closure panics");
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
        let totals = self.sampler.totals();
        log::line(format_args!("broken {}", totals.broken));
        if let Some(reason) = totals.no_events {
            log::line(format_args!("no events: {reason}"));
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if std::env::var_os("SCENARIO_PANIC").is_some() {
            installed("panicked", self.handler);
        }
        if let Err(error) = self.sampler.stop() {
            log::line(format_args!("stop: {error}"));
        }
        installed("after", self.handler);
        let totals = self.sampler.totals();
        let samples = self.samples.load(Ordering::SeqCst);
        log::line(format_args!("found {samples}"));
        log::line(format_args!("totals {totals:?}"));
        Ok(())
    }
}

/// Logs whether there are timers, events of the kernel and a thread of the sampler, and whose handler of its signal is
/// installed.
pub(crate) fn installed(when: &str, handler_before: usize) {
    let timers = fs::read_to_string("/proc/self/timers").unwrap_or_default();
    let has_timers = timers.lines().any(|line| line.starts_with("ID: "));
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let has_events = maps.contains("[perf_event]") || descriptors("[perf_event]") > 0;
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut stats = tasks.map(|task| fs::read_to_string(task.path().join("stat")));
    let has_thread = stats.any(|stat| stat.is_ok_and(|stat| is_alive_sampler(&stat)));
    let is_before = handler() == handler_before;
    log::line(format_args!(
        "{when}: timers {has_timers} events {has_events} thread {has_thread} first handler {is_before}"
    ));
}

/// The number of descriptors of this kind.
fn descriptors(kind: &str) -> usize {
    let all = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let links = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.to_string_lossy().ends_with(kind)).count()
}

/// Whether a line of `/proc/PID/task/ID/stat` is of a sampler's thread that runs code of the process: the kernel lists one
/// that has ended for a moment after `join` has returned, with `PF_EXITING` in its flags.
fn is_alive_sampler(stat: &str) -> bool {
    const PF_EXITING: u64 = 0x4;
    let names = ["(cpu sampler) ", "(cpu events) "];
    let rest = names.iter().find_map(|name| stat.split_once(name)).map(|(_, rest)| rest);
    let flags = rest.and_then(|rest| rest.split(' ').nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & PF_EXITING == 0)
}

/// The ticks of the kernel, at which timers of processor time expire.
pub(crate) fn ticks_per_second() -> u32 {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all zeros are a valid time, and the call only writes it.
        let nanoseconds = unsafe {
            let mut tick: libc::timespec = std::mem::zeroed();
            libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick);
            tick.tv_nsec
        };
        // Rounded down: an interval that is shorter than a tick is above it.
        u32::try_from(1_000_000_000 / nanoseconds.max(1)).unwrap_or(250)
    }
    #[cfg(not(target_os = "linux"))]
    {
        250
    }
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

    use super::{Interrupts, ticks_per_second};

    /// How often threads are sampled: by timers, and by the kernel.
    fn rates() -> [String; 2] {
        [1, 4].map(|times| (times * ticks_per_second()).to_string())
    }

    fn sampled(way: &str, threads: &str) -> Scenario {
        let sampled = Scenario::new("Sampled").args(&[way, "1500", threads]);
        sampled.profiled_by::<Interrupts>()
    }

    #[test]
    fn programs_with_hardware_exceptions_and_short_threads_survive_samples() {
        let [timers, events] = rates();
        for (way, threads, rate) in [
            ("faults", "3", &timers),
            ("faults", "3", &events),
            ("threads", "2", &timers),
            ("threads", "2", &events),
        ] {
            let scenario = sampled(way, threads).env("SCENARIO_RATE", rate);
            scenario.on_each_runtime(|runtime, finished| {
                let log = &finished.log;
                assert_eq!(
                    finished.output(),
                    (Some(0), "sampled\n", ""),
                    "{} {way} {log}",
                    runtime.name
                );
                let after = "after: timers false events false thread false first handler true";
                assert!(has_line(log, after), "{} {way} {log}", runtime.name);
                let is_timed = log.contains(" threads_by_events: 0, ");
                assert!(is_timed || *rate == events, "{} {way} {log}", runtime.name);
                println!("{} {way} {log}", runtime.name);
            });
        }
    }

    #[test]
    fn a_panic_of_the_closure_ends_the_sampling() {
        for rate in rates() {
            let scenario = sampled("faults", "2")
                .env("SCENARIO_RATE", &rate)
                .env("SCENARIO_PANIC", "1");
            scenario.on_each_runtime(|runtime, finished| {
                let log = &finished.log;
                let what = format!("{} {rate} {log}", runtime.name);
                assert_eq!(finished.output(), (Some(0), "sampled\n", ""), "{what}");
                for when in ["panicked", "after"] {
                    let nothing = "timers false events false thread false first handler true";
                    assert!(has_line(log, &format!("{when}: {nothing}")), "{what}");
                }
                let told = "stop: the closure that samples are delivered to has panicked";
                assert!(has_line(log, "found 1") && log.contains(told), "{what}");
            });
        }
    }

    #[test]
    fn a_detach_leaves_neither_timer_nor_thread_nor_handler() {
        let [timers, _] = rates();
        detaches(&timers, false);
    }

    #[test]
    fn a_detach_leaves_no_event_of_the_kernel() {
        let [_, events] = rates();
        detaches(&events, true);
    }

    fn detaches(rate: &str, is_above_tick: bool) {
        let scenario = Scenario::new("Waits")
            .env("SCENARIO_DETACH", "1")
            // A runtime that twice finds a thread in a callback retries after ten minutes; here sooner (hex).
            .env("COMPlus_ProfAPI_DetachMaxSleepMs", "12c")
            .env("SCENARIO_RATE", rate);
        scenario.waiting_on_each_runtime(|runtime, mut program| {
            assert_eq!(program.ask("busy"), "busy");
            let after = "after: timers false events false thread false first handler true";
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
            let refused = log.lines().find(|line| line.starts_with("no events: "));
            let is_fed = is_above_tick && refused.is_none();
            if let Some(refused) = refused {
                eprintln!("NOT TESTED: {refused}");
            }
            let during = format!(
                "during: timers {} events {is_fed} thread true first handler false",
                !is_fed
            );
            for line in [during.as_str(), "detach Ok(())"] {
                let count = log.lines().filter(|logged| *logged == line).count();
                assert_eq!(count, 3, "{} {line}: {log}", runtime.name);
            }
        });
    }
}
