//! [`AllocationTicks`]: sampled allocations from the events of the runtime's own tracing.

use crate::error::Result;
use crate::events::payload::EventPipeEvent;
use crate::ids::ClassId;
use crate::info::info12::{EventLevel, EventPayloadReader};
use crate::profiler::{Component, Setup};
use crate::runtime::ProfilerInfo;
use crate::runtime_events::RuntimeProvider;
use clr_profiler_macros::component;

opaque! { AllocationTicks }

/// The keyword of the garbage collector's events.
pub(super) const KEYWORD: u64 = 1;
/// The number of the event `AllocationTick`.
const ALLOCATION_TICK: u32 = 10;

/// Reports an allocation each time that about 100 kilobytes have been allocated, by the runtime's
/// own tracing (.NET 5 and newer).
///
/// ```
/// use clr_profiler::heap::AllocationTicks;
/// use clr_profiler::prelude::*;
///
/// struct Ticks;
///
/// #[profiler(clsid = "0C9B1C1D-37B5-4F0E-9D3A-5A7D4B0F6E21")]
/// impl Profiler for Ticks {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(AllocationTicks::new(|info, tick| {
///             eprintln!("{} bytes, then a {}", tick.bytes, info.class_full_name(tick.class)?);
///             Ok(())
///         }))?;
///         Ok(Ticks)
///     }
/// }
/// # fn main() {}
/// ```
pub struct AllocationTicks {
    provider: RuntimeProvider,
    on_tick: Box<TickHandler>,
}

type TickHandler = dyn Fn(&ProfilerInfo, AllocationTick) -> Result<()> + Send + Sync;

/// A sampled allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocationTick {
    /// The type of the object that this thread is allocating.
    pub class: ClassId,
    /// The bytes allocated since the previous tick, for all types together.
    pub bytes: u64,
}

impl AllocationTicks {
    /// Creates the component, to be [attached](crate::Setup::attach): `on_tick` is called on the
    /// allocating thread, until the process ends.
    ///
    /// Calls `ICorProfilerInfo12::EventPipeStartSession`. **Events**:
    /// [`HIGH_MONITOR_EVENT_PIPE`](crate::EventMask::HIGH_MONITOR_EVENT_PIPE). It cannot be
    /// attached on .NET Core 3.1, which is too old.
    pub fn new(
        on_tick: impl Fn(&ProfilerInfo, AllocationTick) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            provider: RuntimeProvider::default(),
            on_tick: Box::new(on_tick),
        }
    }
}

#[component(crate = crate)]
impl Component for AllocationTicks {
    fn attach(&self, info: &ProfilerInfo, _setup: &mut Setup) -> Result<()> {
        RuntimeProvider::want(info, KEYWORD, EventLevel::Verbose);
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
        if !is_tick(event) || !self.provider.has_raised(info, event) {
            return Ok(());
        }
        read(event.payload).map_or(Ok(()), |(tick, _)| (self.on_tick)(info, tick))
    }
}

/// Whether an event of the runtime's provider is a tick.
pub(super) fn is_tick(event: &EventPipeEvent<'_>) -> bool {
    event.id == ALLOCATION_TICK && event.version >= 2
}

/// The tick, and the size of its object if the runtime is new enough to tell it.
pub(super) fn read(payload: &[u8]) -> Option<(AllocationTick, Option<u64>)> {
    let mut payload = EventPayloadReader::new(payload);
    let _in_32_bits = payload.u32()?;
    let _kind_of_heap = payload.u32()?;
    let _runtime = payload.u16()?;
    let bytes = payload.u64()?;
    let class = payload.pointer()?;
    let tick = AllocationTick {
        class: ClassId::optional(class)?,
        bytes,
    };
    let mut size = || {
        let _type_name = payload.string()?;
        let _heap = payload.u32()?;
        let _address = payload.pointer()?;
        payload.u64()
    };
    Some((tick, size().filter(|size| *size > 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_read_if_it_is_whole() {
        let payload = [
            &[0; 10][..],
            &0x1_0000_0001_u64.to_le_bytes(),
            &0x7000_usize.to_le_bytes(),
        ]
        .concat();
        let expected = AllocationTick {
            class: ClassId::from_runtime(0x7000),
            bytes: 0x1_0000_0001,
        };
        assert_eq!(read(&payload), Some((expected, None)));
        assert_eq!(read(&payload[..payload.len() - 1]), None);
        assert_eq!(read(&[0; 26]), None);
    }
}
