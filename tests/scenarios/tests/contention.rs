//! Waits for locks, as the runtime's tracing reports them and as the program measures them.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use clr_profiler::contention::{ContentionEvent, ContentionEvents};
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes a line for each wait: its time, the method of the program, the holder and the lock.
pub(crate) struct Contention;

thread_local! {
    static BEGUN: Cell<Option<(String, u64, u64)>> = const { Cell::new(None) };
}

#[profiler(clsid = clsid("Contention"))]
impl Profiler for Contention {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        setup.attach(ContentionEvents::new(|info, event| {
            match event {
                ContentionEvent::Begins(contention) => {
                    let (lock, holder) = (contention.lock, contention.holder);
                    let place = (
                        method(info)?,
                        holder.unwrap_or_default(),
                        lock.unwrap_or_default(),
                    );
                    BEGUN.set(Some(place));
                }
                ContentionEvent::Ends { waited } => {
                    let (method, holder, lock) = BEGUN.take().unwrap_or_default();
                    let waited = waited.as_nanos();
                    log::line(format_args!("waited {method} {waited} {holder} {lock}"));
                }
                other => log::line(format_args!("{other:?}")),
            }
            Ok(())
        }))?;
        Ok(Self)
    }
}

/// Writes the time of each wait, and takes long when one begins.
pub(crate) struct SlowContention;

/// How long it takes.
const SLOW: Duration = Duration::from_millis(50);

#[profiler(clsid = clsid("SlowContention"))]
impl Profiler for SlowContention {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        setup.attach(ContentionEvents::new(|info, event| {
            match event {
                ContentionEvent::Begins(_) => {
                    IS_OF_PROGRAM.set(method(info)? != "nobody");
                    std::thread::sleep(SLOW);
                }
                ContentionEvent::Ends { waited } if IS_OF_PROGRAM.get() => {
                    log::line(waited.as_nanos());
                }
                _ => {}
            }
            Ok(())
        }))?;
        Ok(Self)
    }
}

thread_local! {
    static IS_OF_PROGRAM: Cell<bool> = const { Cell::new(false) };
}

/// The innermost method of the program on this thread's stack.
fn method(info: &ProfilerInfo) -> Result<String> {
    let mut functions = Vec::new();
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        functions.extend(frame.function);
        ControlFlow::Continue(())
    })?;
    for function in functions {
        let name = info.method(function)?.full_name()?;
        if let Some(own) = name.strip_prefix("Contends.Program.") {
            return Ok(own.trim_end_matches("()").to_owned());
        }
    }
    Ok("nobody".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clr_profiler_tests::Scenario;

    use super::{Contention, SLOW, SlowContention};

    #[test]
    fn waits_take_as_long_as_both_sides_measure() {
        let scenario = Scenario::new("Contends").profiled_by::<Contention>();
        scenario.on_each_runtime_where(
            |runtime| runtime.major > 3,
            |runtime, profiled| {
                let (log, output) = (&profiled.log, &profiled.stdout);
                assert_eq!(profiled.status.code(), Some(7), "{log} {output}");
                // The runtime has locks of its own, for which no method of the program waits.
                let waited: Vec<Vec<&str>> = (log.lines())
                    .map(|line| line.split(' ').collect())
                    .filter(|words: &Vec<&str>| words[1] != "nobody")
                    .collect();
                let measured: Vec<Vec<&str>> =
                    output.lines().map(|line| line.split(' ').collect()).collect();
                assert_eq!((waited.len(), measured.len()), (8, 8), "{log} {output}");
                let mut locks = HashSet::new();
                for (waited, measured) in waited.iter().zip(&measured) {
                    let &[_, in_method, time, holder, lock] = &waited[..] else {
                        panic!("{log}");
                    };
                    let &[_, method, at_least, at_most, own] = &measured[..] else {
                        panic!("{output}");
                    };
                    assert_eq!(in_method, method, "{log} {output}");
                    let [time, at_least, at_most] =
                        [time, at_least, at_most].map(|time| time.parse::<u64>().unwrap());
                    assert!((at_least..=at_most).contains(&time), "{log} {output}");
                    assert!(at_least >= 5_000_000, "{output}");
                    if runtime.major >= 8 {
                        assert!(own == "0" || holder == own, "{log} {output}");
                        locks.insert((method, lock));
                    }
                }
                let locks_expected = match runtime.major {
                    ..8 => 0,
                    8 => 1,
                    _ => 2,
                };
                assert_eq!(locks.len(), locks_expected, "{log}");
            },
        );
    }

    /// The runtime measures a wait for a `Monitor` from before the closure is called, for a `Lock` from after it.
    #[test]
    fn the_time_of_the_closure_is_within_a_wait_for_a_monitor() {
        let scenario = Scenario::new("Contends").profiled_by::<SlowContention>();
        scenario.arg("free").on_each_runtime_where(
            |runtime| runtime.major > 3,
            |_, profiled| {
                let (log, output) = (&profiled.log, &profiled.stdout);
                assert_eq!(profiled.status.code(), Some(7), "{log} {output}");
                let waited: Vec<u64> = log.lines().map(|line| line.parse().unwrap()).collect();
                let measured: Vec<Vec<&str>> =
                    output.lines().map(|line| line.split(' ').collect()).collect();
                assert_eq!((waited.len(), measured.len()), (4, 4), "{log} {output}");
                let slow = SLOW.as_nanos() as u64;
                for (round, (waited, measured)) in waited.iter().zip(&measured).enumerate() {
                    let at_most: u64 = measured[3].parse().unwrap();
                    // The lock is free during the closure, or after some 300 milliseconds.
                    let is_long = round >= 2;
                    let expected = match (measured[1], is_long) {
                        ("WaitForOld", false) => slow..=at_most,
                        ("WaitForOld", true) => 100_000_000..=at_most,
                        (_, false) => 0..=at_most - slow,
                        (_, true) => 100_000_000..=at_most - slow,
                    };
                    assert!(expected.contains(waited), "{round}: {log} {output}");
                }
            },
        );
    }

    #[test]
    fn a_runtime_without_tracing_names_the_event_that_it_lacks() {
        let scenario = Scenario::new("Contends").profiled_by::<Contention>();
        scenario.on_each_runtime_where(
            |runtime| runtime.major <= 3,
            |_, profiled| {
                assert_eq!(profiled.status.code(), Some(7), "{}", profiled.stderr);
                let log = &profiled.log;
                assert!(log.contains("HIGH_MONITOR_EVENT_PIPE"), "{log}");
            },
        );
    }
}
