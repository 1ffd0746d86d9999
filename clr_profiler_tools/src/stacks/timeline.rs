//! Samples in the order of time.

use std::time::Duration;

use crate::stacks::Node;

/// The single samples of some [`Stacks`](crate::stacks::Stacks), each with its thread and its time.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub(super) threads: Vec<Thread>,
    samples: usize,
    limit: usize,
    left_out: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: Duration,
    pub(super) node: Node,
    pub(super) weight: u64,
}

impl Timeline {
    /// No samples, with a limit for their number, of 32 bytes each. Those beyond it are left out.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            threads: Vec::new(),
            samples: 0,
            limit,
            left_out: 0,
        }
    }

    /// Adds a sample of the stack that ends at a node, by the thread's number: as if it were taken `at` this time since the
    /// beginning, but not before the last one of the thread. `name` is called for the first sample of a thread.
    pub fn add(
        &mut self,
        thread: u32,
        name: impl FnOnce() -> String,
        at: Duration,
        node: Node,
        weight: u64,
    ) {
        if self.samples >= self.limit {
            self.left_out += 1;
            return;
        }
        self.samples += 1;
        let index = match self.threads.iter().rposition(|known| known.id == thread) {
            Some(index) => index,
            None => {
                self.threads.push(Thread {
                    id: thread,
                    name: name(),
                    samples: Vec::new(),
                });
                self.threads.len() - 1
            }
        };
        let samples = &mut self.threads[index].samples;
        let at = samples.last().map_or(at, |last| at.max(last.at));
        samples.push(Sample { at, node, weight });
    }

    /// The time of the last sample of a thread.
    #[must_use]
    pub fn last(&self, thread: u32) -> Option<Duration> {
        let thread = self.threads.iter().rfind(|known| known.id == thread)?;
        thread.samples.last().map(|sample| sample.at)
    }

    /// How many samples were left out.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}
