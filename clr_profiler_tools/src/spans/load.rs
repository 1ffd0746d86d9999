//! The load of spans: how often each method is called.

use std::sync::atomic::Ordering;

use super::store::Spans;
use super::threads::{self, Recording};
use crate::report::lock;

impl Spans {
    /// The number of spans of each method that were taken out of the rings since the last call, and of those that were overwritten before.
    pub(crate) fn take_seen(&self) -> (Vec<u64>, u64) {
        let mut drained = lock(&self.drained);
        let lost = std::mem::take(&mut drained.lost);
        (std::mem::take(&mut drained.seen), lost)
    }

    /// The number of calls of each method for which the helper was called. A piece of an enumeration costs two fifths of one.
    pub(crate) fn helped_calls(&self) -> Vec<u64> {
        let counts = self.counts.iter().take(self.methods());
        let calls = counts.map(|count| {
            count.calls.load(Ordering::Relaxed) + count.pieces.load(Ordering::Relaxed) * 2 / 5
        });
        calls.collect()
    }

    /// The number of calls without a span of each of these methods.
    pub(crate) fn plain_calls(&self, methods: impl Iterator<Item = u32>) -> Vec<u64> {
        threads::plain_calls(methods)
    }

    /// Calls of a method have no spans from now on.
    pub(crate) fn record_less(&self, method: u32, recording: Recording) {
        threads::set_recording(method, recording);
    }

    /// The recording of a method's calls.
    pub(crate) fn recording(&self, method: u32) -> Recording {
        threads::recording(method)
    }

    /// Whether no span begins anymore.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }
}
