//! The clock of spans: ticks of the processor, which cost a third of a call of the system, or those of the system's clock.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(windows)]
use windows_sys::{
    Win32::Foundation::{FILETIME, HANDLE},
    Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
    },
    core::BOOL,
};

use crate::report::lock;

const UNDECIDED: u8 = 0;
const COUNTER: u8 = 1;
const SYSTEM: u8 = 2;

/// The source of ticks, for the whole process.
static SOURCE: AtomicU8 = AtomicU8::new(UNDECIDED);

/// The time after which the first rate is known well enough.
const FIRST: Duration = Duration::from_millis(2);
/// The longest time between two anchors, in nanoseconds. In a running program the first ones follow sooner.
const APART: u64 = 1_000_000_000;
/// The limit for anchors: half of the older ones are dropped when it is reached.
const ANCHORS: usize = 4_096;

/// Ticks, which no thread sees run backwards.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if SOURCE.load(Ordering::Relaxed) == COUNTER {
        return counter();
    }
    other_ticks()
}

#[cold]
#[inline(never)]
fn other_ticks() -> u64 {
    if SOURCE.load(Ordering::Relaxed) == UNDECIDED {
        let source = if is_invariant() { COUNTER } else { SYSTEM };
        SOURCE.store(source, Ordering::Relaxed);
        return ticks();
    }
    system_ticks()
}

/// Nanoseconds of the system's clock.
fn system_ticks() -> u64 {
    use std::sync::OnceLock;

    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: each x86-64 processor has the instruction. A system that forbids it to programs has not
    // let `is_invariant` succeed.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let ticks;
    // SAFETY: reads a register that systems let programs read, and changes nothing else.
    unsafe {
        std::arch::asm!("mrs {0}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
    }
    ticks
}

/// Whether the counter runs at one rate in all processors and in all of their states.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    use std::arch::x86_64::__cpuid as cpuid;
    // Some versions of the standard library declare this function safe.
    #[allow(unused_unsafe)]
    // SAFETY: each x86-64 processor has the instruction.
    let is_invariant = unsafe { cpuid(HIGHEST).eax >= POWER && cpuid(POWER).edx & INVARIANT != 0 };
    // Linux has compared the counters of the processors, and uses another clock if they differ.
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let is_trusted = match std::fs::read_to_string(source) {
        Ok(source) => matches!(
            source.trim(),
            "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page"
        ),
        Err(_) => true,
    };
    is_invariant && is_trusted
}

/// The architecture says that it is.
#[cfg(target_arch = "aarch64")]
fn is_invariant() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_invariant() -> bool {
    false
}

/// The CPU time of this process in nanoseconds; where the system does not tell it, the time that has passed.
pub(crate) fn process_time() -> u64 {
    #[cfg(unix)]
    let time = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID);
    #[cfg(windows)]
    // SAFETY: it has no arguments, and returns a constant.
    let time = cpu_time(GetProcessTimes, unsafe { GetCurrentProcess() });
    time.unwrap_or_else(system_ticks)
}

/// The CPU time of this thread in nanoseconds; zero where the system does not tell it.
pub(crate) fn thread_time() -> u64 {
    #[cfg(unix)]
    let time = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
    #[cfg(windows)]
    // SAFETY: it has no arguments, and returns a constant.
    let time = cpu_time(GetThreadTimes, unsafe { GetCurrentThread() });
    time.unwrap_or(0)
}

/// `GetProcessTimes` or `GetThreadTimes`.
#[cfg(windows)]
type Times = unsafe extern "system" fn(
    HANDLE,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
    *mut FILETIME,
) -> BOOL;

/// The time in the kernel and outside of it, which the system has in units of 100 ns.
#[cfg(windows)]
fn cpu_time(times: Times, of: HANDLE) -> Option<u64> {
    let [mut begun, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is that of this process or thread, and there is room for each of the times.
    let result = unsafe { times(of, &mut begun, &mut ended, &mut kernel, &mut user) };
    let of = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    (result != 0).then(|| (of(kernel) + of(user)) * 100)
}

#[cfg(unix)]
fn cpu_time(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to the value, which has the type that it wants.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u64::try_from(time.tv_nsec).ok()?;
    (result == 0).then_some(seconds * 1_000_000_000 + rest)
}

/// A moment on both clocks, and the rate from then on.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ticks: u64,
    nanoseconds: f64,
    /// Nanoseconds for a tick.
    rate: f64,
}

impl Anchor {
    fn at(&self, ticks: u64) -> f64 {
        let since = ticks.wrapping_sub(self.ticks).cast_signed();
        self.nanoseconds + since as f64 * self.rate
    }
}

/// Converts ticks to nanoseconds since it was made. A tick has one time, whenever it is converted, and later ticks have later
/// times; the rate follows the clock of the system.
#[derive(Debug)]
pub(super) struct Clock {
    began: (Instant, u64),
    anchors: Mutex<Vec<Anchor>>,
}

impl Clock {
    pub(super) fn new() -> Self {
        let ticks = ticks();
        Self {
            began: (Instant::now(), ticks),
            anchors: Mutex::default(),
        }
    }

    /// Nanoseconds.
    pub(super) fn now(&self) -> u64 {
        self.converter().nanoseconds(ticks())
    }

    /// Converts ticks that have passed.
    pub(super) fn converter(&self) -> Converter<'_> {
        let mut anchors = lock(&self.anchors);
        if anchors.is_empty() {
            let early = FIRST.saturating_sub(self.began.0.elapsed());
            if !early.is_zero() {
                thread::sleep(early);
            }
        }
        Self::follow(&self.began, &mut anchors);
        Converter(anchors)
    }

    /// Adds an anchor if one is due. It is where the rate before leads to, so that no time changes; its rate leads
    /// back to the clock of the system.
    fn follow(began: &(Instant, u64), anchors: &mut Vec<Anchor>) {
        let last = anchors.last().copied();
        let now = ticks();
        let passed = now.saturating_sub(began.1) as f64;
        if let Some(last) = last {
            let due = (last.nanoseconds / 4.0).min(APART as f64);
            if last.at(now) - last.nanoseconds < due {
                return;
            }
        }
        let elapsed = began.0.elapsed().as_nanos() as f64;
        let rate = elapsed / passed.max(1.0);
        let anchor = match last {
            None => Anchor {
                ticks: began.1,
                nanoseconds: 0.0,
                rate,
            },
            Some(last) => {
                let expected = last.at(now);
                let correction = ((elapsed - expected) / APART as f64).clamp(-0.01, 0.01);
                Anchor {
                    ticks: now,
                    nanoseconds: expected,
                    rate: rate * (1.0 + correction),
                }
            }
        };
        if anchors.len() >= ANCHORS {
            let mut at = 0;
            anchors.retain(|_| {
                at += 1;
                at > ANCHORS / 2 || at % 2 == 1
            });
        }
        anchors.push(anchor);
    }
}

/// The anchors, for many conversions.
pub(super) struct Converter<'a>(MutexGuard<'a, Vec<Anchor>>);

impl Converter<'_> {
    /// Nanoseconds for a tick.
    pub(super) fn rate(&self) -> f64 {
        self.0.last().map_or(1.0, |anchor| anchor.rate)
    }

    pub(super) fn nanoseconds(&self, ticks: u64) -> u64 {
        let after = self.0.partition_point(|anchor| anchor.ticks <= ticks);
        let anchor = self.0.get(after.saturating_sub(1));
        anchor.map_or(0, |anchor| anchor.at(ticks).max(0.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_the_time_of_the_system() {
        let clock = Clock::new();
        let mut last = 0;
        let mut kept = Vec::new();
        for _ in 0..200 {
            thread::sleep(Duration::from_micros(500));
            let ticks = ticks();
            let elapsed = clock.began.0.elapsed().as_nanos() as u64;
            let now = clock.converter().nanoseconds(ticks);
            assert!(now >= last, "{now} after {last}");
            // Other threads may run between the two clocks.
            assert!(elapsed.abs_diff(now) < 20_000_000, "{now} is not {elapsed}");
            kept.push((ticks, now));
            last = now;
        }
        // Converted again, after the rate has changed.
        for (ticks, then) in kept {
            assert!(clock.converter().nanoseconds(ticks).abs_diff(then) <= 1);
        }
        assert!(lock(&clock.anchors).len() > 3);
    }

    #[test]
    fn the_clock_to_fall_back_on_runs_forward() {
        let first = system_ticks();
        thread::sleep(Duration::from_millis(2));
        let passed = system_ticks() - first;
        assert!(passed >= 2_000_000, "{passed}");
    }
}
