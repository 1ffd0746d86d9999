//! Waits for locks, by the events of the runtime's own tracing.
//!
//! [`ContentionEvents`] is a component that calls a closure with each [`ContentionEvent`]; its documentation
//! has an example.

use std::time::Duration;

use crate::error::Result;
use crate::events::payload::EventPipeEvent;
use crate::info::info12::{EventLevel, EventPayloadReader};
use crate::profiler::{Component, Setup};
use crate::runtime::ProfilerInfo;
use crate::runtime_events::RuntimeProvider;
use clr_profiler_macros::component;

opaque! { ContentionEvents }

/// The keyword of the runtime's events of contention.
const KEYWORD: u64 = 0x4000;

// The numbers of the events.
const BEGINS: u32 = 81;
const ENDS: u32 = 91;

/// Reports the waits of threads for locks that others have, by the runtime's own tracing (.NET 5 and newer).
///
/// Locks are those of `Monitor`, by which C# has `lock`, and of `System.Threading.Lock` (.NET 9). A thread that gets a lock
/// after spinning for some microseconds does not wait. `Monitor.Wait`, `SemaphoreSlim`, `ReaderWriterLockSlim` and
/// handles of the system have no such events.
///
/// ```
/// use std::time::Duration;
///
/// use clr_profiler::contention::{ContentionEvent, ContentionEvents};
/// use clr_profiler::prelude::*;
///
/// struct LongWaits;
///
/// #[profiler(clsid = "0B8C1D52-9C7E-4E0B-8F5A-3D0F6D3C7A41")]
/// impl Profiler for LongWaits {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(ContentionEvents::new(|_info, event| {
///             if let ContentionEvent::Ends { waited } = event
///                 && waited > Duration::from_millis(100)
///             {
///                 eprintln!("waited {waited:?} for a lock");
///             }
///             Ok(())
///         }))?;
///         Ok(Self)
///     }
/// }
/// # fn main() {}
/// ```
pub struct ContentionEvents {
    provider: RuntimeProvider,
    report: Box<Report>,
}

type Report = dyn Fn(&ProfilerInfo, ContentionEvent) -> Result<()> + Send + Sync;

/// An event of a wait, on the thread that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentionEvent {
    /// The thread is about to wait: its stack is that of the wait.
    Begins(Contention),
    /// The thread has the lock, or its time limit is over.
    Ends {
        /// How long it has waited, by the runtime's clock. For a `Monitor`, it begins before the closure is called with
        /// [`Begins`](Self::Begins), so that a wait is at least as long as the closure takes; for a `System.Threading.Lock`, after the closure.
        waited: Duration,
    },
}

/// The lock that a thread is about to wait for. .NET 7 and older do not tell anything about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contention {
    /// The number of the lock: two waits with the same one are for the same lock, unless the first lock was collected in
    /// between.
    pub lock: Option<u64>,
    /// The operating system's id of the thread that has the lock.
    pub holder: Option<u64>,
}

impl ContentionEvents {
    /// Creates the component, to be [attached](Setup::attach): `report` is called on the thread that waits, until the
    /// process ends. The waiting thread may hold other locks: `report` must not wait for another thread of the
    /// program.
    ///
    /// Calls `ICorProfilerInfo12::EventPipeStartSession`. **Events**:
    /// [`HIGH_MONITOR_EVENT_PIPE`](crate::EventMask::HIGH_MONITOR_EVENT_PIPE). It cannot be attached on .NET Core
    /// 3.1, which is too old.
    pub fn new(
        report: impl Fn(&ProfilerInfo, ContentionEvent) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            provider: RuntimeProvider::default(),
            report: Box::new(report),
        }
    }
}

#[component(crate = crate)]
impl Component for ContentionEvents {
    fn attach(&self, info: &ProfilerInfo, _setup: &mut Setup) -> Result<()> {
        RuntimeProvider::want(info, KEYWORD, EventLevel::Informational);
        Ok(())
    }

    fn start(&self, info: &ProfilerInfo) -> Result<()> {
        RuntimeProvider::start(info)
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        if !matches!(event.id, BEGINS | ENDS) || !self.provider.has_raised(info, event) {
            return Ok(());
        }
        let read = read(event.id, event.version, event.payload);
        read.map_or(Ok(()), |event| (self.report)(info, event))
    }
}

fn read(id: u32, version: u32, payload: &[u8]) -> Option<ContentionEvent> {
    let mut payload = EventPayloadReader::new(payload);
    let _kind_of_lock = payload.u8()?;
    let _runtime = payload.u16()?;
    match id {
        BEGINS if version < 2 => Some(ContentionEvent::Begins(Contention::default())),
        BEGINS => {
            let lock = payload.pointer()?;
            let _object = payload.pointer()?;
            let holder = payload.u64()?;
            Some(ContentionEvent::Begins(Contention {
                lock: Some(lock as u64).filter(|lock| *lock != 0),
                holder: Some(holder).filter(|thread| *thread != 0),
            }))
        }
        ENDS => {
            let nanoseconds = payload.f64()?;
            // The conversion keeps to the range, and makes 0 of NaN.
            let waited = Duration::from_nanos(nanoseconds as u64);
            Some(ContentionEvent::Ends { waited })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(fields: &[u64]) -> Vec<u8> {
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        [0, 9, 0].into_iter().chain(fields).collect()
    }

    fn begins_with(lock: usize, holder: u64) -> Vec<u8> {
        let pointers = [lock, 0x7000].into_iter().flat_map(usize::to_le_bytes);
        let fields = pointers.chain(holder.to_le_bytes());
        [0, 9, 0].into_iter().chain(fields).collect()
    }

    #[test]
    fn a_wait_is_read_with_its_lock_and_holder() {
        let begins = |lock, holder| Some(ContentionEvent::Begins(Contention { lock, holder }));
        let whole = begins_with(0x70, 4711);
        assert_eq!(read(81, 2, &whole), begins(Some(0x70), Some(4711)));
        assert_eq!(read(81, 2, &begins_with(0, 0)), begins(None, None));
        assert_eq!(read(81, 1, &payload(&[])), begins(None, None));
        assert_eq!(read(81, 2, &whole[..whole.len() - 1]), None);
    }

    #[test]
    fn an_end_is_read_with_its_time() {
        let ends = |nanoseconds: f64| {
            let event = read(91, 1, &payload(&[nanoseconds.to_bits()]))?;
            match event {
                ContentionEvent::Ends { waited } => Some(waited),
                ContentionEvent::Begins(_) => None,
            }
        };
        assert_eq!(ends(1_500_000.7), Some(Duration::from_nanos(1_500_000)));
        assert_eq!(ends(f64::NAN), Some(Duration::ZERO));
        assert_eq!(read(91, 0, &payload(&[])), None);
        assert_eq!(read(80, 1, &payload(&[0])), None);
    }
}
