//! The clock that is read when a call begins and when it ends.

use std::time::Instant;

use crate::spans::ticks;

/// Ticks, and their length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
    first: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            first: ticks(),
        }
    }

    /// The length of a tick.
    pub(crate) fn nanoseconds(&self) -> f64 {
        let passed = ticks().saturating_sub(self.first);
        self.started.elapsed().as_nanos() as f64 / passed.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ticks_have_their_length() {
        let clock = Clock::start();
        let before = ticks();
        std::thread::sleep(Duration::from_millis(50));
        let slept = (ticks() - before) as f64 * clock.nanoseconds() / 1e6;
        assert!((49.0..1000.0).contains(&slept), "{slept}");
    }
}
