//! The guard around every callback, where panics and errors end.
//!
//! C code of the runtime calls the callbacks, and cannot unwind: an escaping panic would abort the program,
//! and the runtime acts upon most failure codes. So a callback that panics or fails returns the neutral code,
//! and the failure is reported to the hook of `Setup::on_failure`.

use std::sync::atomic::Ordering;

use super::object::{Live, Object, Phase};
use crate::error::Result;
use crate::events::Callback;
use crate::info::GcScope;
use crate::profiler::{Attached, Component, Failure, FailureCause, Profiler, report};
use crate::runtime::{
    Owner, ProfilerInfo, StateGuard, Suspended, ThreadState, catch, is_in_callback, is_loading,
    suspended,
};

/// The handle that a callback gets for its calls of the runtime.
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

/// The result of a callback, joined from those of the profiler and the components.
pub(super) trait CallbackResult: Sized {
    /// The result if nothing returned one.
    const NONE: Option<Self>;

    /// The result of two calls; `None` is that of a call that failed.
    fn join(one: Option<Self>, other: Option<Self>) -> Option<Self>;
}

impl CallbackResult for () {
    const NONE: Option<Self> = Some(());

    fn join(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.and(other)
    }
}

impl CallbackResult for bool {
    const NONE: Option<Self> = None;

    /// One refusal suffices.
    fn join(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        }
    }
}

/// Calls the method of a profiler for one callback.
pub(super) type OfProfiler<'a, C, R> = &'a dyn Fn(&dyn Profiler, &C) -> Result<R>;

/// Calls the method of a component for one callback.
type OfComponent<'a, C, R> = &'a dyn Fn(&dyn Component, &C) -> Result<R>;

/// Calls the profiler and the components that want the callback; `None` if none of them returned a result, or
/// one failed whose result is required.
///
/// In builds for release it is compiled for each callback, without an indirect call. In others `F` is an [`OfProfiler`],
/// so that it is compiled once, and not about a hundred times: that is a fifth of their code.
#[inline]
pub(super) fn dispatch<C: Context, R: CallbackResult, F>(
    object: &Object,
    callback: Callback,
    of_profiler: &F,
    of_component: OfComponent<'_, C, R>,
) -> Option<R>
where
    F: Fn(&dyn Profiler, &C) -> Result<R> + ?Sized,
{
    let live = object.live.get()?;
    let costs = live.info.costs();
    let _measured = costs.measure(callback.is_frequent(), is_in_callback());
    if live.components.want(callback) {
        let of_profiler = |profiler: &dyn Profiler, context: &C| of_profiler(profiler, context);
        return dispatch_to_all(object, live, callback, &of_profiler, of_component);
    }
    call_profiler(object, live, callback, of_profiler)
}

/// Calls the profiler and the components, in their order. Out of line, so that a callback that no component
/// wants costs only the test.
#[cold]
#[inline(never)]
fn dispatch_to_all<C: Context, R: CallbackResult>(
    object: &Object,
    live: &Live,
    callback: Callback,
    of_profiler: OfProfiler<'_, C, R>,
    of_component: OfComponent<'_, C, R>,
) -> Option<R> {
    let of_profiler = || match object.phase() {
        Phase::Disabled => R::NONE,
        _ => call_profiler(object, live, callback, of_profiler),
    };
    match object.phase() {
        Phase::Active | Phase::Disabled => {}
        Phase::Created | Phase::Failed | Phase::ShutDown => return None,
    }
    let last = callback.reaches_the_library_last();
    if !last {
        call_library(live, callback, of_component);
    }
    let is_of_library = callback.events().intersects(live.info.events_of_library());
    let answer = if is_of_library {
        R::NONE
    } else if callback.reaches_components_last() {
        let own = of_profiler();
        R::join(own, call_components(live, callback, of_component))
    } else {
        let others = call_components(live, callback, of_component);
        R::join(others, of_profiler())
    };
    if last {
        call_library(live, callback, of_component);
    }
    answer
}

/// Calls the library's own components, whose callbacks have no results.
fn call_library<C: Context, R: CallbackResult>(
    live: &Live,
    callback: Callback,
    of_component: OfComponent<'_, C, R>,
) {
    for attached in live.components.of_library(callback) {
        call_component(live, callback, Owner::PROFILER, attached, of_component);
    }
}

fn call_components<C: Context, R: CallbackResult>(
    live: &Live,
    callback: Callback,
    of_component: OfComponent<'_, C, R>,
) -> Option<R> {
    let components = live.components.of(callback);
    components
        .map(|(owner, attached)| call_component(live, callback, owner, attached, of_component))
        .fold(R::NONE, R::join)
}

/// The state of a thread in this callback.
#[inline]
fn state<C: Context>(callback: Callback, owner: Owner) -> ThreadState {
    ThreadState {
        // A callback within a callback of a suspended runtime inherits the suspension.
        suspended: if C::GC { Suspended::ForGc } else { suspended() },
        is_cooperative: callback.is_cooperative(),
        may_wait: callback.may_wait(),
        is_loading: is_loading() || callback.is_loading(),
        is_in_callback: true,
        owner,
    }
}

/// Calls the profiler, if it is active; `None` if it did not return a result.
#[inline(always)]
fn call_profiler<C: Context, R>(
    object: &Object,
    live: &Live,
    callback: Callback,
    user_code: impl Fn(&dyn Profiler, &C) -> Result<R>,
) -> Option<R> {
    if object.phase() != Phase::Active {
        return None;
    }
    let _guard = StateGuard::set(state::<C>(callback, Owner::PROFILER));
    match catch(|| user_code(&*live.profiler, C::of(&live.info))) {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => failed(live, callback, None, FailureCause::Error(error), false),
        Err(message) => panicked(object, live, callback, message),
    }
    None
}

/// Calls a component; `None` if it did not return a result.
pub(super) fn call_component<C: Context, R>(
    live: &Live,
    callback: Callback,
    owner: Owner,
    attached: &Attached,
    user_code: impl FnOnce(&dyn Component, &C) -> Result<R>,
) -> Option<R> {
    let _guard = StateGuard::set(state::<C>(callback, owner));
    let (cause, disabled) = match catch(|| user_code(attached.component(), C::of(attached.info())))
    {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => (FailureCause::Error(error), false),
        Err(message) => (FailureCause::Panic(message), attached.count_panic()),
    };
    failed(live, callback, Some(attached), cause, disabled);
    None
}

#[cold]
fn panicked(object: &Object, live: &Live, callback: Callback, message: String) {
    let panics = object
        .panics
        .fetch_add(1, Ordering::Relaxed)
        .saturating_add(1);
    let disabled = panics >= live.panic_limit && object.advance(Phase::Disabled);
    failed(live, callback, None, FailureCause::Panic(message), disabled);
}

#[cold]
pub(super) fn failed(
    live: &Live,
    callback: Callback,
    component: Option<&Attached>,
    cause: FailureCause,
    disabled: bool,
) {
    // The callback was under way when the runtime shut down, and its calls have been refused since then.
    if matches!(cause, FailureCause::Error(_)) && live.info.is_closed() {
        return;
    }
    let failure = Failure {
        disabled,
        ..Failure::in_callback(callback, cause)
    };
    match component {
        Some(attached) => attached.report(live.on_failure.as_ref(), failure),
        None => report(live.on_failure.as_ref(), failure),
    }
}
