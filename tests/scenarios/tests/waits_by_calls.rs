//! The wall-clock mode of the sampler and a program that waits by functions of the C library, and expects no signal.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its tests are for Linux"))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use clr_profiler::prelude::*;
use clr_profiler::sampling::CpuSampler;
use scenario_support::{clsid, log};

/// Samples threads that wait, too. With `SCENARIO_SIGNALS` it also sends signals to threads that wait, as the sampler never does.
pub(crate) struct WaitsByCalls {
    sampler: Arc<CpuSampler>,
    is_over: Arc<AtomicBool>,
}

#[profiler(clsid = clsid("WaitsByCalls"))]
impl Profiler for WaitsByCalls {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failure: {failure}")));
        let sampler = CpuSampler::builder().wall_clock().rate(1000);
        let sampler = setup.attach(sampler.build(|_, _| {}))?;
        let is_over = Arc::new(AtomicBool::new(false));
        if env::var_os("SCENARIO_SIGNALS").is_some() {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(20));
                    signal_all();
                }
            });
        }
        Ok(Self { sampler, is_over })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.is_over.store(true, Ordering::SeqCst);
        self.sampler.stop()?;
        let totals = self.sampler.totals();
        log::line(format_args!("waits {}", totals.waits));
        log::line(format_args!("waited {}", totals.waited.as_millis()));
        Ok(())
    }
}

/// Sends all threads but this one a signal whose handler does nothing, and asks for restarts.
#[cfg(target_os = "linux")]
fn signal_all() {
    unsafe extern "C" fn ignore(_: libc::c_int) {}
    // SAFETY: all zeros are a valid `sigaction`; the handler stays loaded as this library does, and nobody else uses the signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut());
    }
    let this = scenario_support::threads::os_thread();
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let threads = tasks.filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
    for thread in threads.filter(|thread| Some(*thread) != this) {
        // SAFETY: the signal has the handler above; a thread that has ended is refused.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) };
    }
}

#[cfg(not(target_os = "linux"))]
fn signal_all() {
    let _ = fs::read_dir(".");
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::WaitsByCalls;

    fn program() -> Scenario {
        Scenario::new("Interrupted").profiled_by::<WaitsByCalls>()
    }

    fn logged(log: &str, name: &str) -> u64 {
        let mut lines = log.lines();
        let count = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        count.unwrap_or("0").parse().unwrap()
    }

    /// `by_the_signals_of_a_control_they_end_early` shows that they would.
    #[test]
    fn by_the_wall_clock_mode_no_wait_ends_early() {
        program().on_each_runtime(|runtime, finished| {
            let whole = "interrupted 0 early 0 failed 0\n";
            let expected = format!("poll {whole}epoll_wait {whole}nanosleep {whole}");
            assert_eq!(finished.output(), (Some(5), &*expected, ""), "{}", runtime.name);
            let log = &finished.log;
            // Three threads of a second each, which the sampler has seen.
            assert!(logged(log, "waited") > 1500, "{} {log}", runtime.name);
            assert!(!log.contains("failure"), "{} {log}", runtime.name);
        });
    }

    #[test]
    fn by_the_signals_of_a_control_they_end_early() {
        program().env("SCENARIO_SIGNALS", "1").on_each_runtime(|runtime, finished| {
            assert_eq!(finished.status.code(), Some(5), "{finished:?}");
            for name in ["poll", "epoll_wait", "nanosleep"] {
                let none = format!("{name} interrupted 0 ");
                assert!(finished.stdout.contains(name), "{} {finished:?}", runtime.name);
                assert!(!finished.stdout.contains(&none), "{} {finished:?}", runtime.name);
            }
        });
    }
}
