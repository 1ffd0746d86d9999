//! The allocations of the current thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::stacks::{Live, Local, Node, Stacks};
use clr_profiler::heap::AllocationSample;
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;

use super::numbers::Numbers;

thread_local! {
    // A library can have several: two profilers at a time, or one that is attached after another.
    static THREADS: RefCell<Vec<Thread>> = const { RefCell::new(Vec::new()) };
}

/// The stacks that receive allocations. Weights are bytes.
#[derive(Clone)]
pub(crate) struct Recorder {
    live: Live,
    pub(crate) numbers: Numbers,
    /// Counts how often ids have changed their meaning.
    age: Arc<AtomicU64>,
    /// How many frames of a stack are recorded.
    depth: usize,
    /// How many of the runtime's samples were added.
    samples: Arc<AtomicU64>,
    /// How many stacks of threads have remainders.
    rounded: Arc<AtomicU64>,
}

/// The stacks of a thread for one recorder.
struct Thread {
    stacks: Local,
    /// That of the recorder, by which it is known.
    recorder: Weak<AtomicU64>,
    age: u64,
    /// The parts of objects that are added to the numbers of stacks with the next sample: see [`first_remainder`].
    remainders: HashMap<Node, f64>,
    types: HashMap<ClassId, u64>,
    methods: HashMap<FunctionId, u64>,
    /// Reused for the next stack.
    frames: Vec<FunctionId>,
}

impl Recorder {
    pub(crate) fn new(live: Live, depth: usize) -> Self {
        Self {
            live,
            numbers: Numbers::new(),
            age: Arc::default(),
            depth,
            samples: Arc::default(),
            rounded: Arc::default(),
        }
    }

    pub(crate) fn stacks(&self) -> Stacks {
        self.live.stacks(0)
    }

    pub(crate) fn threads(&self) -> u64 {
        self.live.threads()
    }

    /// Types and methods of a module are gone: their ids can be reused.
    pub(crate) fn forget(&self) {
        self.age.fetch_add(1, Ordering::Relaxed);
    }

    /// The type's number, and whether this thread did not know it.
    pub(crate) fn of_type(&self, info: &ProfilerInfo, class: ClassId) -> (u64, bool) {
        if let Some(number) = self.with(|thread| thread.types.get(&class).copied()) {
            return (number, false);
        }
        let number = self.numbers.of_type(info, class);
        self.with(|thread| thread.types.insert(class, number));
        (number, true)
    }

    fn of_method(&self, info: &ProfilerInfo, function: FunctionId) -> u64 {
        if let Some(number) = self.with(|thread| thread.methods.get(&function).copied()) {
            return number;
        }
        let number = self.numbers.of_method(info, function);
        self.with(|thread| thread.methods.insert(function, number));
        number
    }

    /// How many of the runtime's samples were added.
    pub(crate) fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Adds an object of a type, by its number, allocated at the current position of this thread.
    pub(crate) fn add(&self, info: &ProfilerInfo, type_number: u64, bytes: u64) {
        self.add_at(info, type_number, |thread, node| {
            thread.stacks.add(node, bytes, 1);
        });
    }

    /// Adds the objects that a sample represents. Numbers are whole; the remainder of a thread's stack is added with its next sample.
    pub(crate) fn add_sample(&self, info: &ProfilerInfo, sample: &AllocationSample) {
        let (number, _) = self.of_type(info, sample.class);
        self.samples.fetch_add(1, Ordering::Relaxed);
        // A runtime that does not tell the size tells of one object.
        let objects = sample.objects.unwrap_or(1.0);
        self.add_at(info, number, |thread, node| {
            let first = || first_remainder(self.rounded.fetch_add(1, Ordering::Relaxed));
            let remainder = thread.remainders.entry(node).or_insert_with(first);
            let all = objects + *remainder;
            *remainder = all.fract();
            let bytes = sample.bytes.round() as u64;
            thread.stacks.add(node, bytes, all.trunc() as u64);
        });
    }

    fn add_at(&self, info: &ProfilerInfo, type_number: u64, add: impl FnOnce(&mut Thread, Node)) {
        let mut frames = self.with(|thread| Some(std::mem::take(&mut thread.frames)));
        let frames = frames.get_or_insert_default();
        // If the walk of a stack ends early, its frames until there count.
        let _ = info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
            frames.extend(frame.function);
            match frames.len() < self.depth {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let mut node = None;
        for function in frames.drain(..).rev() {
            let number = self.of_method(info, function);
            node = self.with(|thread| {
                let parent = node.unwrap_or(Stacks::ROOT);
                Some(thread.stacks.child(parent, number))
            });
        }
        if node.is_none() {
            let native = self.numbers.of_native();
            node = self.with(|thread| Some(thread.stacks.child(Stacks::ROOT, native)));
        }
        let frames = std::mem::take(frames);
        self.with(|thread| {
            let node = thread.stacks.child(node?, type_number);
            add(thread, node);
            thread.frames = frames;
            Some(())
        });
    }

    /// `None` in a thread that is about to end.
    fn with<R>(&self, then: impl FnOnce(&mut Thread) -> Option<R>) -> Option<R> {
        let answer = THREADS.try_with(|threads| {
            let mut threads = threads.try_borrow_mut().ok()?;
            let age = self.age.load(Ordering::Relaxed);
            let is_of_this = |thread: &Thread| thread.recorder.as_ptr() == Arc::as_ptr(&self.age);
            let index = match threads.iter().position(is_of_this) {
                Some(index) => index,
                None => {
                    threads.retain(|thread| thread.recorder.strong_count() > 0);
                    threads.push(Thread {
                        stacks: self.live.join(),
                        recorder: Arc::downgrade(&self.age),
                        age,
                        remainders: HashMap::new(),
                        types: HashMap::new(),
                        methods: HashMap::new(),
                        frames: Vec::new(),
                    });
                    threads.len() - 1
                }
            };
            let thread = threads.get_mut(index)?;
            if thread.age != age {
                thread.age = age;
                thread.types.clear();
                thread.methods.clear();
            }
            then(thread)
        });
        answer.ok().flatten()
    }
}

/// The remainder with which the stack with this number begins: the sum of many stacks is too small if all begin with zero. The
/// remainders are distributed evenly, those of consecutive stacks, too.
fn first_remainder(number: u64) -> f64 {
    // The fractions of the multiples of the golden ratio.
    let fraction = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // As many bits as a number has: it stays below 1.
    (fraction >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::first_remainder;

    /// Each of many stacks has one sample.
    #[test]
    fn sums_of_rounded_numbers_have_no_bias() {
        for objects in [0.001, 0.3, 1.582, 2.999] {
            let rounded = |number| (objects + first_remainder(number)).trunc();
            let sum: f64 = (0..10_000).map(rounded).sum();
            assert!((sum - 10_000.0 * objects).abs() < 10.0, "{objects}: {sum}");
        }
        assert!((0..100_000).all(|number| (0.0..1.0).contains(&first_remainder(number))));
    }
}
