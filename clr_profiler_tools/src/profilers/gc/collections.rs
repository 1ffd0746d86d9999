//! The collections that are under way, and their pauses.

use std::time::{Duration, Instant};

use clr_profiler::prelude::*;

use super::collection::{Collection, Heap};
use super::triggers::{Latest, Trigger};

pub(crate) struct Collections {
    started: Instant,
    /// When the runtime began to suspend the program's threads, if it has.
    paused: Option<Instant>,
    /// The active ones: others may occur during a concurrent one of generation 2.
    running: Vec<Collection>,
    /// Those that have ended, but for their pause.
    ended: Vec<Collection>,
    latest: Latest,
}

impl Collections {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            paused: None,
            running: Vec::new(),
            ended: Vec::new(),
            latest: Latest::default(),
        }
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A collection is about to begin.
    pub(crate) fn triggered(&mut self, trigger: Trigger) {
        self.latest.set(trigger);
    }

    pub(crate) fn suspends(&mut self) {
        self.paused = Some(Instant::now());
    }

    pub(crate) fn suspends_not(&mut self) {
        self.paused = None;
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    pub(crate) fn began(&mut self, number: u64, generation: u32, reason: GcReason, before: Heap) {
        self.running.push(Collection {
            number,
            at: self.started.elapsed(),
            generation,
            reason,
            // A concurrent one runs while the program does, except for its beginning and its end.
            pause: Duration::ZERO,
            before,
            after: Heap::default(),
            survived: None,
            trigger: self.latest.of_collection(),
        });
    }

    pub(crate) fn survived(&mut self, bytes: usize) {
        if let Some(collection) = self.running.last_mut() {
            *collection.survived.get_or_insert(0) += bytes as u64;
        }
    }

    pub(crate) fn ended(&mut self, after: Heap) {
        if let Some(mut collection) = self.running.pop() {
            collection.after = after;
            self.ended.push(collection);
        }
    }

    /// The program runs again; the pause, if it was one of collections.
    pub(crate) fn resumed(&mut self) -> Option<Duration> {
        self.latest.resumed();
        let pause = self.paused.take()?.elapsed();
        for collection in self.running.iter_mut().chain(&mut self.ended) {
            collection.pause += pause;
        }
        (!(self.running.is_empty() && self.ended.is_empty())).then_some(pause)
    }

    /// Takes those that have ended and are complete.
    pub(crate) fn complete(&mut self) -> Vec<Collection> {
        std::mem::take(&mut self.ended)
    }

    /// Those that have not ended yet lose the stacks of their triggers.
    pub(crate) fn forget_stacks(&mut self) {
        self.latest.forget_stack();
        let collections = self.running.iter_mut().chain(&mut self.ended);
        for trigger in collections.filter_map(|one| one.trigger.as_mut()) {
            trigger.stack.clear();
        }
    }
}
