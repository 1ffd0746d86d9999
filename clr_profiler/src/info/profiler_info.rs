//! Methods of [`ProfilerInfo`] that use several versions of the interface: methods, and the profiler's
//! events.

use std::sync::OnceLock;

use super::method::Method;
use super::{CorProfilerInfo, CorProfilerInfo3, CorProfilerInfo5};
use crate::error::{Error, Hresult, Result};
use crate::event_mask::{EventMask, Target, problem_at_start, problem_with_change, unknown_to};
use crate::ids::FunctionId;
use crate::lifetimes::seen;
use crate::native::CallContext;
use crate::runtime::ProfilerInfo;

/// The major version of the runtime, cached by the first query.
#[derive(Debug, Default)]
struct Major(OnceLock<u16>);

impl ProfilerInfo {
    /// The method that a function is an instance of, with its names and its IL.
    ///
    /// Fails for dynamic methods, which have no metadata; see
    /// [`dynamic_function_info`](crate::info::CorProfilerInfo8::dynamic_function_info).
    ///
    /// # Errors
    ///
    /// The errors of [`function_info2`](crate::info::CorProfilerInfo2::function_info2).
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn log(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let name = info.method(function)?.full_name()?; // Shop.Cart.Add(string, int)
    /// # Ok(())
    /// # }
    /// ```
    pub fn method(&self, function: FunctionId) -> Result<Method<'_>> {
        Method::of(self, function)
    }

    /// The events that the profiler receives, read by the newest call that the runtime has.
    pub(crate) fn events(&self) -> Result<EventMask> {
        if self.version() < 5 {
            self.event_mask()
        } else {
            self.event_mask2()
        }
    }

    /// Sets the profiler's events by the newest call that the runtime has.
    pub(crate) fn set_events(&self, events: EventMask) -> Result<()> {
        // .NET Framework has no tiers, and no flag for them.
        let events = match self.is_net_framework()? {
            true => events - EventMask::HIGH_DISABLE_TIERED_COMPILATION,
            false => events,
        };
        if self.version() < 5 && events.high() == 0 {
            self.set_event_mask(events)
        } else {
            self.set_event_mask2(events)
        }
    }

    /// Sets the events of a profiler whose `initialize` has returned.
    pub(crate) fn start(&self, events: EventMask) -> Result<()> {
        self.set_events(events)?;
        self.set_started();
        Ok(())
    }

    /// The problem with these events, if any: the profiler cannot have them, or can no longer change them.
    pub(crate) fn problem_with_events(&self, events: EventMask) -> Result<Option<String>> {
        let target = match self.is_net_framework()? {
            true => Target::Framework,
            false => Target::Core(self.runtime_major()?),
        };
        Ok(if self.has_started() {
            problem_with_change(self.events()?, events, self.loaded(), target)
        } else {
            problem_at_start(events, self.loaded(), target)
        })
    }

    /// The major version of the runtime. It is queried at the start, because the native call is not
    /// available everywhere where events can be changed.
    pub(super) fn runtime_major(&self) -> Result<u16> {
        if self.version() < 3 {
            // Runtimes without `ICorProfilerInfo3` do not report their version.
            return Ok(2);
        }
        let known = &self.extension::<Major>().0;
        match known.get() {
            Some(major) => Ok(*major),
            None => {
                let major = self.runtime_information()?.major;
                Ok(*known.get_or_init(|| major))
            }
        }
    }

    /// Whether the runtime reads unloaded types when it walks its heap for a profiler: .NET 8 leaves
    /// objects of them in the heap.
    pub(crate) fn reads_lost_types(&self) -> Result<bool> {
        Ok(self.runtime_major()? == 8)
    }

    /// Refuses events that the runtime does not know.
    pub(crate) fn check_known(&self, events: EventMask) -> Result<()> {
        match unknown_to(events, self.version()) {
            None => Ok(()),
            Some((flag, needs)) => Err(Error::unsupported(flag, needs, self.version())),
        }
    }

    /// Refuses events that the profiler cannot have, or can no longer change.
    pub(crate) fn check_events(&self, call: &'static str, events: EventMask) -> Result<()> {
        // The tool that attaches a profiler receives this code and nothing else.
        let code = if self.loaded().by_attach {
            Hresult::CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER
        } else {
            Hresult::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
        };
        if let Some(problem) = self.problem_with_events(events)? {
            return Err(Error::rule_with_code(call, problem, code));
        }
        if events.contains(EventMask::MONITOR_GC)
            && seen::has_unloaded()
            && self.reads_lost_types()?
        {
            return Err(Error::rule(
                call,
                "this program has unloaded modules, and .NET 8 crashes when it walks the heap for \
                 `MONITOR_GC`: the heap still has objects whose types are gone",
            ));
        }
        Ok(())
    }
}

/// Those of the reported events that the profiler has set, without the library's.
pub(super) fn of_profiler(events: EventMask, context: &CallContext<'_>) -> Result<EventMask> {
    let of_library = context.info.map(ProfilerInfo::events_of_library);
    Ok(events - of_library.unwrap_or_default())
}
