//! The code that triggers collections, as the program counts them itself.

use std::sync::{Arc, Mutex};

use clr_profiler::heap::{CollectionTriggers, TriggerReason};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes a line for each trigger: its reason, and the innermost method of the program.
pub(crate) struct Triggers {
    seen: Arc<Mutex<Vec<Seen>>>,
}

type Seen = (TriggerReason, Vec<FunctionId>);

#[profiler(clsid = clsid("Triggers"))]
impl Profiler for Triggers {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        setup.attach(CollectionTriggers::with_depth(64, {
            let (seen, info) = (Arc::clone(&seen), info.clone());
            move |trigger| {
                // Would wait for the collection, which waits for this closure.
                if info.force_gc().is_ok() {
                    log::line("a call that waits was not refused");
                }
                let mut seen = seen.lock().unwrap_or_else(|poison| poison.into_inner());
                seen.push((trigger.reason, trigger.stack.to_vec()));
            }
        }))?;
        Ok(Self { seen })
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        let seen = self.seen.lock().unwrap_or_else(|poison| poison.into_inner());
        for (reason, stack) in &*seen {
            let mut place = "nobody".to_owned();
            for function in stack {
                let name = info.method(*function)?.full_name()?;
                if let Some(own) = name.strip_prefix("Triggers.Program.") {
                    own.trim_end_matches("()").clone_into(&mut place);
                    break;
                }
            }
            log::line(format_args!("{place}: {reason}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clr_profiler_tests::{Finished, Scenario};

    use super::Triggers;

    fn scenario() -> Scenario {
        // A collection of the background has a smaller one before it, now and then.
        Scenario::new("Triggers")
            .profiled_by::<Triggers>()
            .env("DOTNET_gcConcurrent", "0")
    }

    /// How often each method triggered a collection, by its reasons.
    fn check(profiled: &Finished) {
        let (log, output) = (&profiled.log, &profiled.stdout);
        assert_eq!(profiled.status.code(), Some(7), "{log} {}", profiled.stderr);
        let mut expected: BTreeMap<&str, usize> = BTreeMap::new();
        for line in output.lines().skip(1) {
            let (method, count) = line.split_once(' ').unwrap();
            *expected.entry(method).or_default() += count.parse::<usize>().unwrap();
        }
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for line in log.lines() {
            let (method, reason) = line.split_once(": ").unwrap();
            *seen.entry(method).or_default() += 1;
            let reasons: &[&str] = match method {
                "ByCollect" => &["induced"],
                // The collector may count the budget of another generation.
                "ByAllocation" => &["small allocation", "out of space"],
                _ => &["large allocation", "out of space"],
            };
            assert!(reasons.contains(&reason), "{log}");
        }
        assert_eq!(seen, expected, "{log} {output}");
        assert_eq!(expected["ByCollect"], 9, "{output}");
        assert!(expected["ByAllocation"] >= 12, "{output}");
        assert!(expected["ByLargeAllocation"] >= 3, "{output}");
    }

    #[test]
    fn each_collection_has_the_method_that_triggers_it() {
        scenario().on_each_runtime_where(
            |runtime| runtime.major > 3,
            |_, profiled| check(profiled),
        );
    }

    /// There the collector has threads of its own.
    #[test]
    fn collections_of_the_server_have_it_too() {
        let scenario = scenario()
            .env("DOTNET_gcServer", "1")
            .env("DOTNET_GCHeapCount", "2")
            .env("DOTNET_GCgen0size", "400000");
        scenario.on_each_runtime_where(
            |runtime| runtime.major > 3,
            |_, profiled| check(profiled),
        );
    }

    #[test]
    fn a_runtime_without_tracing_names_the_event_that_it_lacks() {
        scenario().on_each_runtime_where(
            |runtime| runtime.major <= 3,
            |_, profiled| {
                assert_eq!(profiled.status.code(), Some(7), "{}", profiled.stderr);
                let log = &profiled.log;
                assert!(log.contains("HIGH_MONITOR_EVENT_PIPE"), "{log}");
            },
        );
    }
}
