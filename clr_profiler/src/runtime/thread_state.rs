//! The state of a thread: which calls the runtime allows on it, and whether objects can move.

use std::cell::Cell;

/// Why the runtime is suspended, as far as a thread is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspended {
    /// It is not suspended, as far as this thread knows.
    No,
    /// It is suspended for a garbage collection.
    ForGc,
    /// It is suspended by the profiler, on this thread.
    ByProfiler,
    /// It is not suspended, but this thread is in a hook: a suspension waits for it.
    InHook,
    /// It is not suspended, but it walks an object on this thread, which must not move.
    InWalk,
}

/// The state of a thread: in a callback (the innermost one), in a hook, or in a walk.
#[derive(Clone, Copy)]
pub(crate) struct ThreadState {
    /// Whether the runtime is suspended.
    pub(crate) suspended: Suspended,
    /// Whether the thread is in cooperative mode: a collection waits for it, unless it makes a call that may
    /// trigger a GC.
    pub(crate) is_cooperative: bool,
    /// Whether the callback may wait for another thread, if the runtime is not suspended.
    pub(crate) may_wait: bool,
    /// Whether the callback reports that a module or an assembly is still being loaded.
    pub(crate) is_loading: bool,
    /// Whether the thread is in a callback.
    pub(crate) is_in_callback: bool,
    /// The owner of the running code.
    pub(crate) owner: Owner,
}

/// The owner of running code: a component, in the order of callbacks, or the profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(u32);

impl Owner {
    /// The profiler itself, also outside of callbacks.
    pub(crate) const PROFILER: Self = Self(u32::MAX);

    /// The component with this index.
    pub(crate) fn component(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index of the component; `None` for the profiler.
    pub(crate) fn index(self) -> Option<usize> {
        (self != Self::PROFILER).then_some(self.0 as usize)
    }
}

thread_local! {
    static STATE: Cell<ThreadState> = const {
        Cell::new(ThreadState {
            suspended: Suspended::No,
            is_cooperative: false,
            may_wait: true,
            is_loading: false,
            is_in_callback: false,
            owner: Owner::PROFILER,
        })
    };
}

/// Whether the runtime is suspended, as far as this thread is concerned.
pub(crate) fn suspended() -> Suspended {
    STATE.get().suspended
}

/// Whether objects cannot move while this thread makes no GC-triggering call.
pub(crate) fn is_cooperative() -> bool {
    STATE.get().is_cooperative
}

/// Whether this thread may wait for another one. In cooperative mode it must not, because a suspension of the
/// runtime waits for it; nor while the runtime is suspended, because the other thread may wait for the end of that.
pub(crate) fn may_wait() -> bool {
    let state = STATE.get();
    state.may_wait && state.suspended == Suspended::No
}

/// Whether this thread is in a callback that reports that a module or an assembly is still being loaded.
pub(crate) fn is_loading() -> bool {
    STATE.get().is_loading
}

/// Whether this thread is in a callback.
pub(crate) fn is_in_callback() -> bool {
    STATE.get().is_in_callback
}

/// The owner of the code that runs on this thread.
pub(crate) fn owner() -> Owner {
    STATE.get().owner
}

/// Runs code of this owner outside of the owner's callbacks.
pub(crate) fn owned_by<R>(owner: Owner, code: impl FnOnce() -> R) -> R {
    let _guard = StateGuard::set(ThreadState {
        owner,
        ..STATE.get()
    });
    code()
}

/// Runs `code` while the runtime walks an object: calls that could move it are refused.
pub(crate) fn in_walk<R>(code: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let suspended = match state.suspended {
        Suspended::No => Suspended::InWalk,
        // This state refuses more.
        other => other,
    };
    let _guard = StateGuard::set(ThreadState {
        suspended,
        may_wait: false,
        ..state
    });
    code()
}

/// Runs `code` in a callback that comes while the runtime begins a collection: calls that would wait for the collection
/// are refused.
pub(crate) fn during_gc<R>(code: impl FnOnce() -> R) -> R {
    let _guard = StateGuard::set(ThreadState {
        suspended: Suspended::ForGc,
        may_wait: false,
        ..STATE.get()
    });
    code()
}

/// Runs `code` while other threads may be suspended: it must not wait for one.
pub(crate) fn without_waiting<R>(code: impl FnOnce() -> R) -> R {
    let _guard = StateGuard::set(ThreadState {
        may_wait: false,
        ..STATE.get()
    });
    code()
}

/// Sets whether the runtime is suspended as far as this thread is concerned, and returns the previous state.
pub(crate) fn set_suspended(suspended: Suspended) -> Suspended {
    let state = STATE.get();
    STATE.set(ThreadState { suspended, ..state });
    state.suspended
}

/// Runs a hook of compiled code. Calls that wait for the runtime are refused in it, and objects do not move.
pub(crate) fn in_hook<R>(code: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let _guard = StateGuard::set(ThreadState {
        suspended: Suspended::InHook,
        is_cooperative: true,
        may_wait: false,
        ..state
    });
    code()
}

/// Makes a call that is allowed in hooks, but not elsewhere with that state.
pub(crate) fn outside_of_hook<R>(call: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let _guard = StateGuard::set(ThreadState {
        suspended: Suspended::No,
        ..state
    });
    call()
}

/// Sets the state of this thread until it is dropped.
pub(crate) struct StateGuard(ThreadState);

impl StateGuard {
    pub(crate) fn set(state: ThreadState) -> Self {
        Self(STATE.replace(state))
    }
}

impl Drop for StateGuard {
    fn drop(&mut self) {
        STATE.set(self.0);
    }
}
