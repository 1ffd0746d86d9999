//! `ICorProfilerInfo5`.

use super::ProfilerInfo;
use super::handle::Sealed;
use super::profiler_info::of_profiler;
use crate::error::Result;
use crate::event_mask::EventMask;
use crate::native::CallContext;

table! { ($) __cor_profiler_info5:
    CorProfilerInfo5 = ICorProfilerInfo5 from info;

    /// Sets the events that the runtime reports.
    ///
    /// In `initialize`, use [`Setup`](crate::Setup) instead.
    fn set_event_mask2(events: EventMask) -> () = SetEventMask2((events | more).low(), (events | more).high())
        given more = more_events(events)
        at "any; immutable flags must stay as they are."
        fails "The error names the flags that cannot be changed or are not available.";

    /// The events that the runtime reports.
    fn event_mask2() -> EventMask = [notrigger] GetEventMask2(@low, @high) by whole_mask at "any.";
}

/// The calls of `ICorProfilerInfo5`: the whole event mask.
#[doc(alias = "ICorProfilerInfo5")]
pub trait CorProfilerInfo5: Sealed {
    __cor_profiler_info5! { calls }
}

impl CorProfilerInfo5 for ProfilerInfo {}

fn whole_mask((low, high): (u32, u32), context: &CallContext<'_>) -> Result<EventMask> {
    of_profiler(EventMask::from_halves(low, high), context)
}

fn more_events(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    events: EventMask,
) -> Result<EventMask> {
    let info = info.handle();
    info.check_events(call, info.with_events_of_others(events))?;
    Ok(info.set_requested(events))
}
