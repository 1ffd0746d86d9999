//! What the runtime's own tracing tells: events of its provider, delivered by an EventPipe session.

mod allocations;
mod exceptions;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::callbacks::payload::EventPipeEvent;
use crate::error::Result;
use crate::info::{CorProfilerInfo12, EventLevel, EventPipeProviderConfig};
use crate::runtime::ProfilerInfo;

pub use allocations::{AllocationTick, AllocationTicks};
pub use exceptions::{ExceptionEvent, ExceptionEvents, ThrownException};

/// The runtime's provider of events.
const NAME: &str = "Microsoft-Windows-DotNETRuntime";

/// The runtime's provider, which is told from others by its id once that is known.
#[derive(Debug, Default)]
struct RuntimeProvider(AtomicUsize);

impl RuntimeProvider {
    /// Has events delivered until the process ends.
    fn start(info: &ProfilerInfo, keywords: u64, level: EventLevel) -> Result<Self> {
        let mut provider = EventPipeProviderConfig::all(NAME);
        (provider.keywords, provider.level) = (keywords, level);
        info.event_pipe_start_session(&[provider], false)?;
        Ok(Self::default())
    }

    /// Whether an event is the runtime's: a profiler may have sessions with other providers.
    fn has_raised(&self, info: &ProfilerInfo, event: &EventPipeEvent<'_>) -> bool {
        let provider = event.provider.raw();
        if self.0.load(Ordering::Relaxed) == provider {
            return true;
        }
        let is_it = (info.event_pipe_provider_info(event.provider)).is_ok_and(|name| name == NAME);
        if is_it {
            self.0.store(provider, Ordering::Relaxed);
        }
        is_it
    }
}
