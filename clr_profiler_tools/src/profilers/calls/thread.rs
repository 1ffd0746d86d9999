//! The calls of the current thread.

use std::cell::RefCell;

use crate::calls::CallStack;
use crate::stacks::{Live, Local, Node, Stacks};
use clr_profiler::FunctionId;
use clr_profiler::hooks::{CallHooks, HookedFunction, UnwindStep};

use super::clock::Clock;

thread_local! {
    static THREAD: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// The counter: a clock, and the stacks of all threads. Weights are ticks.
#[derive(Clone)]
pub(crate) struct Counter {
    live: Live,
    /// `None` if times are not measured.
    clock: Option<Clock>,
}

struct Thread {
    counter: Counter,
    calls: CallStack<Call>,
    stacks: Local,
    /// The innermost call, and the time since which it runs itself.
    node: Node,
    since: u64,
}

/// An active call.
struct Call {
    node: Node,
    /// The position of its enter hook on the stack.
    frame: usize,
}

impl Counter {
    pub(crate) fn new(live: Live, times: bool) -> Self {
        Self {
            live,
            clock: times.then(Clock::start),
        }
    }

    #[inline]
    fn now(&self) -> Option<u64> {
        self.clock.map(|clock| clock.ticks())
    }

    /// A copy of the stacks, with nanoseconds.
    pub(crate) fn stacks(&self) -> Stacks {
        let mut stacks = self.live.stacks(self.now().unwrap_or(0));
        if let Some(clock) = self.clock {
            stacks.scale(clock.nanoseconds());
        }
        stacks
    }

    pub(crate) fn threads(&self) -> u64 {
        self.live.threads()
    }
}

// SAFETY: the hooks read a clock and touch atomics and memory of their own thread; the lock of
// `Live::join` is held by threads that copy numbers and do nothing else.
unsafe impl CallHooks for Counter {
    /// The number of its name.
    type Function = u64;

    #[inline]
    fn enter(&self, function: &'static HookedFunction<u64>) {
        let here = 0_u8;
        let frame = (&raw const here).addr();
        // A thread that is about to end has no thread-local state.
        let _ = THREAD.try_with(|thread| {
            let mut thread = thread.borrow_mut();
            let thread = thread.get_or_insert_with(|| Thread::new(self));
            thread.enter(function.id(), **function, frame);
        });
    }

    #[inline]
    fn leave(&self, function: &'static HookedFunction<u64>) {
        with(|thread| thread.leave(function.id()));
    }

    #[inline]
    fn tailcall(&self, function: &'static HookedFunction<u64>) {
        with(|thread| thread.leave(function.id()));
    }
}

#[inline]
fn with(then: impl FnOnce(&mut Thread)) {
    let _ = THREAD.try_with(|thread| {
        if let Some(thread) = thread.borrow_mut().as_mut() {
            then(thread);
        }
    });
}

/// An exception has reached this step.
pub(crate) fn unwind(step: UnwindStep) {
    with(|thread| {
        thread.tick();
        drop(thread.calls.unwind(step));
        thread.go_on();
    });
}

impl Thread {
    fn new(counter: &Counter) -> Self {
        Self {
            counter: counter.clone(),
            calls: CallStack::with_capacity(256),
            stacks: counter.live.join(),
            node: Stacks::ROOT,
            since: 0,
        }
    }

    #[inline]
    fn enter(&mut self, function: FunctionId, name: u64, frame: usize) {
        self.tick();
        // Calls whose frames are not above were left by an exception that was not reported: one that native
        // code caught, or that left a method without hooks.
        if self.calls.end_while(|_, call| call.frame <= frame).count() > 0 {
            self.go_on();
        }
        let node = self.stacks.child(self.node, name);
        self.stacks.add(node, 0, 1);
        self.calls.enter(function, Call { node, frame });
        self.run(node);
    }

    #[inline]
    fn leave(&mut self, function: FunctionId) {
        self.tick();
        drop(self.calls.leave(function));
        self.go_on();
    }

    /// The time since the last event belongs to the innermost call. Without a clock nothing is looked up.
    #[inline]
    fn tick(&mut self) {
        let Some(now) = self.counter.now() else {
            return;
        };
        if self.node != Stacks::ROOT {
            self.stacks
                .add(self.node, now.saturating_sub(self.since), 0);
        }
        self.since = now;
    }

    #[inline]
    fn go_on(&mut self) {
        let node = self
            .calls
            .last_mut()
            .map_or(Stacks::ROOT, |(_, call)| call.node);
        self.run(node);
    }

    #[inline]
    fn run(&mut self, node: Node) {
        self.node = node;
        if self.counter.clock.is_some() {
            self.stacks.open(node, self.since);
        }
    }
}
