//! A profiler that leaves a thread-local value on every thread that calls it, detaches, and has the
//! values dropped long after that.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use scenario_support::clsid;

use crate::told;

/// The number of active callbacks.
static UNDER_WAY: AtomicU32 = AtomicU32::new(0);
/// Whether the profiler has been dropped.
static IS_DROPPED: AtomicBool = AtomicBool::new(false);

/// Calls the runtime when its thread ends, and thereby leaves a second value of its kind.
struct Local(ProfilerInfo);

impl Drop for Local {
    fn drop(&mut self) {
        let when = match IS_DROPPED.load(Ordering::SeqCst) {
            true => "after",
            false => "before",
        };
        let mut answers = vec![
            self.0.runtime_information().map(|_| ()),
            self.0
                .modules()
                .and_then(|mut modules| modules.try_for_each(|module| module.map(|_| ()))),
            self.0.initialize_current_thread(),
            self.0.with_suspended_runtime(|_| Ok(())),
            self.0.force_gc(),
        ];
        if when == "after" {
            answers.push(self.0.request_profiler_detach(Duration::ZERO));
        }
        let refused = answers.iter().filter(|answer| answer.is_err()).count();
        told(format_args!(
            "local {when}: {refused} of {} refused",
            answers.len()
        ));
    }
}

thread_local! {
    static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
}

/// An active callback.
struct Call;

impl Call {
    fn begin(info: &ProfilerInfo) -> Self {
        UNDER_WAY.fetch_add(1, Ordering::SeqCst);
        LOCAL.with_borrow_mut(|local| {
            local.get_or_insert_with(|| {
                told("local made");
                Local(info.clone())
            });
        });
        // So that a callback is active nearly all the time.
        thread::sleep(Duration::from_micros(200));
        Self
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if IS_DROPPED.load(Ordering::SeqCst) {
            told("a callback after the drop");
        }
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct LeavesLocals {
    compiled: AtomicU32,
}

impl Drop for LeavesLocals {
    fn drop(&mut self) {
        IS_DROPPED.store(true, Ordering::SeqCst);
        let under_way = UNDER_WAY.load(Ordering::SeqCst);
        told(format_args!("dropped, {under_way} callbacks under way"));
    }
}

#[profiler(clsid = clsid("LeavesLocals"))]
impl Profiler for LeavesLocals {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| told(failure));
        Ok(Self {
            compiled: AtomicU32::new(0),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        _function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let _call = Call::begin(info);
        Ok(())
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        _function: FunctionId,
        _is_safe_to_block: bool,
        _il: &[u8],
    ) -> Result<()> {
        let _call = Call::begin(info);
        // On a thread of its own: callbacks on the other threads continue.
        if self.compiled.fetch_add(1, Ordering::SeqCst) == 100 {
            let info = info.clone();
            thread::spawn(move || {
                told(format_args!(
                    "detach {:?}",
                    info.request_profiler_detach(Duration::ZERO)
                ));
            });
        }
        Ok(())
    }
}
