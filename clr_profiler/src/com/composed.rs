//! Starts several profilers that run as one.

use std::sync::Arc;

use super::class::Class;
use super::lifecycle::report_omitted;
use crate::error::{Error, Hresult, Result};
use crate::events::Callback;
use crate::profiler::{self, Attached, Claims, Failure, FailureCause, FailureHook, Member, Setup};
use crate::runtime::{MemberIndex, ProfilerInfo, catch};
use clr_profiler_sys as sys;

/// The profilers, and all of them with their components in the order of callbacks.
type Started = (Vec<Arc<Member>>, Vec<Attached>);

/// Creates the profilers one after the other. One that fails is reported, and the others run without it.
///
/// # Errors
///
/// None of them runs: the code is that of the first error.
pub(super) fn start(
    classes: &[Class],
    callback: Callback,
    info: &ProfilerInfo,
    client_data: Option<&[u8]>,
) -> Result<Started> {
    let (mut members, mut all) = (Vec::new(), Vec::new());
    let mut claims = Claims::default();
    let mut first_error = None;
    for (index, class) in classes.iter().enumerate() {
        let name: Arc<str> = (class.name)().into();
        let index = MemberIndex::new(index);
        let info = info.of_member(index);
        let mut hook = None;
        let made = Setup::of_member(&info, index, Arc::clone(&name), class.overridden, &claims);
        let cause = match made {
            Ok(setup) => match make(class, &info, setup, client_data, &mut claims, &mut hook) {
                Ok((member, attached)) => {
                    members.push(member);
                    all.extend(attached);
                    continue;
                }
                Err(cause) => cause,
            },
            Err(error) => FailureCause::Error(error),
        };
        let code = match &cause {
            FailureCause::Error(error) => error.hresult(),
            FailureCause::Panic(_) => Hresult::E_FAIL,
        };
        first_error.get_or_insert(code);
        if code.0 != CANCELLED {
            tell(hook.as_ref(), &name, callback, cause);
        }
        // The unused hook is user code, too.
        let _ = catch(move || drop(hook));
    }
    match first_error {
        Some(Hresult(CANCELLED)) if members.is_empty() => Err(Error::cancel_activation()),
        Some(code) if members.is_empty() => Err(Error::rule_with_code(
            callback.native_name(),
            "none of the profilers that are composed could start",
            code,
        )),
        _ => Ok((members, all)),
    }
}

const CANCELLED: i32 = sys::CORPROF_E_PROFILER_CANCEL_ACTIVATION.0;

/// Creates one profiler, and sets its hook for failures.
fn make(
    class: &Class,
    info: &ProfilerInfo,
    mut setup: Setup,
    client_data: Option<&[u8]>,
    claims: &mut Claims,
    hook: &mut Option<FailureHook>,
) -> Result<(Arc<Member>, Vec<Attached>), FailureCause> {
    let made = catch(|| class.make(info, &mut setup, client_data));
    hook.clone_from(&setup.on_failure);
    // A second set of hooks is refused even if this profiler fails.
    claims.keep_hooks(setup.claims());
    let profiler = match made {
        Ok(Ok(profiler)) => profiler,
        failed => {
            // Its components are user code, too.
            let _ = catch(move || drop(setup));
            return Err(match failed {
                Err(message) => FailureCause::Panic(message),
                Ok(failed) => {
                    FailureCause::Error(failed.err().unwrap_or_else(Error::cancel_activation))
                }
            });
        }
    };
    let omitted = setup.omit_dangerous_events(info);
    let claimed = setup.claims().clone();
    // If it is refused, it is dropped.
    let member = catch(|| setup.into_member(profiler, class.overridden))
        .map_err(FailureCause::Panic)?
        .map_err(FailureCause::Error)?;
    *claims = claimed;
    if let Some(error) = omitted {
        report_omitted(hook.as_ref(), error);
    }
    Ok(member)
}

/// Reports that a profiler does not run while the others do.
pub(super) fn not_running(member: &Member, callback: Callback, cause: FailureCause) {
    tell(member.hook(), member.name(), callback, cause);
}

fn tell(hook: Option<&FailureHook>, name: &Arc<str>, callback: Callback, cause: FailureCause) {
    let failure = Failure {
        profiler: Some(Arc::clone(name)),
        ..Failure::in_callback(callback, cause)
    };
    // Without this line the failure would be invisible, because everything else continues.
    let _ = catch(|| {
        profiler::write(&format_args!(
            "the profiler `{name}` does not run, the others and the program do: {failure}"
        ));
    });
    if hook.is_some() {
        profiler::report(hook, failure);
    }
}
