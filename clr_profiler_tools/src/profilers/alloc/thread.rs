//! The allocations of the current thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stacks::{Live, Local, Stacks};
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;

use super::numbers::Numbers;

thread_local! {
    static THREAD: RefCell<Option<Thread>> = const { RefCell::new(None) };
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
}

struct Thread {
    stacks: Local,
    age: u64,
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

    /// Adds bytes of a type, by its number, allocated at the current position of this thread.
    pub(crate) fn add(&self, info: &ProfilerInfo, type_number: u64, bytes: u64) {
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
            thread.stacks.add(node, bytes, 1);
            thread.frames = frames;
            Some(())
        });
    }

    /// `None` in a thread that is about to end.
    fn with<R>(&self, then: impl FnOnce(&mut Thread) -> Option<R>) -> Option<R> {
        let answer = THREAD.try_with(|thread| {
            let mut thread = thread.try_borrow_mut().ok()?;
            let age = self.age.load(Ordering::Relaxed);
            let thread = thread.get_or_insert_with(|| Thread {
                stacks: self.live.join(),
                age,
                types: HashMap::new(),
                methods: HashMap::new(),
                frames: Vec::new(),
            });
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
