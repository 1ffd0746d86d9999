//! The totals of the calls of each method.

use std::sync::atomic::{AtomicU64, Ordering};

use super::store::{Outcome, Spans};
use super::threads::{self, Counted};

/// The totals of a method's calls, as they grow, in ticks.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) calls: AtomicU64,
    /// The pieces of enumerations.
    pub(super) pieces: AtomicU64,
    errors: AtomicU64,
    total: AtomicU64,
    longest: AtomicU64,
}

/// The totals of the calls of a method that have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodTotals {
    /// The name of the method.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of those without a span, whose time is not known.
    pub plain: u64,
    /// The number of calls that did not return.
    pub errors: u64,
    /// The time of all calls in nanoseconds.
    pub total: u64,
    /// The time of the longest call in nanoseconds.
    pub longest: u64,
}

impl Spans {
    /// Adds a call to the totals.
    pub(super) fn count(&self, method: u32, start: u64, end: u64, outcome: &Outcome) {
        if let Some(count) = self.counts.get(method as usize) {
            let took = end.saturating_sub(start);
            count.calls.fetch_add(1, Ordering::Relaxed);
            count.total.fetch_add(took, Ordering::Relaxed);
            count.longest.fetch_max(took, Ordering::Relaxed);
            if *outcome != Outcome::Returned {
                count.errors.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The totals of all methods with a number; the longest time first.
    #[must_use]
    pub fn totals(&self) -> Vec<MethodTotals> {
        let names = self.names();
        let counted = match self.has_threads {
            true => threads::counted(names.len()),
            false => vec![Counted::default(); names.len()],
        };
        let rate = self.clock.converter().rate();
        let nanoseconds = |ticks: u64| (ticks as f64 * rate) as u64;
        let mut rows: Vec<MethodTotals> = names
            .into_iter()
            .zip(&self.counts)
            .zip(counted)
            .map(|((name, count), more)| MethodTotals {
                name,
                calls: count.calls.load(Ordering::Relaxed) + more.calls,
                plain: more.plain,
                errors: count.errors.load(Ordering::Relaxed),
                total: nanoseconds(count.total.load(Ordering::Relaxed) + more.total),
                longest: nanoseconds(count.longest.load(Ordering::Relaxed).max(more.longest)),
            })
            .collect();
        rows.sort_by(|one, other| other.total.cmp(&one.total).then(one.name.cmp(&other.name)));
        rows
    }
}
