//! Estimates of allocations from the runtime's samples, compared with the numbers that the program allocates.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clr_profiler::heap::AllocationSamples;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes the estimates for each type of the program.
pub(crate) struct Estimates {
    sums: Arc<Mutex<HashMap<ClassId, Sum>>>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    samples: u64,
    objects: f64,
    bytes: f64,
    random: u64,
}

fn lock(sums: &Mutex<HashMap<ClassId, Sum>>) -> MutexGuard<'_, HashMap<ClassId, Sum>> {
    sums.lock().unwrap_or_else(PoisonError::into_inner)
}

#[profiler(clsid = clsid("Estimates"))]
impl Profiler for Estimates {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let sums: Arc<Mutex<HashMap<ClassId, Sum>>> = Arc::default();
        setup.attach(AllocationSamples::new({
            let sums = Arc::clone(&sums);
            move |_, sample| {
                let mut sums = lock(&sums);
                let sum = sums.entry(sample.class).or_default();
                sum.samples += 1;
                sum.objects += sample.objects.unwrap_or_default();
                sum.bytes += sample.bytes;
                sum.random += u64::from(sample.is_random);
                Ok(())
            }
        }))?;
        Ok(Self { sums })
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        for (class, sum) in &*lock(&self.sums) {
            let name = info.class_full_name(*class)?;
            let name = name.strip_prefix("Estimates.").unwrap_or("other");
            let Sum {
                samples,
                objects,
                bytes,
                random,
            } = sum;
            log::line(format_args!("{name} {samples} {objects} {bytes} {random}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Estimates;

    const ROUNDS: f64 = 20_000.0;

    /// The mean of the bytes between two samples.
    const MEAN: f64 = 102_400.0;

    #[test]
    fn estimates_are_the_numbers_that_are_allocated() {
        let scenario = Scenario::new("Estimates").profiled_by::<Estimates>();
        let scenario = scenario.arg("20000");
        scenario.on_each_runtime_where(
            |runtime| runtime.major > 3,
            |runtime, profiled| {
                let log = &profiled.log;
                assert_eq!(profiled.status.code(), Some(7), "{log} {}", profiled.stderr);
                let mut all = 0.0;
                let types = [
                    ("Small", 24.0, 600.0 * ROUNDS),
                    ("Large[]", 50_024.0, ROUNDS),
                    ("Huge[]", 150_024.0, ROUNDS / 10.0),
                ];
                for (name, size, number) in types {
                    let line = log.lines().find_map(|line| {
                        line.strip_prefix(name)?.strip_prefix(' ')
                    });
                    let line = line.unwrap_or("0 0 0 0");
                    let numbers: Vec<f64> =
                        line.split(' ').map(|number| number.parse().unwrap()).collect();
                    let &[samples, objects, bytes, random] = &numbers[..] else {
                        panic!("{log}");
                    };
                    all += bytes;
                    let chance = 1.0 - (-size / MEAN).exp();
                    let deviation = (number * (1.0 - chance) / chance).sqrt();
                    let off = (objects - number) / deviation;
                    eprintln!(
                        ".NET {}: {name:8} {number:9} objects, estimated {objects:11.0} ({:6.1} %) from {samples:6} samples, \
                         off by {off:6.2} deviations",
                        runtime.version(),
                        100.0 * objects / number
                    );
                    let is_random = runtime.major >= 10;
                    assert_eq!(random, if is_random { samples } else { 0.0 }, "{log}");
                    if is_random {
                        assert!(off.abs() < 5.0, "{log}");
                        let off = (bytes - number * size) / (deviation * size);
                        assert!(off.abs() < 5.0, "{log}");
                    }
                }
                // Also those of ticks, whose sum has no bias.
                let expected: f64 = types.iter().map(|(_, size, number)| size * number).sum();
                let share = all / expected;
                assert!((0.9..1.1).contains(&share), "{share}: {log}");
            },
        );
    }

    #[test]
    fn a_runtime_without_tracing_names_the_event_that_it_lacks() {
        let scenario = Scenario::new("Estimates").profiled_by::<Estimates>();
        scenario.arg("1").on_each_runtime_where(
            |runtime| runtime.major <= 3,
            |_, profiled| {
                assert_eq!(profiled.status.code(), Some(7), "{}", profiled.stderr);
                let log = &profiled.log;
                assert!(log.contains("HIGH_MONITOR_EVENT_PIPE"), "{log}");
            },
        );
    }
}
