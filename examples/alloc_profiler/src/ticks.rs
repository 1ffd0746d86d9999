//! The runtime's own samples: an event each time that about 100 kilobytes have been allocated.

use clr_profiler::prelude::*;
use clr_profiler::{EventLevel, EventPayloadReader, EventPipeProviderConfig};

/// The keyword of the garbage collector's events.
const GC: u64 = 1;
/// The number of the event `AllocationTick`.
const ALLOCATION_TICK: u32 = 10;

/// Has the runtime's ticks delivered to this profiler.
pub(crate) fn start(info: &ProfilerInfo) -> Result<()> {
    let mut runtime = EventPipeProviderConfig::all("Microsoft-Windows-DotNETRuntime");
    (runtime.keywords, runtime.level) = (GC, EventLevel::Verbose);
    // It ends with the process.
    info.event_pipe_start_session(&[runtime], false).map(drop)
}

/// What a tick says.
pub(crate) struct Tick {
    /// The type of the object that was allocated just now.
    pub(crate) class: ClassId,
    /// The bytes since the tick before, all types together.
    pub(crate) bytes: u64,
}

impl Tick {
    /// None for other events.
    pub(crate) fn of(event: &EventPipeEvent<'_>) -> Option<Self> {
        if event.id != ALLOCATION_TICK || event.version < 2 {
            return None;
        }
        let mut payload = EventPayloadReader::new(event.payload);
        let _cut_to_32_bits = payload.u32()?;
        let _kind_of_heap = payload.u32()?;
        let _runtime = payload.u16()?;
        let bytes = payload.u64()?;
        let class = payload.u64()?;
        Some(Self {
            class: ClassId::from_raw(usize::try_from(class).ok()?),
            bytes,
        })
    }
}
