//! `ICorProfilerInfo5`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::events::EventMask;
use crate::native::Asked;

table! { ($) __cor_profiler_info5:
    CorProfilerInfo5 = ICorProfilerInfo5 from info;

    /// Sets which events the runtime reports.
    ///
    /// Events of `initialize` belong into its [`Setup`](crate::Setup).
    fn set_event_mask2(events: EventMask) -> () = SetEventMask2(events.low(), events.high())
        given _checked = checked_events(events)
        at "any; immutable flags must stay as they are."
        fails "An error of its own that names the flags which cannot be changed, or not be had.";

    /// The events that the runtime reports.
    fn event_mask2() -> EventMask = [steady] GetEventMask2(@low, @high) by whole_mask at "any.";
}

/// What `ICorProfilerInfo5` offers: the whole event mask.
#[doc(alias = "ICorProfilerInfo5")]
pub trait CorProfilerInfo5: Sealed {
    __cor_profiler_info5! { calls }
}

impl CorProfilerInfo5 for ProfilerInfo {}

fn whole_mask((low, high): (u32, u32), _: &Asked<'_>) -> Result<EventMask> {
    Ok(EventMask::from_halves(low, high))
}

fn checked_events(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    events: EventMask,
) -> Result<()> {
    info.handle().check_events(call, events)
}
