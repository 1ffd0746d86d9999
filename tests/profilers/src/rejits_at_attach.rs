//! Has a method compiled again as soon as it is attached.

use std::thread;
use std::time::Duration;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::{Rejit, RejitOptions};

use crate::log;

/// Adds 1 to the result of `Work1`.
pub(crate) struct RejitsAtAttach {
    rejit: Rejit,
}

#[profiler(clsid = "C0DE0000-0000-4000-8000-000000000A01")]
impl Profiler for RejitsAtAttach {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let rejit = Rejit::start(info, setup, RejitOptions::default())?;
        rejit.request_name(&"[Waits]Waits.Program.Work1".parse()?);
        // A thread that does not wait for the events makes its request meanwhile.
        thread::sleep(Duration::from_millis(200));
        Ok(Self { rejit })
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        let profiler = Self::initialize(info, setup)?;
        match client_data {
            // Its thread has not begun, and is waited for.
            b"fail" => Err(Error::other("too bad")),
            _ => Ok(profiler),
        }
    }

    fn profiler_attach_complete(&self, _info: &ProfilerInfo) -> Result<()> {
        let told = self.rejit.wait(Duration::from_secs(60));
        log::line(format_args!("{:?}", self.rejit.outcomes()));
        log::line(format_args!("told {told}"));
        Ok(())
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        self.rejit.get_rejit_parameters(module, method, || {
            control.rewrite(info, module, method, |body, _| {
                body.before_ret(Fragment::new().ldc_i4(1).add())?;
                Ok(())
            })
        })?;
        Ok(())
    }

    fn rejit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
        _rejit: RejitId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.rejit.rejit_compilation_finished(function, status)
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        self.rejit.rejit_error(module, method, status);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        for outcome in self.rejit.outcomes() {
            log::line(format_args!("{:?}", outcome.state));
        }
        self.rejit.stop()
    }
}
