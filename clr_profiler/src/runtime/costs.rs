//! [`Costs`]: the time that a profiler takes, counted while it runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// One of so many frequent callbacks is measured.
const SAMPLED: u32 = 64;

/// The counters of one runtime.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    exact: Sum,
    sampled: Sum,
    /// The sum of the squares of the sampled times, as the bits of an `f64`.
    squares: AtomicU64,
    rewrites: AtomicU64,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Sum {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Sum {
    fn get(&self) -> (u64, u64) {
        let nanoseconds = self.nanoseconds.load(Ordering::Relaxed);
        (self.count.load(Ordering::Relaxed), nanoseconds)
    }
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    pub(crate) callbacks: u64,
    pub(crate) nanoseconds: u64,
    /// The standard error of the time.
    pub(crate) error: u64,
    pub(crate) rewrites: u64,
    pub(crate) refused: u64,
}

impl Costs {
    /// Measures a callback until the result is dropped. Of frequent ones, a sample is measured.
    #[inline]
    pub(crate) fn measure(&self, is_frequent: bool, is_nested: bool) -> Measured<'_> {
        let is_measured = !is_frequent || is_sampled();
        Measured {
            sum: if is_frequent {
                &self.sampled
            } else {
                &self.exact
            },
            squares: is_frequent.then_some(&self.squares),
            // The time of a nested callback is in that of the outer one.
            since: (is_measured && !is_nested).then(Instant::now),
            is_measured,
        }
    }

    /// Counts a rewrite.
    pub(crate) fn rewrote(&self, success: bool) {
        let counter = if success {
            &self.rewrites
        } else {
            &self.refused
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counted(&self) -> Counted {
        let (exact, exact_time) = self.exact.get();
        let (sampled, sampled_time) = self.sampled.get();
        let squares = f64::from_bits(self.squares.load(Ordering::Relaxed));
        let scale = f64::from(SAMPLED);
        // Of a sum that is estimated from a sample in which each item is with the same probability.
        let error = (squares * scale * (scale - 1.0)).sqrt();
        let scale = u64::from(SAMPLED);
        Counted {
            callbacks: exact + sampled * scale,
            nanoseconds: exact_time + sampled_time * scale,
            error: error as u64,
            rewrites: self.rewrites.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

/// A callback that is being measured.
pub(crate) struct Measured<'costs> {
    sum: &'costs Sum,
    squares: Option<&'costs AtomicU64>,
    since: Option<Instant>,
    is_measured: bool,
}

impl Measured<'_> {
    #[cold]
    fn add(&self) {
        let passed = self.since.map_or(0, |since| since.elapsed().as_nanos());
        self.sum.count.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = &self.sum.nanoseconds;
        nanoseconds.fetch_add(passed as u64, Ordering::Relaxed);
        if let Some(squares) = self.squares {
            let square = (passed as f64).powi(2);
            let add = |sum| Some((f64::from_bits(sum) + square).to_bits());
            // The closure always returns a value.
            let _ = squares.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        }
    }
}

impl Drop for Measured<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_measured {
            self.add();
        }
    }
}

thread_local! {
    /// The number of frequent callbacks of this thread until the next that is measured.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    /// The state of the generator of these numbers; zero before the first one.
    static RANDOM: Cell<u32> = const { Cell::new(0) };
}

/// Whether a frequent callback is measured.
#[inline]
fn is_sampled() -> bool {
    match LEFT.get() {
        0 => is_sampled_now(),
        left => {
            LEFT.set(left - 1);
            false
        }
    }
}

/// Chooses the distance to the next callback that is measured: at random, because callbacks come in patterns.
#[cold]
fn is_sampled_now() -> bool {
    let (before, is_first) = match RANDOM.get() {
        // A thread begins somewhere between two samples. Addresses of threads differ.
        0 => (
            LEFT.with(|left| std::ptr::from_ref(left) as usize as u32) | 1,
            true,
        ),
        before => (before, false),
    };
    let now = before.wrapping_mul(747_796_405).wrapping_add(2_891_336_453) | 1;
    RANDOM.set(now);
    // From 0 to twice the mean.
    let distance = ((u64::from(now) * u64::from(2 * SAMPLED - 1)) >> 32) as u32;
    LEFT.set(if is_first { distance / 2 } else { distance });
    !is_first
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rare_callback_is_measured_each_time_and_a_nested_one_counts_without_time() {
        let costs = Costs::default();
        let begun = Instant::now();
        for _ in 0..3 {
            let _outer = costs.measure(false, false);
            thread::sleep(Duration::from_millis(2));
            let _nested = costs.measure(false, true);
            thread::sleep(Duration::from_millis(2));
        }
        let passed = begun.elapsed();
        let counted = costs.counted();
        assert_eq!((counted.callbacks, counted.error), (6, 0));
        let time = Duration::from_nanos(counted.nanoseconds);
        // It would be half as much again if the nested ones were measured, too.
        assert!(
            time >= Duration::from_millis(12) && time <= passed,
            "{time:?}"
        );
    }

    #[test]
    fn the_estimate_of_frequent_callbacks_is_within_its_error() {
        let costs = Costs::default();
        let threads = 4;
        let each = 200_000;
        let begun = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..each {
                        let _measured = costs.measure(true, false);
                    }
                });
            }
        });
        let counted = costs.counted();
        // A thousand times the deviation of a sum of uniform distances would be 4 %.
        let real = threads * each;
        let off = counted.callbacks.abs_diff(real);
        assert!(off < real / 25, "{counted:?}");
        let most = begun.elapsed().as_nanos() as u64 * threads;
        assert!(
            counted.nanoseconds < most + 4 * counted.error,
            "{counted:?}"
        );
    }

    #[test]
    fn a_pattern_of_two_callbacks_does_not_hide_one() {
        // With a fixed distance of 64, one of two alternating callbacks would never be measured.
        let mut measured = [0_u32; 2];
        for number in 0..200_000_usize {
            measured[number % 2] += u32::from(is_sampled());
        }
        assert!(measured.iter().all(|times| *times > 1000), "{measured:?}");
    }
}
