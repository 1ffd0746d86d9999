//! Our rules about event flags are those of the runtime: every flag is changed once by the
//! native call and once by ours.

use std::sync::Once;

use clr_profiler::ErrorKind;
use clr_profiler::prelude::*;
use clr_profiler_sys::{HRESULT, ICorProfilerInfo5, Interface};
use scenario_support::{clsid, log};

/// Tries every flag, at the start and later.
pub(crate) struct FlagRules {
    later: Once,
}

/// Every flag alone, including those of several bits.
fn flags() -> impl Iterator<Item = (&'static str, EventMask)> {
    EventMask::all().iter_names()
}

/// Sets the mask by the native call, without our rules.
fn set_native(info: &ProfilerInfo, mask: EventMask) -> HRESULT {
    let raw = info.as_raw();
    // SAFETY: the runtimes of the scenarios have ICorProfilerInfo11 or newer, and `info` lives.
    match unsafe { ICorProfilerInfo5::from_raw_borrowed(&raw) } {
        // SAFETY: any mask may be passed, from any callback.
        Some(native) => unsafe { native.SetEventMask2(mask.low(), mask.high()) },
        None => HRESULT(-1),
    }
}

/// Compares the runtime's result of each change of one flag with ours.
pub(crate) fn compare(when: &str, info: &ProfilerInfo, before: EventMask) -> Result<()> {
    let mut refused = Vec::new();
    for (name, flag) in flags() {
        let changed = before ^ flag;
        let native = set_native(info, changed);
        if native.0 < 0 {
            refused.push(name);
        } else {
            let _ = set_native(info, before);
        }
        let ours = info.set_event_mask2(changed);
        let is_rule = matches!(&ours, Err(error) if matches!(error.kind(), ErrorKind::Rule { .. }));
        if ours.is_ok() {
            let _ = set_native(info, before);
        } else if !ours
            .as_ref()
            .is_err_and(|error| error.to_string().contains(name))
        {
            log::line(format_args!("{when} {name} not named: {ours:?}"));
        }
        if is_rule != (native.0 < 0) {
            log::line(format_args!(
                "{when} {name} differs: runtime {native:?}, we {ours:?}"
            ));
        }
    }
    log::line(format_args!("{when} refused: {}", refused.join(" ")));
    Ok(())
}

#[profiler(clsid = clsid("FlagRules"))]
impl Profiler for FlagRules {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        compare("at the start", info, EventMask::empty())?;
        Ok(Self { later: Once::new() })
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        _client_data: &[u8],
    ) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        compare("attaching", info, EventMask::empty())?;
        Ok(Self { later: Once::new() })
    }

    // Late enough for the garbage collector to be initialised.
    fn thread_name_changed(
        &self,
        info: &ProfilerInfo,
        _thread: ThreadId,
        _name: &str,
    ) -> Result<()> {
        let mut outcome = Ok(());
        self.later.call_once(|| {
            outcome = info
                .event_mask2()
                .and_then(|before| compare("later", info, before));
        });
        outcome
    }
}
