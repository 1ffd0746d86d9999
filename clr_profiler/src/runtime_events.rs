//! Events of the runtime's own tracing: those of its provider, delivered by an EventPipe session.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::error::Result;
use crate::events::payload::EventPipeEvent;
use crate::info::CorProfilerInfo12;
use crate::info::info12::{EventLevel, EventPipeProviderConfig};
use crate::runtime::{ProfilerInfo, lock};

/// The name of the runtime's provider of events.
const NAME: &str = "Microsoft-Windows-DotNETRuntime";

/// The profiler's only session with the runtime's provider. Two sessions would deliver every event twice.
#[derive(Debug, Default)]
struct Session(Mutex<Option<(u64, EventLevel)>>);

impl Session {
    /// The events that are wanted, until the session has started.
    fn wanted(info: &ProfilerInfo) -> MutexGuard<'_, Option<(u64, EventLevel)>> {
        lock(&info.extension::<Self>().0)
    }
}

/// The runtime's provider, which is recognised by its id once that is known.
#[derive(Debug, Default)]
pub(crate) struct RuntimeProvider(AtomicUsize);

impl RuntimeProvider {
    /// Requests events from the start of the profiler until the process ends.
    pub(crate) fn want(info: &ProfilerInfo, keywords: u64, level: EventLevel) {
        let mut wanted = Session::wanted(info);
        let (all, highest) = wanted.unwrap_or((0, level));
        *wanted = Some((all | keywords, level.max(highest)));
    }

    /// Starts the delivery of the requested events. Only the first call has an effect.
    pub(crate) fn start(info: &ProfilerInfo) -> Result<()> {
        let Some((keywords, level)) = Session::wanted(info).take() else {
            return Ok(());
        };
        let mut provider = EventPipeProviderConfig::all(NAME);
        (provider.keywords, provider.level) = (keywords, level);
        info.event_pipe_start_session(&[provider], false)?;
        Ok(())
    }

    /// Whether the runtime's provider raised the event: a profiler may have sessions with others.
    pub(crate) fn has_raised(&self, info: &ProfilerInfo, event: &EventPipeEvent<'_>) -> bool {
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
