//! [`AllocationSamples`]: estimates of all allocations from sampled ones.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::events::payload::EventPipeEvent;
use crate::ids::ClassId;
use crate::info::info12::{EventLevel, EventPayloadReader};
use crate::info::{CorProfilerInfo3, RuntimeKind};
use crate::profiler::{Component, Setup};
use crate::runtime::ProfilerInfo;
use crate::runtime_events::RuntimeProvider;
use clr_profiler_macros::component;

use super::allocations;

opaque! { AllocationSamples }

/// The keyword of the event `AllocationSampled`.
const KEYWORD: u64 = 0x800_0000_0000;
/// The number of that event.
const ALLOCATION_SAMPLED: u32 = 303;
/// The mean of the bytes between two sampled ones.
const MEAN: f64 = 102_400.0;

/// Reports sampled allocations, each with the objects and bytes that it represents, by the runtime's own tracing.
///
/// From .NET 10 on, the runtime samples at random: each allocated byte has the same chance of 1 in 102,400, and the object
/// that has the byte is the sample. An object of `s` bytes is sampled with the probability `p = 1 - exp(-s / 102400)`, so a
/// sample represents `1 / p` objects of `s / p` bytes. The sums of these are unbiased estimates: on average over many runs they are
/// the true ones, whatever the program allocates. The standard deviation of the estimate of `b` bytes in small objects is the
/// square root of `102400 * b`: 1 % for a gigabyte, 10 % for 10 megabytes.
///
/// .NET 5 to 9 have only the [ticks](super::AllocationTicks): an object each time that about 100 kilobytes have been allocated, which
/// represents all bytes since the tick before, and as many objects of its size as that is. These estimates are biased:
/// the next tick comes when a thread needs a new piece of memory, which is more often for a large object than
/// its size accounts for; and a program that allocates in a rhythm may be seen at the same beat again and
/// again. The guide has an example with numbers. [`AllocationSample::is_random`] tells both apart.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use clr_profiler::heap::AllocationSamples;
/// use clr_profiler::prelude::*;
///
/// static ALLOCATED: AtomicU64 = AtomicU64::new(0);
///
/// struct Allocated;
///
/// #[profiler(clsid = "6F5C0E4B-2E3A-4D0E-9B77-1F4B8E5D2C90")]
/// impl Profiler for Allocated {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(AllocationSamples::new(|_info, sample| {
///             ALLOCATED.fetch_add(sample.bytes as u64, Ordering::Relaxed);
///             Ok(())
///         }))?;
///         Ok(Allocated)
///     }
/// }
/// # fn main() {}
/// ```
pub struct AllocationSamples {
    provider: RuntimeProvider,
    on_sample: Box<SampleHandler>,
    /// Whether this runtime samples at random.
    is_random: AtomicBool,
}

type SampleHandler = dyn Fn(&ProfilerInfo, AllocationSample) -> Result<()> + Send + Sync;

/// A sampled allocation, and the allocations that it represents.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AllocationSample {
    /// The type of the object that this thread is allocating.
    pub class: ClassId,
    /// The bytes of that object, if the runtime tells: .NET 6 and newer do.
    pub size: Option<u64>,
    /// The bytes that it represents.
    pub bytes: f64,
    /// The number of objects that it represents, if its size is known.
    pub objects: Option<f64>,
    /// Whether it was chosen at random, so that sums are unbiased estimates.
    pub is_random: bool,
}

impl AllocationSamples {
    /// Creates the component, to be [attached](crate::Setup::attach): `on_sample` is called on the
    /// allocating thread, until the process ends.
    ///
    /// Calls `ICorProfilerInfo12::EventPipeStartSession`. **Events**:
    /// [`HIGH_MONITOR_EVENT_PIPE`](crate::EventMask::HIGH_MONITOR_EVENT_PIPE). It cannot be
    /// attached on .NET Core 3.1, which is too old.
    pub fn new(
        on_sample: impl Fn(&ProfilerInfo, AllocationSample) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            provider: RuntimeProvider::default(),
            on_sample: Box::new(on_sample),
            is_random: AtomicBool::new(false),
        }
    }

    /// Whether this runtime samples at random: .NET 10 and newer do.
    ///
    /// # Errors
    ///
    /// The error of [`CorProfilerInfo3::runtime_information`].
    pub fn are_random(info: &ProfilerInfo) -> Result<bool> {
        let runtime = info.runtime_information()?;
        Ok(runtime.kind == RuntimeKind::Core && runtime.major >= 10)
    }
}

#[component(crate = crate)]
impl Component for AllocationSamples {
    fn attach(&self, info: &ProfilerInfo, _setup: &mut Setup) -> Result<()> {
        let is_random = Self::are_random(info)?;
        self.is_random.store(is_random, Ordering::Relaxed);
        if is_random {
            RuntimeProvider::want(info, KEYWORD, EventLevel::Informational);
        } else {
            RuntimeProvider::want(info, allocations::KEYWORD, EventLevel::Verbose);
        }
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
        // Another component may have requested the other one, too.
        let is_random = self.is_random.load(Ordering::Relaxed);
        let is_sample = match is_random {
            true => event.id == ALLOCATION_SAMPLED,
            false => allocations::is_tick(event),
        };
        if !is_sample || !self.provider.has_raised(info, event) {
            return Ok(());
        }
        let sample = match is_random {
            true => read(event.payload),
            false => of_tick(event.payload),
        };
        sample.map_or(Ok(()), |sample| (self.on_sample)(info, sample))
    }
}

fn read(payload: &[u8]) -> Option<AllocationSample> {
    let mut payload = EventPayloadReader::new(payload);
    let _kind_of_heap = payload.u32()?;
    let _runtime = payload.u16()?;
    let class = payload.pointer()?;
    let _type_name = payload.string()?;
    let _address = payload.pointer()?;
    let size = payload.u64()?;
    let chance = chance(size);
    (chance > 0.0).then_some(AllocationSample {
        class: ClassId::optional(class)?,
        size: Some(size),
        bytes: size as f64 / chance,
        objects: Some(1.0 / chance),
        is_random: true,
    })
}

/// The probability that an object of this size is sampled.
fn chance(size: u64) -> f64 {
    -(-(size as f64) / MEAN).exp_m1()
}

fn of_tick(payload: &[u8]) -> Option<AllocationSample> {
    let (tick, size) = allocations::read(payload)?;
    let bytes = tick.bytes as f64;
    Some(AllocationSample {
        class: tick.class,
        size,
        bytes,
        objects: size.map(|size| bytes / size as f64),
        is_random: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(size: u64) -> Vec<u8> {
        let name = "A".encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
        let mut payload: Vec<u8> = [0; 6].into();
        payload.extend(0x7000_usize.to_le_bytes());
        payload.extend(name);
        payload.extend(0x1234_usize.to_le_bytes());
        for field in [size, 7] {
            payload.extend(u64::to_le_bytes(field));
        }
        payload
    }

    #[test]
    fn a_small_object_stands_for_the_mean() {
        let sample = read(&sampled(24)).unwrap();
        assert_eq!(sample.class, ClassId::from_runtime(0x7000));
        assert_eq!(sample.size, Some(24));
        assert!((sample.bytes - 102_412.0).abs() < 0.01, "{sample:?}");
        assert!((sample.objects.unwrap() - 4267.17).abs() < 0.01);
    }

    #[test]
    fn a_large_object_stands_for_little_more_than_itself() {
        let sample = read(&sampled(1_000_000)).unwrap();
        assert!((sample.bytes - 1_000_057.0).abs() < 1.0, "{sample:?}");
        // With this chance of 0.632, ten objects are sampled 6.32 times.
        let sample = read(&sampled(102_400)).unwrap();
        assert!((sample.objects.unwrap() - 1.581_98).abs() < 0.001);
    }

    #[test]
    fn what_is_cut_short_is_none() {
        let payload = sampled(24);
        assert_eq!(read(&payload[..payload.len() - 9]), None);
        assert_eq!(read(&sampled(0)), None, "no object has no bytes");
    }

    #[test]
    fn a_tick_stands_for_objects_of_its_size() {
        let mut payload: Vec<u8> = [0; 10].into();
        payload.extend(120_000_u64.to_le_bytes());
        payload.extend(0x7000_usize.to_le_bytes());
        let old = of_tick(&payload).unwrap();
        assert_eq!((old.size, old.objects), (None, None));
        assert_eq!((old.bytes, old.is_random), (120_000.0, false));
        // The name, the heap, the address, the size.
        payload.extend([b'A', 0, 0, 0]);
        payload.extend([0; 4 + size_of::<usize>()]);
        payload.extend(1000_u64.to_le_bytes());
        let new = of_tick(&payload).unwrap();
        assert_eq!((new.size, new.objects), (Some(1000), Some(120.0)));
    }
}
