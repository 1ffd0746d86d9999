//! Exceptions from the events of the runtime's own tracing, instead of the callbacks of exceptions.
//!
//! [`ExceptionEvents`] is a component that calls a closure with each [`ExceptionEvent`]; its documentation
//! has an example. The callbacks are methods of [`Profiler`](crate::Profiler):
//! [`exception_thrown`](crate::Profiler::exception_thrown) and the ones after it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Hresult, Result};
use crate::event_mask::EventMask;
use crate::events::CallbackSet;
use crate::events::payload::EventPipeEvent;
use crate::ids::FunctionId;
use crate::info::CorProfilerInfo3;
use crate::info::info12::{EventLevel, EventPayloadReader};
use crate::profiler::{Component, Setup};
use crate::runtime::ProfilerInfo;
use crate::runtime_events::RuntimeProvider;
use clr_profiler_macros::component;

opaque! { ExceptionEvents }

/// The keyword of the runtime's exception events.
const KEYWORD: u64 = 0x8000;

// The numbers of the events.
const THROWN: u32 = 80;
const CATCH_BEGINS: u32 = 250;
const CATCH_ENDS: u32 = 251;
const FINALLY_BEGINS: u32 = 252;
const FINALLY_ENDS: u32 = 253;
const FILTER_BEGINS: u32 = 254;
const FILTER_ENDS: u32 = 255;

/// Reports exceptions by the runtime's own tracing (.NET 5 and newer) instead of the callbacks of exceptions.
///
/// It is safe on runtimes that [lose monitored
/// exceptions](crate::info::RuntimeInformation::loses_exceptions). It does not report the functions that are
/// searched or unwound without a handler.
///
/// ```
/// use clr_profiler::prelude::*;
/// use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
///
/// struct Thrown;
///
/// #[profiler(clsid = "5B3B8E0E-6C57-4B59-9D6C-0F6D0E3E0C5A")]
/// impl Profiler for Thrown {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(ExceptionEvents::new(|_info, event| {
///             if let ExceptionEvent::Thrown(thrown) = event {
///                 eprintln!("{}: {}", thrown.type_name, thrown.message);
///             }
///             Ok(())
///         }))?;
///         Ok(Self)
///     }
/// }
/// # fn main() {}
/// ```
pub struct ExceptionEvents {
    provider: RuntimeProvider,
    report: Box<Report>,
    /// Whether exceptions are reported only where the callbacks of exceptions are dangerous.
    is_instead: bool,
    /// Whether exceptions are reported on this runtime.
    is_reported: AtomicBool,
}

type Report = dyn Fn(&ProfilerInfo, ExceptionEvent) -> Result<()> + Send + Sync;

/// An event of an exception, on the thread that raised it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExceptionEvent {
    /// It is thrown. No call has ended yet: the stack is that of the `throw`.
    Thrown(ThrownException),
    /// A filter of this function starts. No call has ended yet.
    FilterBegins(FunctionId),
    /// The filter has returned.
    FilterEnds,
    /// A `finally` or `fault` block of this function starts: the calls within it have ended.
    FinallyBegins(FunctionId),
    /// The block has ended, and the exception propagates.
    FinallyEnds,
    /// A catch block of this function starts: the calls within it have ended.
    CatchBegins(FunctionId),
    /// The catch block has ended. Not reported if it throws.
    CatchEnds,
}

/// An exception that was thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThrownException {
    /// Its type as the runtime's tracing names it, such as ``Shop.Full`1[System.Int32]``; for a nested type,
    /// without the enclosing types.
    pub type_name: String,
    /// Its message; empty if it is null, as it often is for types that compute it on demand.
    pub message: String,
    /// Its HRESULT.
    pub hresult: Hresult,
}

impl ExceptionEvents {
    /// Creates the component, to be [attached](Setup::attach): `report` is called on the thread of the
    /// exception, until the process ends.
    ///
    /// Calls `ICorProfilerInfo12::EventPipeStartSession`. **Events**:
    /// [`HIGH_MONITOR_EVENT_PIPE`](EventMask::HIGH_MONITOR_EVENT_PIPE). It cannot be attached on .NET Core
    /// 3.1, which is too old.
    pub fn new(
        report: impl Fn(&ProfilerInfo, ExceptionEvent) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            provider: RuntimeProvider::default(),
            report: Box::new(report),
            is_instead: false,
            is_reported: AtomicBool::new(false),
        }
    }

    /// Creates the component for a profiler that has callbacks of exceptions: it reports exceptions only on
    /// runtimes that [lose exceptions](crate::info::RuntimeInformation::loses_exceptions). There it removes
    /// [`MONITOR_EXCEPTIONS`](EventMask::MONITOR_EXCEPTIONS) from the setup, so that the callbacks are not
    /// called. On other runtimes it does nothing.
    pub fn instead_of_callbacks(
        report: impl Fn(&ProfilerInfo, ExceptionEvent) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            is_instead: true,
            ..Self::new(report)
        }
    }
}

#[component(crate = crate)]
impl Component for ExceptionEvents {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        let is_reported = !self.is_instead || info.runtime_information()?.loses_exceptions();
        self.is_reported.store(is_reported, Ordering::Relaxed);
        if is_reported {
            RuntimeProvider::want(info, KEYWORD, EventLevel::Informational);
        }
        if self.is_instead && is_reported {
            setup.remove_events(EventMask::MONITOR_EXCEPTIONS);
        }
        Ok(())
    }

    fn callbacks(&self) -> CallbackSet {
        match self.is_reported.load(Ordering::Relaxed) {
            true => CallbackSet::EMPTY.with("event_pipe_event_delivered"),
            false => CallbackSet::EMPTY,
        }
    }

    fn start(&self, info: &ProfilerInfo) -> Result<()> {
        RuntimeProvider::start(info)
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        let is_one = matches!(event.id, THROWN | CATCH_BEGINS..=FILTER_ENDS);
        if !is_one || !self.provider.has_raised(info, event) {
            return Ok(());
        }
        read(event.id, event.payload).map_or(Ok(()), |event| (self.report)(info, event))
    }
}

fn read(id: u32, payload: &[u8]) -> Option<ExceptionEvent> {
    let mut payload = EventPayloadReader::new(payload);
    let mut function = || {
        let _handler = payload.u64()?;
        let function = usize::try_from(payload.u64()?).ok()?;
        Some(FunctionId::from_runtime(function))
    };
    Some(match id {
        THROWN => ExceptionEvent::Thrown(ThrownException {
            type_name: payload.string()?,
            message: match payload.string()? {
                // The runtime's representation of a null message.
                none if none == "NULL" => String::new(),
                message => message,
            },
            hresult: {
                let _address = payload.pointer()?;
                Hresult(payload.i32()?)
            },
        }),
        CATCH_BEGINS => ExceptionEvent::CatchBegins(function()?),
        CATCH_ENDS => ExceptionEvent::CatchEnds,
        FINALLY_BEGINS => ExceptionEvent::FinallyBegins(function()?),
        FINALLY_ENDS => ExceptionEvent::FinallyEnds,
        FILTER_BEGINS => ExceptionEvent::FilterBegins(function()?),
        FILTER_ENDS => ExceptionEvent::FilterEnds,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        let units = text.encode_utf16().chain([0]);
        units.flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn a_thrown_exception_is_read() {
        let mut payload = [utf16("Shop.Full"), utf16("no room")].concat();
        payload.extend(0x1000_usize.to_le_bytes());
        payload.extend(0x8013_1500_u32.to_le_bytes());
        payload.extend([0; 4]);
        let Some(ExceptionEvent::Thrown(thrown)) = read(80, &payload) else {
            panic!("none was read");
        };
        assert_eq!(thrown.type_name, "Shop.Full");
        assert_eq!(thrown.message, "no room");
        assert_eq!(thrown.hresult, Hresult::COR_E_EXCEPTION);
    }

    #[test]
    fn handlers_are_read_with_their_function() {
        let payload = [1_u64.to_le_bytes(), 0x7000_u64.to_le_bytes()].concat();
        let function = FunctionId::from_runtime(0x7000);
        assert_eq!(
            read(250, &payload),
            Some(ExceptionEvent::CatchBegins(function))
        );
        assert_eq!(
            read(252, &payload),
            Some(ExceptionEvent::FinallyBegins(function))
        );
        assert_eq!(
            read(254, &payload),
            Some(ExceptionEvent::FilterBegins(function))
        );
        assert_eq!(read(251, &[]), Some(ExceptionEvent::CatchEnds));
    }

    #[test]
    fn what_is_cut_short_is_none() {
        assert_eq!(read(80, &utf16("Shop.Full")), None);
        assert_eq!(read(250, &[0; 12]), None);
        assert_eq!(read(10, &[0; 100]), None);
    }
}
