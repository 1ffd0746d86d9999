//! Files for the Firefox Profiler, in its format of processed profiles.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame as Place, FrameFlags, FrameInfo, ProcessHandle,
    Profile, SamplingInterval, StackHandle, ThreadHandle, Timestamp, WeightType,
};

use super::export::{Export, Frames};
use crate::stacks::Unit;

impl Unit {
    /// How weights are shown, and the divisor that makes them so.
    fn of_firefox(self) -> (WeightType, u64) {
        match self {
            Self::Samples | Self::Calls => (WeightType::Samples, 1),
            Self::Bytes => (WeightType::Bytes, 1),
            Self::Nanoseconds => (WeightType::TracingMs, 1_000_000),
        }
    }
}

/// Weights in a larger unit, whose sum is right: each takes over the remainder of the one before.
struct Weights {
    divisor: u64,
    remainder: u64,
}

impl Weights {
    fn new(divisor: u64) -> Self {
        Self {
            divisor,
            remainder: 0,
        }
    }

    /// In parts, because a weight has 32 bits in the format.
    fn parts(&mut self, weight: u64) -> impl Iterator<Item = i32> + use<> {
        let all = weight.saturating_add(self.remainder);
        self.remainder = all % self.divisor;
        let all = all / self.divisor;
        let most = i32::MAX as u64;
        (0..=all / most).map(move |part| (all - part * most).min(most) as i32)
    }
}

/// The profile that is made, and its frames by their numbers.
struct Maker<'a, 'b> {
    profile: Profile,
    process: ProcessHandle,
    weight_type: WeightType,
    frame: &'a mut Frames<'b>,
    known: HashMap<u64, FrameInfo>,
    managed: CategoryHandle,
    native: CategoryHandle,
}

pub(super) fn write(
    export: &Export<'_>,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let interval = SamplingInterval::from_millis(1);
    let mut profile = Profile::new(export.title, export.began.into(), interval);
    // There are no addresses that the viewer could find the names of.
    profile.set_symbolicated(true);
    let managed = profile.add_category("Managed", CategoryColor::Green);
    let native = profile.add_category("Native", CategoryColor::Blue);
    let process = profile.add_process(export.title, std::process::id(), timestamp(Duration::ZERO));
    let (weight_type, divisor) = export.unit.of_firefox();
    let mut maker = Maker {
        profile,
        process,
        weight_type,
        frame,
        known: HashMap::new(),
        managed,
        native,
    };
    match export.timeline {
        Some(timeline) => {
            for thread in &timeline.threads {
                let handle = maker.thread(thread.id, &thread.name, export.duration);
                let mut weights = Weights::new(divisor);
                let mut stacks = HashMap::new();
                for sample in &thread.samples {
                    let stack = *stacks.entry(sample.node).or_insert_with(|| {
                        maker.stack(handle, export.stacks.frames_of(sample.node))
                    });
                    maker.sample(handle, sample.at, stack, sample.weight, &mut weights);
                }
            }
        }
        // The stacks have no times: each begins where the one before it ends.
        None => {
            let total = export.stacks.total().max(1) as f64;
            let handle = maker.thread(std::process::id(), "All threads", export.duration);
            let mut weights = Weights::new(divisor);
            let mut sum = 0;
            for (frames, weight, _) in export.stacks.iter() {
                let stack = maker.stack(handle, frames);
                let at = export.duration.mul_f64(sum as f64 / total);
                maker.sample(handle, at, stack, weight, &mut weights);
                sum += weight;
            }
        }
    }
    serde_json::to_writer(&mut *out, &maker.profile)?;
    writeln!(out)
}

impl Maker<'_, '_> {
    fn thread(&mut self, id: u32, name: &str, end: Duration) -> ThreadHandle {
        let thread = self
            .profile
            .add_thread(self.process, id, timestamp(Duration::ZERO), false);
        self.profile.set_thread_name(thread, name);
        self.profile.set_thread_end_time(thread, timestamp(end));
        let weight_type = self.weight_type.clone();
        self.profile
            .set_thread_samples_weight_type(thread, weight_type);
        self.profile.add_initial_visible_thread(thread);
        thread
    }

    fn stack(&mut self, thread: ThreadHandle, frames: Vec<u64>) -> Option<StackHandle> {
        let frames: Vec<FrameInfo> = frames.into_iter().map(|key| self.frame(key)).collect();
        self.profile.intern_stack_frames(thread, frames.into_iter())
    }

    fn frame(&mut self, key: u64) -> FrameInfo {
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let frame = (self.frame)(key);
        let text = frame.text();
        let category = match text.starts_with('[') {
            true => self.native,
            false => self.managed,
        };
        let info = FrameInfo {
            frame: Place::Label(self.profile.intern_string(&text)),
            category_pair: category.into(),
            flags: FrameFlags::empty(),
        };
        self.known.insert(key, info.clone());
        info
    }

    fn sample(
        &mut self,
        thread: ThreadHandle,
        at: Duration,
        stack: Option<StackHandle>,
        weight: u64,
        weights: &mut Weights,
    ) {
        let mut cpu = match self.weight_type {
            WeightType::TracingMs => CpuDelta::from_nanos(weight),
            _ => CpuDelta::ZERO,
        };
        for part in weights.parts(weight) {
            self.profile
                .add_sample(thread, timestamp(at), stack, cpu, part);
            cpu = CpuDelta::ZERO;
        }
    }
}

fn timestamp(time: Duration) -> Timestamp {
    let time = u64::try_from(time.as_nanos());
    Timestamp::from_nanos_since_reference(time.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::export::tests::{stacks, written};
    use super::*;
    use crate::stacks::{Form, Timeline};

    fn read(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    fn sum(numbers: &Value) -> i64 {
        let numbers = numbers.as_array().unwrap().iter();
        numbers.map(|number| number.as_i64().unwrap()).sum()
    }

    #[test]
    fn totals_are_one_thread() {
        let file = read(&written(Form::Firefox, Unit::Nanoseconds, None));
        assert_eq!(file["threads"].as_array().unwrap().len(), 1);
        let samples = &file["threads"][0]["samples"];
        assert_eq!(samples["weightType"], "tracing-ms");
        assert_eq!(
            (samples["length"].as_i64(), sum(&samples["weight"])),
            (Some(3), 100)
        );
        let text = file.to_string();
        assert!(text.contains("Shop.Map<3>.Get(int) Map.cs:7"), "{text}");
        assert!(text.contains("\"A;B\""), "{text}");
    }

    #[test]
    fn each_thread_of_a_timeline_has_its_samples() {
        let mut own = stacks();
        let node = own.add([1, 2], 0);
        let mut timeline = Timeline::with_limit(3);
        for (thread, at) in [(7, 3), (8, 4), (7, 1), (8, 9)] {
            let at = Duration::from_millis(at);
            timeline.add(thread, || format!("thread {thread}"), at, node, 1_500_000);
        }
        assert_eq!(timeline.left_out(), 1);
        // Not before the one before it.
        assert_eq!(timeline.last(7), Some(Duration::from_millis(3)));
        let file = read(&written(Form::Firefox, Unit::Nanoseconds, Some(&timeline)));
        let threads = file["threads"].as_array().unwrap();
        let all = threads.iter().map(|thread| {
            let samples = &thread["samples"];
            (thread["name"].as_str().unwrap(), sum(&samples["weight"]))
        });
        assert_eq!(all.collect::<Vec<_>>(), [("thread 7", 3), ("thread 8", 1)]);
    }

    #[test]
    fn weights_keep_their_sum() {
        let mut weights = Weights::new(10);
        let parts: Vec<i32> = [4, 4, 4, 19]
            .iter()
            .flat_map(|weight| weights.parts(*weight))
            .collect();
        assert_eq!(parts, [0, 0, 1, 2]);
        let large = 3 * i32::MAX as u64 + 5;
        let parts: Vec<i32> = Weights::new(1).parts(large).collect();
        assert_eq!(parts, [i32::MAX, i32::MAX, i32::MAX, 5]);
    }
}
