//! Where a thread is: what the runtime may be asked there, and whether objects can move.

use std::cell::Cell;

/// Why the runtime is suspended while a thread is where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspended {
    /// It is not, as far as this thread knows.
    No,
    /// For a garbage collection.
    ForGc,
    /// By the profiler, on this thread.
    ByProfiler,
    /// It is not, but this thread is in a hook: the runtime waits for it when it wants to.
    InHook,
    /// It is not, but on this thread the runtime walks an object, which has to stay where it is.
    InWalk,
}

/// What holds for a thread where it is: in a callback (the innermost one), in a hook, in a walk.
#[derive(Clone, Copy)]
pub(crate) struct ThreadState {
    /// Whether the runtime is suspended during it.
    pub(crate) suspended: Suspended,
    /// Whether a collection waits for this thread, unless it makes a call that lets one begin: the
    /// thread is in cooperative mode.
    pub(crate) objects_stay: bool,
    /// Whether it may wait for another thread.
    pub(crate) may_wait: bool,
    /// Whether it tells of the loading of a module or an assembly.
    pub(crate) is_loading: bool,
    /// Whose code runs.
    pub(crate) owner: Owner,
}

/// Whose code runs: components in the order of callbacks, then the profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(u32);

impl Owner {
    /// The profiler itself. Also outside of callbacks.
    pub(crate) const PROFILER: Self = Self(u32::MAX);

    /// The component with this index.
    pub(crate) fn component(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index of the component; none is the profiler.
    pub(crate) fn index(self) -> Option<usize> {
        (self != Self::PROFILER).then_some(self.0 as usize)
    }
}

thread_local! {
    static STATE: Cell<ThreadState> = const {
        Cell::new(ThreadState {
            suspended: Suspended::No,
            objects_stay: false,
            may_wait: true,
            is_loading: false,
            owner: Owner::PROFILER,
        })
    };
}

/// Whether the runtime is suspended while this thread is where it is.
pub(crate) fn suspended() -> Suspended {
    STATE.get().suspended
}

/// Whether objects stay where they are while this thread makes no call that lets them move.
pub(crate) fn objects_stay() -> bool {
    STATE.get().objects_stay
}

/// Whether this thread may wait for another one. In cooperative mode it may not, because a suspension
/// of the runtime waits for it.
pub(crate) fn may_wait() -> bool {
    STATE.get().may_wait
}

/// Whether this thread is in a callback that tells of the loading of a module or an assembly.
pub(crate) fn is_loading() -> bool {
    STATE.get().is_loading
}

/// Whose code runs on this thread.
pub(crate) fn owner() -> Owner {
    STATE.get().owner
}

/// Runs code of this owner outside of callbacks of its own.
pub(crate) fn owned_by<R>(owner: Owner, code: impl FnOnce() -> R) -> R {
    let _mark = Mark::set(ThreadState {
        owner,
        ..STATE.get()
    });
    code()
}

/// Runs `code` while the runtime walks an object: calls are refused that let it move.
pub(crate) fn in_walk<R>(code: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let suspended = match state.suspended {
        Suspended::No => Suspended::InWalk,
        // That refuses more.
        other => other,
    };
    let _mark = Mark::set(ThreadState {
        suspended,
        may_wait: false,
        ..state
    });
    code()
}

/// Runs `code` where threads may be suspended until it has returned: it may not wait for one.
pub(crate) fn without_waiting<R>(code: impl FnOnce() -> R) -> R {
    let _mark = Mark::set(ThreadState {
        may_wait: false,
        ..STATE.get()
    });
    code()
}

/// Sets whether the runtime is suspended where this thread is, and says what was so before.
pub(crate) fn set_suspended(suspended: Suspended) -> Suspended {
    let state = STATE.get();
    STATE.set(ThreadState { suspended, ..state });
    state.suspended
}

/// Runs a hook of compiled code, in which calls are refused that need the runtime to go on, and
/// objects are where they are.
pub(crate) fn in_hook<R>(code: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let _mark = Mark::set(ThreadState {
        suspended: Suspended::InHook,
        objects_stay: true,
        may_wait: false,
        ..state
    });
    code()
}

/// Makes a call in a hook that is meant for hooks, and for no other place with that mark.
pub(crate) fn outside_of_hook<R>(call: impl FnOnce() -> R) -> R {
    let state = STATE.get();
    let _mark = Mark::set(ThreadState {
        suspended: Suspended::No,
        ..state
    });
    call()
}

/// Sets the state of this thread, until it is dropped.
pub(crate) struct Mark(ThreadState);

impl Mark {
    pub(crate) fn set(state: ThreadState) -> Self {
        Self(STATE.replace(state))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        STATE.set(self.0);
    }
}
