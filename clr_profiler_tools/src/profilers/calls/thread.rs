//! The calls of the current thread.

use std::cell::Cell;
use std::ptr;

use crate::calls::CallStack;
use crate::spans::ticks;
use crate::stacks::{Live, Local, Place, Stacks};
use clr_profiler::FunctionId;
use clr_profiler::hooks::{CallHooks, HookKinds, HookedFunction, UnwindStep};

use super::local;

/// The functions whose places a thread has in an array: the others share one.
const INDICES: u64 = 1 << 20;

/// The hooks that count calls by stack, with or without times. Weights are ticks.
pub(crate) struct ByStack<const TIMES: bool>(pub(crate) Live);

/// The hooks that only count the calls of each method.
pub(crate) struct ByMethod(pub(crate) Live);

/// The state of a thread, which is that of one kind of hooks.
pub(crate) struct Thread {
    calls: CallStack<Call>,
    stacks: Local,
    /// The innermost call, and the time since which it runs itself.
    place: Place,
    since: u64,
    root: Place,
    /// The places of methods by the numbers of their names, if callers do not count.
    methods: Vec<Option<Place>>,
}

/// An active call.
struct Call {
    place: Place,
    /// The position of its enter hook on the stack.
    frame: usize,
}

/// Frees the state of a thread that ends.
struct Owner(Cell<*mut Thread>);

impl Drop for Owner {
    fn drop(&mut self) {
        let thread = self.0.replace(ptr::null_mut());
        if !thread.is_null() {
            local::set(ptr::null());
            // SAFETY: `Thread::begin` made it from a box; nothing else has it now, because only this thread does.
            drop(unsafe { Box::from_raw(thread) });
        }
    }
}

thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(ptr::null_mut())) };
}

// SAFETY: the hooks read a clock, allocate, and touch atomics and memory of their own thread. They call neither the runtime nor managed
// code. The locks of `Live` and of its free chunks are held by threads that copy numbers and allocate, and wait for nothing else.
unsafe impl<const TIMES: bool> CallHooks for ByStack<TIMES> {
    /// The number of its name.
    type Function = u64;

    #[inline]
    fn enter(&self, function: &'static HookedFunction<u64>) {
        let here = 0_u8;
        let frame = (&raw const here).addr();
        if let Some(thread) = current(&self.0) {
            thread.enter::<TIMES>(function.id(), **function, frame);
        }
    }

    #[inline]
    fn leave(&self, function: &'static HookedFunction<u64>) {
        if let Some(thread) = known() {
            thread.leave::<TIMES>(function.id());
        }
    }

    #[inline]
    fn tailcall(&self, function: &'static HookedFunction<u64>) {
        self.leave(function);
    }
}

// SAFETY: as above, without a clock.
unsafe impl CallHooks for ByMethod {
    type Function = u64;

    const KINDS: HookKinds = HookKinds::ENTER;

    #[inline]
    fn enter(&self, function: &'static HookedFunction<u64>) {
        if let Some(thread) = current(&self.0) {
            thread.count(**function);
        }
    }
}

impl<const TIMES: bool> ByStack<TIMES> {
    /// An exception has reached this step.
    pub(crate) fn unwind(step: UnwindStep) {
        if let Some(thread) = known() {
            thread.tick::<TIMES>();
            drop(thread.calls.unwind(step));
            thread.go_on::<TIMES>();
        }
    }
}

/// The state of this thread, if it has one.
#[inline]
fn known() -> Option<&'static mut Thread> {
    // SAFETY: null, or the state that only this thread uses, until its end. Hooks and the callbacks of exceptions do not interrupt each
    // other: no managed code runs in them. None keeps the reference.
    unsafe { local::get().cast_mut().as_mut() }
}

/// The state of this thread, which gets one; none if it is about to end.
#[inline]
fn current(live: &Live) -> Option<&'static mut Thread> {
    match known() {
        None => Thread::begin(live),
        thread => thread,
    }
}

impl Thread {
    #[cold]
    fn begin(live: &Live) -> Option<&'static mut Self> {
        // A thread that is about to end has no owner anymore.
        OWNER
            .try_with(|owner| {
                let stacks = live.join();
                let root = stacks.root();
                let thread = Box::into_raw(Box::new(Self {
                    calls: CallStack::with_capacity(256),
                    stacks,
                    place: root,
                    since: 0,
                    root,
                    methods: Vec::new(),
                }));
                owner.0.set(thread);
                local::set(thread);
            })
            .ok()?;
        known()
    }

    #[inline]
    fn enter<const TIMES: bool>(&mut self, function: FunctionId, name: u64, frame: usize) {
        self.tick::<TIMES>();
        // Calls whose frames are not above were left by an exception that was not reported: one that native
        // code caught, or that left a method without hooks.
        if self.calls.end_while(|_, call| call.frame <= frame).count() > 0 {
            self.go_on::<TIMES>();
        }
        let place = self.stacks.place(self.place.node(), name);
        place.count();
        self.calls.enter(function, Call { place, frame });
        self.run::<TIMES>(place);
    }

    #[inline]
    fn leave<const TIMES: bool>(&mut self, function: FunctionId) {
        self.tick::<TIMES>();
        drop(self.calls.leave(function));
        self.go_on::<TIMES>();
    }

    /// The time since the last event belongs to the innermost call, or to none.
    #[inline]
    fn tick<const TIMES: bool>(&mut self) {
        if TIMES {
            let now = ticks();
            self.place.add_weight(now.saturating_sub(self.since));
            self.since = now;
        }
    }

    #[inline]
    fn go_on<const TIMES: bool>(&mut self) {
        let last = self.calls.last_mut();
        let place = last.map_or(self.root, |(_, call)| call.place);
        self.run::<TIMES>(place);
    }

    #[inline]
    fn run<const TIMES: bool>(&mut self, place: Place) {
        self.place = place;
        if TIMES {
            self.stacks.open(place.node(), self.since);
        }
    }

    /// A call whose caller does not matter.
    #[inline]
    fn count(&mut self, name: u64) {
        match self.methods.get(name as usize) {
            Some(Some(place)) => place.count(),
            _ => self.find(name).count(),
        }
    }

    #[cold]
    fn find(&mut self, name: u64) -> Place {
        let place = self.stacks.place(Stacks::ROOT, name);
        if name < INDICES {
            let index = name as usize;
            if self.methods.len() <= index {
                self.methods.resize(index + 1, None);
            }
            self.methods[index] = Some(place);
        }
        place
    }
}
