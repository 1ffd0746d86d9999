//! The clock that is read when a call begins and when it ends.
//!
//! Two reads of the system's clock are two thirds of the cost of counting a call. Where Linux itself
//! derives the time from the processor's counter, because that runs evenly and alike on all processors,
//! the counter is read directly.

use std::time::Instant;

/// Counts ticks since its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
    /// The processor's counter at the start, if it is used.
    counter: Option<u64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self::with(is_trusted())
    }

    fn with(is_trusted: bool) -> Self {
        Self {
            started: Instant::now(),
            counter: is_trusted.then(counter),
        }
    }

    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        match self.counter {
            Some(first) => counter().saturating_sub(first),
            None => self.started.elapsed().as_nanos() as u64,
        }
    }

    /// The length of a tick.
    pub(crate) fn nanoseconds(&self) -> f64 {
        match self.counter {
            Some(_) => self.started.elapsed().as_nanos() as f64 / self.ticks().max(1) as f64,
            None => 1.0,
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn is_trusted() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(source).is_ok_and(|source| source.trim() == "tsc")
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn is_trusted() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: it reads a number, and every processor of this kind can.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ticks_have_their_length() {
        for is_trusted in [false, is_trusted()] {
            let clock = Clock::with(is_trusted);
            let before = clock.ticks();
            std::thread::sleep(Duration::from_millis(50));
            let slept = (clock.ticks() - before) as f64 * clock.nanoseconds() / 1e6;
            assert!((49.0..1000.0).contains(&slept), "{slept}");
        }
    }
}
