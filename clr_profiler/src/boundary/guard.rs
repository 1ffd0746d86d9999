//! The guard around every callback: the one place where panics and errors end.
//!
//! The runtime calls through C code that cannot unwind: a panic that got out would abort the
//! program, and most failure codes make the runtime act. So a callback that panics or fails
//! returns what means "nothing to say" there, and the profiler's author is told through the hook
//! of `Setup::on_failure`.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::lifecycle::ProfilerClass;
use super::object::{Live, Object, Phase};
use super::{failures, panics};
use crate::callbacks::Callback;
use crate::error::Result;
use crate::failure::{Failure, FailureCause, FailurePlace};
use crate::info::{GcScope, ProfilerInfo};

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

/// The callback that a thread is in; the innermost one.
#[derive(Clone, Copy)]
struct Place {
    /// Whether the runtime is suspended during it.
    suspended: Suspended,
    /// Whether a collection waits for this thread, unless it makes a call that lets one begin: the
    /// thread is in cooperative mode.
    objects_stay: bool,
    /// Whether it may wait for another thread.
    may_wait: bool,
    /// Which profiler's it is: the identity of its handle, null outside of callbacks.
    profiler: *const (),
}

thread_local! {
    static PLACE: Cell<Place> = const {
        Cell::new(Place {
            suspended: Suspended::No,
            objects_stay: false,
            may_wait: true,
            profiler: std::ptr::null(),
        })
    };
}

/// Whether the runtime is suspended while this thread is where it is.
pub(crate) fn suspended() -> Suspended {
    PLACE.get().suspended
}

/// Whether objects stay where they are while this thread makes no call that lets them move.
pub(crate) fn objects_stay() -> bool {
    PLACE.get().objects_stay
}

/// Whether this thread may wait for another one. In cooperative mode it may not, because a suspension
/// of the runtime waits for it.
pub(crate) fn may_wait() -> bool {
    PLACE.get().may_wait
}

/// Runs `code` while the runtime walks an object: calls are refused that let it move.
pub(crate) fn in_walk<R>(code: impl FnOnce() -> R) -> R {
    let place = PLACE.get();
    let suspended = match place.suspended {
        Suspended::No => Suspended::InWalk,
        // That refuses more.
        other => other,
    };
    let _mark = Mark::set(Place {
        suspended,
        may_wait: false,
        ..place
    });
    code()
}

/// Sets whether the runtime is suspended where this thread is, and says what was so before.
pub(crate) fn set_suspended(suspended: Suspended) -> Suspended {
    let place = PLACE.get();
    PLACE.set(Place { suspended, ..place });
    place.suspended
}

/// Runs a hook of compiled code, in which calls are refused that need the runtime to go on, and
/// objects are where they are.
pub(crate) fn in_hook<R>(code: impl FnOnce() -> R) -> R {
    let place = PLACE.get();
    let _mark = Mark::set(Place {
        suspended: Suspended::InHook,
        objects_stay: true,
        may_wait: false,
        ..place
    });
    code()
}

/// Makes a call in a hook that is meant for hooks, and for no other place with that mark.
pub(crate) fn outside_of_hook<R>(call: impl FnOnce() -> R) -> R {
    let place = PLACE.get();
    let _mark = Mark::set(Place {
        suspended: Suspended::No,
        ..place
    });
    call()
}

/// Whether this thread is in a callback of the profiler whose handle has this identity. While it
/// is, the runtime keeps what the handle stands for.
pub(crate) fn in_callback_of(identity: *const ()) -> bool {
    PLACE.get().profiler == identity
}

/// What a callback may ask the runtime.
pub(super) trait Context: Sized {
    /// Whether the runtime is suspended while the callback runs.
    const GC: bool;

    fn of(info: &ProfilerInfo) -> &Self;
}

impl Context for ProfilerInfo {
    const GC: bool = false;

    fn of(info: &ProfilerInfo) -> &Self {
        info
    }
}

impl Context for GcScope {
    const GC: bool = true;

    fn of(info: &ProfilerInfo) -> &Self {
        GcScope::from_callback(info)
    }
}

/// Marks this thread as being in a callback, until it is dropped.
struct Mark(Place);

impl Mark {
    fn set(place: Place) -> Self {
        Self(PLACE.replace(place))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// Calls the profiler, if callbacks reach it; `None` where it did not answer.
#[inline]
pub(super) fn guarded<P: ProfilerClass, C: Context, R>(
    object: &Object<P>,
    callback: Callback,
    user_code: impl FnOnce(&P, &C) -> Result<R>,
) -> Option<R> {
    if object.phase() != Phase::Active {
        return None;
    }
    let live = object.live.get()?;
    let _mark = Mark::set(Place {
        // A callback that comes while the runtime is suspended comes while it is suspended.
        suspended: if C::GC { Suspended::ForGc } else { suspended() },
        objects_stay: callback.is_cooperative(),
        may_wait: callback.may_wait(),
        profiler: live.info.identity(),
    });
    match panics::catch(|| user_code(&live.profiler, C::of(&live.info))) {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => failed(live, callback, FailureCause::Error(error)),
        Err(message) => panicked(object, live, callback, message),
    }
    None
}

#[cold]
fn panicked<P: ProfilerClass>(
    object: &Object<P>,
    live: &Live<P>,
    callback: Callback,
    message: String,
) {
    let panics = object
        .panics
        .fetch_add(1, Ordering::Relaxed)
        .saturating_add(1);
    let retired = panics >= live.panic_limit && object.advance(Phase::Retired);
    failures::tell(
        live.on_failure.as_ref(),
        Failure {
            place: FailurePlace::Callback(callback),
            cause: FailureCause::Panic(message),
            retired,
        },
    );
}

#[cold]
pub(super) fn failed<P>(live: &Live<P>, callback: Callback, cause: FailureCause) {
    failures::tell(
        live.on_failure.as_ref(),
        Failure {
            place: FailurePlace::Callback(callback),
            cause,
            retired: false,
        },
    );
}
