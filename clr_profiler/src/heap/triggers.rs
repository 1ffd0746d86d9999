//! [`CollectionTriggers`]: the code that triggers garbage collections.

use std::fmt;
use std::ops::ControlFlow;

use crate::error::Result;
use crate::event_mask::EventMask;
use crate::events::payload::EventPipeEvent;
use crate::ids::FunctionId;
use crate::info::info12::{EventLevel, EventPayloadReader};
use crate::info::{CorProfilerInfo2, SnapshotOptions};
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, during_gc};
use crate::runtime_events::RuntimeProvider;
use clr_profiler_macros::component;

use super::allocations::KEYWORD;

opaque! { CollectionTriggers }

/// The number of the event `GCTriggered`.
const TRIGGERED: u32 = 35;

/// Reports the stack of the thread that triggers a collection, by the runtime's own tracing (.NET 5 and newer).
///
/// The closure is called once for each collection, after the runtime has decided on it and before
/// [`garbage_collection_started`](crate::Profiler::garbage_collection_started): with the workstation collector on the same thread, with
/// the server collector that callback is on another one. A collection that the runtime starts by itself, such as for
/// low memory, may have an empty stack.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use clr_profiler::heap::{CollectionTriggers, TriggerReason};
/// use clr_profiler::prelude::*;
///
/// static INDUCED: AtomicUsize = AtomicUsize::new(0);
///
/// struct Induced;
///
/// #[profiler(clsid = "B1D0C1B7-7A3B-4E0F-8C52-2B9D1E6F7A33")]
/// impl Profiler for Induced {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(CollectionTriggers::with_depth(20, |trigger| {
///             // `trigger.stack` begins with `System.GC.Collect(..)` or its like.
///             if trigger.reason == TriggerReason::Induced {
///                 INDUCED.fetch_add(1, Ordering::Relaxed);
///             }
///         }))?;
///         Ok(Induced)
///     }
/// }
/// # fn main() {}
/// ```
pub struct CollectionTriggers {
    provider: RuntimeProvider,
    depth: usize,
    report: Box<Report>,
}

type Report = dyn Fn(&CollectionTrigger<'_>) + Send + Sync;

/// A collection that is about to begin, on the thread that triggers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectionTrigger<'a> {
    /// Why.
    pub reason: TriggerReason,
    /// The functions of the stack, innermost first, at most as many as requested. Their names cannot be queried
    /// now: the runtime is suspended. They are valid until their module is unloaded; dynamic methods, which can be collected at any
    /// time, are left out by the runtime.
    pub stack: &'a [FunctionId],
}

/// Why a collection is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriggerReason {
    /// The budget for small objects is used up.
    SmallAllocation,
    /// The budget for large objects is used up.
    LargeAllocation,
    /// The program or a profiler requested it.
    Induced,
    /// There is little memory.
    LowMemory,
    /// The heap has no room for an object.
    OutOfSpace,
    /// The collector's own decisions.
    Internal,
    /// A value that this version of the crate does not know.
    Unknown(u32),
}

impl TriggerReason {
    fn from_event(reason: u32) -> Self {
        match reason {
            0 => Self::SmallAllocation,
            1 | 7 | 10 | 17 => Self::Induced,
            2 | 9 | 11 | 13 => Self::LowMemory,
            4 => Self::LargeAllocation,
            5 | 6 => Self::OutOfSpace,
            3 | 8 | 12 | 14..=16 => Self::Internal,
            other => Self::Unknown(other),
        }
    }
}

impl fmt::Display for TriggerReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmallAllocation => f.write_str("small allocation"),
            Self::LargeAllocation => f.write_str("large allocation"),
            Self::Induced => f.write_str("induced"),
            Self::LowMemory => f.write_str("low memory"),
            Self::OutOfSpace => f.write_str("out of space"),
            Self::Internal => f.write_str("internal"),
            Self::Unknown(reason) => write!(f, "reason {reason}"),
        }
    }
}

impl CollectionTriggers {
    /// Creates the component, to be [attached](crate::Setup::attach): `report` is called on the thread that triggers a collection, until
    /// the process ends, with at most `depth` functions of its stack. The program is suspended meanwhile, so `report`
    /// must not wait for one of its threads; calls that would wait for the collection are refused in it.
    ///
    /// Calls `ICorProfilerInfo12::EventPipeStartSession` and `ICorProfilerInfo2::DoStackSnapshot`. **Events**:
    /// [`HIGH_MONITOR_EVENT_PIPE`](crate::EventMask::HIGH_MONITOR_EVENT_PIPE) and
    /// [`ENABLE_STACK_SNAPSHOT`](crate::EventMask::ENABLE_STACK_SNAPSHOT). It cannot be
    /// attached on .NET Core 3.1, which is too old.
    pub fn with_depth(
        depth: usize,
        report: impl Fn(&CollectionTrigger<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            provider: RuntimeProvider::default(),
            depth,
            report: Box::new(report),
        }
    }
}

#[component(crate = crate)]
impl Component for CollectionTriggers {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
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
        if event.id != TRIGGERED || !self.provider.has_raised(info, event) {
            return Ok(());
        }
        let Some(reason) = EventPayloadReader::new(event.payload).u32() else {
            return Ok(());
        };
        during_gc(|| {
            let mut stack = Vec::new();
            // If the walk ends early, its frames until there count.
            let _ = info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
                if stack.len() >= self.depth {
                    return ControlFlow::Break(());
                }
                stack.extend(frame.function);
                ControlFlow::Continue(())
            });
            (self.report)(&CollectionTrigger {
                reason: TriggerReason::from_event(reason),
                stack: &stack,
            });
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_words() {
        let words = |reason| TriggerReason::from_event(reason).to_string();
        assert_eq!(words(0), "small allocation");
        assert_eq!(words(4), "large allocation");
        assert_eq!(words(1), "induced");
        assert_eq!(words(10), "induced");
        assert_eq!(words(99), "reason 99");
    }
}
