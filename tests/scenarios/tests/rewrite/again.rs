//! Rewrites a running method, reverts it, and rewrites it differently.

use std::sync::Mutex;
use std::thread;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Changes the result of `Rewrites.Program.Answer` by ReJIT.
pub(crate) struct RewritesAgain {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    answer: Option<(ModuleId, MethodDef)>,
    add: i32,
}

impl RewritesAgain {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }
}

/// Never from a callback: the runtime holds locks there.
fn on_own_thread(
    info: &ProfilerInfo,
    ask: impl FnOnce(&ProfilerInfo) -> Result<()> + Send + 'static,
) {
    let info = info.clone();
    thread::spawn(move || {
        let asked = info.initialize_current_thread().and_then(|()| ask(&info));
        log::line(format_args!("asked {asked:?}"));
    });
}

#[profiler(clsid = clsid("RewritesAgain"))]
impl Profiler for RewritesAgain {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self {
            state: Mutex::default(),
        })
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Rewrites" {
            return Ok(());
        }
        let this = (method.module(), method.token());
        match method.name()?.as_str() {
            "Answer" => {
                *self.lock() = State {
                    answer: Some(this),
                    add: 1,
                };
            }
            "Until" => {
                if let Some(answer) = self.lock().answer {
                    on_own_thread(info, move |info| info.request_rejit(&[answer]));
                }
            }
            "Remember" => {
                if let Some(answer) = self.lock().answer {
                    on_own_thread(info, move |info| {
                        let statuses = info.request_revert(&[answer])?;
                        log::line(format_args!("reverted {statuses:?}"));
                        Ok(())
                    });
                }
            }
            "Add" => {
                let mut state = self.lock();
                state.add = 2;
                if let Some(answer) = state.answer {
                    on_own_thread(info, move |info| info.request_rejit(&[answer]));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let add = self.lock().add;
        // Refused, and without consequences.
        let refused = control.rewrite(info, module, method, |body, _| {
            body.before_ret(Fragment::new().add())?;
            Ok(())
        });
        log::line(format_args!("refused {}", refused.is_err()));
        let rewritten = control.rewrite(info, module, method, |body, cx| {
            log::line(format_args!("editing {}", cx.full_name()));
            body.before_ret(Fragment::new().ldc_i4(add).add())?;
            Ok(())
        })?;
        log::line(format_args!("from {:02x?}", rewritten.before_bytes()));
        Ok(())
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!("error {method} {status}"));
        Ok(())
    }
}
