//! The collections so far.

use std::time::{Duration, Instant};

use clr_profiler::prelude::*;

/// Counts since the profiler began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Collections {
    /// By the oldest generation that was collected.
    pub(crate) by_generation: [u64; 3],
    pub(crate) paused: Duration,
    pub(crate) longest: Duration,
    suspended: Option<Instant>,
}

impl Collections {
    pub(crate) fn suspending(&mut self, reason: SuspendReason) {
        // Other reasons, such as a sampler that suspends, are no pauses of the collector.
        self.suspended =
            matches!(reason, SuspendReason::Gc | SuspendReason::GcPreparation).then(Instant::now);
    }

    pub(crate) fn aborted(&mut self) {
        self.suspended = None;
    }

    pub(crate) fn resumed(&mut self) {
        if let Some(since) = self.suspended.take() {
            let pause = since.elapsed();
            self.paused += pause;
            self.longest = self.longest.max(pause);
        }
    }

    pub(crate) fn began(&mut self, generations: GenerationSet) {
        let oldest = generations.oldest().unwrap_or(0) as usize;
        if let Some(count) = self.by_generation.get_mut(oldest.min(2)) {
            *count += 1;
        }
    }
}
