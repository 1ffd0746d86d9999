//! The callbacks that start and stop a profiler.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use uuid::Uuid;

use super::composed;
use super::guard::{call_component, failed};
use super::object::{Live, Object, Phase};
use crate::error::{Error, Result};
use crate::event_mask::Loaded;
use crate::events::Callback;
use crate::image::Images;
use crate::info::{departures, note_earlier_unloads};
use crate::profiler::{
    self, Component, Components, Failure, FailureCause, FailureHook, Setup, UnloadObserver,
};
#[cfg(feature = "rewrite")]
use crate::rewrite::Unloads;
use crate::runtime::{ProfilerInfo, catch, slice};
use clr_profiler_sys as sys;
use sys::{BOOL, HRESULT};

pub(super) unsafe extern "system" fn initialize(this: *mut c_void, info: *mut c_void) -> HRESULT {
    // SAFETY: the runtime holds a reference to the object that it calls.
    let object = unsafe { Object::from_raw(this) };
    // SAFETY: the runtime passes its `IUnknown`, which is alive during the call.
    let info = unsafe { ProfilerInfo::from_callback(info, loaded(object, false)) };
    start(object, Callback::Initialize, info, None)
}

pub(super) unsafe extern "system" fn initialize_for_attach(
    this: *mut c_void,
    info: *mut c_void,
    client_data: *mut c_void,
    client_data_length: u32,
) -> HRESULT {
    // SAFETY: the runtime holds a reference to the object that it calls.
    let object = unsafe { Object::from_raw(this) };
    // SAFETY: the runtime passes its `IUnknown`, which is alive during the call.
    let info = unsafe { ProfilerInfo::from_callback(info, loaded(object, true)) };
    // SAFETY: the runtime passes the data of the attaching tool with its length, valid during the call.
    let client_data = unsafe { slice(client_data.cast::<u8>(), client_data_length) };
    start(
        object,
        Callback::InitializeForAttach,
        info,
        Some(client_data),
    )
}

fn loaded(object: &Object, by_attach: bool) -> Loaded {
    Loaded {
        by_attach,
        as_notification: object.as_notification.load(Ordering::Relaxed),
    }
}

/// Creates the profiler and requests its events from the runtime.
fn start(
    object: &Object,
    callback: Callback,
    info: Result<ProfilerInfo>,
    client_data: Option<&[u8]>,
) -> HRESULT {
    let handle = info.as_ref().ok().cloned();
    let mut setup = handle
        .as_ref()
        .map(|info| Setup::new(info, object.class.overridden));
    let started = catch(|| match &mut setup {
        Some(setup) => try_start(object, callback, &info?, setup, client_data),
        None => info.map(drop),
    });
    let cause = match started {
        Ok(Ok(())) => return sys::S_OK,
        Ok(Err(error)) => FailureCause::Error(error),
        Err(message) => FailureCause::Panic(message),
    };
    let answer = match &cause {
        FailureCause::Error(error) => HRESULT(error.hresult().0),
        FailureCause::Panic(_) => sys::E_FAIL,
    };
    if answer != sys::CORPROF_E_PROFILER_CANCEL_ACTIVATION {
        let failure = Failure::in_callback(callback, cause);
        let hook = match object.live.get() {
            Some(live) => live.on_failure.as_ref(),
            None => setup.as_ref().and_then(|setup| setup.on_failure.as_ref()),
        };
        // Without this line the failure would be invisible, because the runtime continues silently. After a
        // refused second start the first profiler still runs.
        if object.phase() != Phase::Active {
            let _ = catch(|| {
                profiler::write(&format_args!(
                    "the profiler {{{}}} does not run, the program does: {failure}",
                    object.class.clsid.hyphenated()
                ));
            });
        }
        if hook.is_some() {
            profiler::report(hook, failure);
        }
    }
    // The unused hook is user code, too.
    let _ = catch(move || drop(setup));
    // The runtime deletes its side, but threads of the profiler may have handles.
    if let Some(info) = handle {
        info.invalidate();
    }
    // Only after a failure code does the runtime continue without this profiler.
    if answer.0 < 0 { answer } else { sys::E_FAIL }
}

fn try_start(
    object: &Object,
    callback: Callback,
    info: &ProfilerInfo,
    setup: &mut Setup,
    client_data: Option<&[u8]>,
) -> Result<()> {
    let twice = || {
        Error::rule(
            callback.native_name(),
            "the profiler is already initialised",
        )
    };
    if object.phase() != Phase::Created {
        return Err(twice());
    }
    // Made now, so that calls about metadata allocate nothing for them.
    info.extension::<Images>();
    let _measured = info.costs().measure(false, false);
    let profiler = object.class.make(info, setup, client_data)?;
    let (members, all) = match object.class.members {
        [] => (Vec::new(), setup.take_components()?),
        classes => composed::start(classes, callback, info, client_data)?,
    };
    // A failed start has ended with an error.
    members
        .iter()
        .for_each(|member| setup.events |= member.events());
    let own: Vec<Arc<dyn Component>> = vec![
        Arc::new(UnloadObserver),
        #[cfg(feature = "rewrite")]
        Arc::new(Unloads),
    ];
    let components = Components::new(info, all, setup.own_events(), own);
    if info.loaded().by_attach {
        note_earlier_unloads(info);
    }
    let omitted = setup.omit_dangerous_events(info);
    let live = Live {
        profiler,
        components,
        info: info.clone(),
        on_failure: setup.on_failure.take(),
        panic_limit: setup.panic_limit,
        members,
    };
    object.live.set(live).map_err(|_| twice())?;
    // From the next call on events arrive, also on other threads.
    object.advance(Phase::Active);
    let started = info
        .start(setup.events)
        .and_then(|()| match object.live.get() {
            Some(live) => live.components.start(|member, error| {
                composed::not_running(member, callback, FailureCause::Error(error));
            }),
            None => Ok(()),
        })
        .inspect(|()| info.open_unless_attached());
    if started.is_ok() && !info.loaded().by_attach {
        departures::begin(info);
    }
    if let (Some(error), Some(live)) = (omitted, object.live.get()) {
        report_omitted(live.on_failure.as_ref(), error);
    }
    match (&started, object.live.get()) {
        (Ok(()), Some(live)) => {
            live.hooks().for_each(profiler::started);
            profiler::confirm(object.class.clsid);
        }
        _ => drop(object.advance(Phase::Failed)),
    }
    started
}

/// Reports that callbacks of exceptions will not be called.
pub(super) fn report_omitted(hook: Option<&FailureHook>, error: Error) {
    let failure = Failure::in_callback(Callback::ExceptionThrown, FailureCause::Error(error));
    let _ = catch(|| profiler::write(&failure));
    if hook.is_some() {
        profiler::report(hook, failure);
    }
}

pub(super) unsafe extern "system" fn shutdown(this: *mut c_void) -> HRESULT {
    // SAFETY: the runtime holds a reference to the object that it calls.
    let object = unsafe { Object::from_raw(this) };
    let phase = object.phase();
    if object.advance(Phase::ShutDown)
        && let Some(live) = object.live.get()
    {
        if phase == Phase::Active {
            let cause = match catch(|| live.profiler.shutdown(&live.info)) {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(FailureCause::Error(error)),
                Err(message) => Some(FailureCause::Panic(message)),
            };
            if let Some(cause) = cause {
                failed(live, Callback::Shutdown, None, cause, false);
            }
        }
        if matches!(phase, Phase::Active | Phase::Disabled) {
            for (owner, attached) in live.components.of(Callback::Shutdown) {
                call_component(
                    live,
                    Callback::Shutdown,
                    owner,
                    attached,
                    |component, info| component.shutdown(info),
                );
            }
        }
        live.hooks().for_each(profiler::stopped);
        profiler::counts();
        departures::end(&live.info);
        live.info.close();
    }
    sys::S_OK
}

pub(super) unsafe extern "system" fn load_as_notification_only(
    this: *mut c_void,
    answer: *mut BOOL,
) -> HRESULT {
    // SAFETY: the runtime holds a reference to the object that it calls.
    let object = unsafe { Object::from_raw(this) };
    // SAFETY: the runtime passes null or a variable for the result.
    if let Some(answer) = unsafe { answer.as_mut() } {
        let is_one = catch(|| object.class.loads_as_notification_only()).unwrap_or(false);
        object.as_notification.store(is_one, Ordering::Relaxed);
        *answer = BOOL::from(is_one);
        if !is_one {
            report_if_listed(&object.class.clsid);
        }
    }
    sys::S_OK
}

/// Reports a profiler that is listed as a notification profiler without being one. It runs instead of the
/// main profiler or not at all, and nothing else reports this.
#[cold]
fn report_if_listed(clsid: &Uuid) {
    let is_named = |variable: &str| {
        let value = std::env::var(variable).unwrap_or_default();
        let clsid = clsid.hyphenated().to_string();
        value.to_ascii_lowercase().contains(&clsid)
    };
    if is_named("CORECLR_NOTIFICATION_PROFILERS") && !is_named("CORECLR_PROFILER") {
        profiler::write(&format_args!(
            "the profiler {{{}}} is listed as a notification profiler and does not declare that it is \
             one (`load_as_notification_only`): it does not run together with a main profiler",
            clsid.hyphenated()
        ));
    }
}
