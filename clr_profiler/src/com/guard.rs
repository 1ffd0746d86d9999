//! The guard around every callback: the one place where panics and errors end.
//!
//! The runtime calls through C code that cannot unwind: a panic that got out would abort the
//! program, and most failure codes make the runtime act. So a callback that panics or fails
//! returns what means "nothing to say" there, and the profiler's author is told through the hook
//! of `Setup::on_failure`.

use std::sync::atomic::Ordering;

use super::lifecycle::ProfilerClass;
use super::object::{Live, Object, Phase};
use crate::callbacks::Callback;
use crate::error::Result;
use crate::info::GcScope;
use crate::profiler::{Failure, FailureCause, FailurePlace, tell};
use crate::runtime::{Mark, ProfilerInfo, Suspended, ThreadState, catch, suspended};

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
    let _mark = Mark::set(ThreadState {
        // A callback that comes while the runtime is suspended comes while it is suspended.
        suspended: if C::GC { Suspended::ForGc } else { suspended() },
        objects_stay: callback.is_cooperative(),
        may_wait: callback.may_wait(),
        profiler: live.info.identity(),
    });
    match catch(|| user_code(&live.profiler, C::of(&live.info))) {
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
    tell(
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
    tell(
        live.on_failure.as_ref(),
        Failure {
            place: FailurePlace::Callback(callback),
            cause,
            retired: false,
        },
    );
}
