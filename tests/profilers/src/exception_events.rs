//! Exceptions by the runtime's tracing, and their callbacks where the runtime loses exceptions.

use clr_profiler::prelude::*;
use clr_profiler::{ExceptionEvent, ExceptionEvents};

use crate::log;

/// Writes a line for each event that has to do with an exception.
pub(crate) struct TracesExceptions;

#[profiler(clsid = crate::clsid("TracesExceptions"))]
impl Profiler for TracesExceptions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.attach(ExceptionEvents::new(|info, event| {
            let name = |function| info.method(function)?.full_name();
            match event {
                ExceptionEvent::Thrown(thrown) => log::line(format_args!(
                    "thrown {} {} {}",
                    thrown.type_name, thrown.message, thrown.hresult
                )),
                ExceptionEvent::FilterBegins(f) => log::line(format_args!("filter {}", name(f)?)),
                ExceptionEvent::FinallyBegins(f) => log::line(format_args!("finally {}", name(f)?)),
                ExceptionEvent::CatchBegins(f) => log::line(format_args!("catch {}", name(f)?)),
                ended => log::line(format_args!("{ended:?}")),
            }
            Ok(())
        }))?;
        Ok(Self)
    }
}

/// Has a callback of exceptions, and does not ask for it by name.
pub(crate) struct HearsOfExceptions;

#[profiler(clsid = crate::clsid("HearsOfExceptions"))]
impl Profiler for HearsOfExceptions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        let events = info.event_mask2()?;
        log::line(format_args!(
            "thrown {}",
            events.contains(EventMask::MONITOR_EXCEPTIONS)
        ));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("shutdown");
        Ok(())
    }
}
