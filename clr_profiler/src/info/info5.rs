//! `ICorProfilerInfo5`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::events::EventMask;

/// What `ICorProfilerInfo5` offers: the whole event mask.
#[doc(alias = "ICorProfilerInfo5")]
pub trait CorProfilerInfo5: Sealed {
    /// The events that the runtime reports.
    ///
    /// Wraps `ICorProfilerInfo5::GetEventMask2`. **Context**: any.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetEventMask2")]
    fn event_mask2(&self) -> Result<EventMask> {
        let (low, high) = self.handle().event_mask_halves()?;
        Ok(EventMask::from_halves(low, high))
    }

    /// Sets which events the runtime reports.
    ///
    /// Events of `initialize` belong into its [`Setup`](crate::Setup).
    ///
    /// Wraps `ICorProfilerInfo5::SetEventMask2`. **Context**: any; immutable flags must stay as
    /// they are.
    ///
    /// # Errors
    ///
    /// An error of its own that names the flags which cannot be changed, or not be had.
    #[doc(alias = "SetEventMask2")]
    fn set_event_mask2(&self, events: EventMask) -> Result<()> {
        let info = self.handle();
        info.check_events("ICorProfilerInfo5::SetEventMask2", events)?;
        ask!(
            info,
            ICorProfilerInfo5::SetEventMask2(events.low(), events.high())
        )?;
        Ok(())
    }
}

impl CorProfilerInfo5 for ProfilerInfo {}

/// Calls that have something of their own around them.
impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo5 from info;
    fn event_mask_halves() -> (u32, u32) = [steady] GetEventMask2(@low, @high);
    }
}
