//! [`Pace`]: the time of the next stop.

use std::time::Duration;

/// The excess of stopped time that does not lengthen the next pause: stops become rarer in the long
/// run, but not after each single stop that takes longer.
const BURST: Duration = Duration::from_millis(100);

/// The pauses between stops.
pub(super) struct Pace {
    interval: Duration,
    /// The share of the time that the program may be stopped.
    most_stopped: f64,
    /// The time of stops that pauses have not made up for.
    excess: Duration,
    random: u64,
}

impl Pace {
    pub(super) fn new(interval: Duration, most_stopped: f64) -> Self {
        // The address of the stack differs from run to run.
        let here = 0_u8;
        Self {
            interval,
            most_stopped,
            excess: Duration::ZERO,
            random: (&raw const here as u64) | 1,
        }
    }

    /// Counts a stop. `elapsed` is the time since the last counted stop, and includes this one.
    pub(super) fn stopped(&mut self, stopped: Duration, elapsed: Duration) {
        let allowed = elapsed.mul_f64(self.most_stopped);
        self.excess = (self.excess + stopped).saturating_sub(allowed);
    }

    /// The next pause: the interval, up to a quarter more or less so that it does not follow the
    /// program's rhythm, but long enough to make up for an excess.
    pub(super) fn pause(&mut self) -> Duration {
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let part = (self.random >> 40) as f64 / (1_u64 << 24) as f64;
        let regular = self.interval.mul_f64(0.75 + part / 2.0);
        let excess = self.excess.saturating_sub(BURST);
        // A pause for a tiny share may not fit a `Duration`.
        let pause = Duration::try_from_secs_f64(excess.as_secs_f64() / self.most_stopped);
        regular.max(pause.unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_vary_around_the_interval() {
        let interval = Duration::from_millis(100);
        let mut pace = Pace::new(interval, 0.5);
        let pauses: Vec<Duration> = (0..1000).map(|_| pace.pause()).collect();
        let (low, high) = (interval.mul_f64(0.75), interval.mul_f64(1.25));
        assert!(pauses.iter().all(|pause| (low..=high).contains(pause)));
        let mean = pauses.iter().sum::<Duration>() / 1000;
        assert!(
            mean > interval.mul_f64(0.97) && mean < interval.mul_f64(1.03),
            "{mean:?}"
        );
        assert!(pauses.windows(2).all(|two| two[0] != two[1]));
    }

    /// The share of the time that the program is stopped if each stop takes `stop`.
    fn share(stop: Duration, pace: &mut Pace) -> f64 {
        let (mut time, mut stopped) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..10_000 {
            let elapsed = pace.pause() + stop;
            pace.stopped(stop, elapsed);
            time += elapsed;
            stopped += stop;
        }
        stopped.as_secs_f64() / time.as_secs_f64()
    }

    #[test]
    fn long_stops_are_rare() {
        let millisecond = Duration::from_millis(1);
        for (stop, most, expected) in [
            (Duration::from_millis(600), 0.2, 0.2),
            (Duration::from_millis(4), 0.2, 0.2),
            (Duration::from_millis(4), 1.0, 0.8),
            (Duration::from_micros(100), 0.2, 1.0 / 11.0),
        ] {
            let share = share(stop, &mut Pace::new(millisecond, most));
            assert!((share - expected).abs() < 0.01, "{stop:?} {most}: {share}");
        }
    }

    #[test]
    fn few_long_stops_are_not_made_up_for_and_quiet_times_are_not_saved() {
        let mut pace = Pace::new(Duration::from_millis(1), 0.2);
        pace.stopped(Duration::ZERO, Duration::from_secs(3600));
        pace.stopped(Duration::from_millis(80), Duration::from_millis(80));
        assert!(pace.pause() < Duration::from_millis(2));
        pace.stopped(Duration::from_secs(1), Duration::from_secs(1));
        assert!(pace.pause() > Duration::from_secs(3));
    }
}
