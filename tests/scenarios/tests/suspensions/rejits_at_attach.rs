//! Requests a ReJIT of a method as soon as it is attached.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use scenario_support::{clsid, log};

/// Adds 1 to the result of `Work1`.
pub(crate) struct RejitsAtAttach {
    rejit: Arc<Rejit>,
}

#[profiler(clsid = clsid("RejitsAtAttach"))]
impl Profiler for RejitsAtAttach {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let rejit = Rejit::new(RejitOptions::default(), |info, module, method, control| {
            control.rewrite(info, module, method, |body, _| {
                body.before_ret(Fragment::new().ldc_i4(1).add())?;
                Ok(())
            })?;
            Ok(())
        });
        let rejit = setup.attach(rejit)?;
        rejit.request_pattern(&"Waits!Waits.Program.Work1".parse()?);
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
            // Its thread has not begun, and is awaited.
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

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        for outcome in self.rejit.outcomes() {
            log::line(format_args!("{:?}", outcome.state));
        }
        self.rejit.stop()
    }
}
