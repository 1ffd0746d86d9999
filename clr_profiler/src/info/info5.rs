//! `ICorProfilerInfo5`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::events::EventMask;

table! { ($) __cor_profiler_info5:
    CorProfilerInfo5 = ICorProfilerInfo5 from info;

    /// Sets which events the runtime reports.
    ///
    /// Events of `initialize` belong into its [`Setup`](crate::Setup).
    fn set_event_mask2(events: EventMask) -> () = SetEventMask2(events.low(), events.high())
        given _checked = checked_events(events)
        at "any; immutable flags must stay as they are."
        fails "An error of its own that names the flags which cannot be changed, or not be had.";
}

/// What `ICorProfilerInfo5` offers: the whole event mask.
#[doc(alias = "ICorProfilerInfo5")]
pub trait CorProfilerInfo5: Sealed {
    __cor_profiler_info5! { calls }

    /// The events that the runtime reports.
    #[wraps(ICorProfilerInfo5::GetEventMask2 at "any.")]
    fn event_mask2(&self) -> Result<EventMask> {
        let (low, high) = self.handle().event_mask_halves()?;
        Ok(EventMask::from_halves(low, high))
    }
}

impl CorProfilerInfo5 for ProfilerInfo {}

/// Calls that have something of their own around them.
impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo5 from info;
    fn event_mask_halves() -> (u32, u32) = [steady] GetEventMask2(@low, @high);
    }
}

fn checked_events(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    events: EventMask,
) -> Result<()> {
    info.handle().check_events(call, events)
}
