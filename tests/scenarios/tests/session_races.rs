//! A session can be ended while others add to it, and is not started where that would end the program.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::events::{EventPipeProviderConfig, EventPipeSessionId};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Starts and ends sessions while others add to the newest of them, when the first thread of
/// `ThreadNames` gets its name.
pub(crate) struct SessionRaces;

#[profiler(clsid = clsid("SessionRaces"))]
impl Profiler for SessionRaces {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::HIGH_MONITOR_EVENT_PIPE);
        Ok(Self)
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if name != "plain" {
            return Ok(());
        }
        // EventPipe makes a thread of the profiler a managed one: such a thread is not reused.
        let info = info.clone();
        let race = thread::spawn(move || race(&info));
        race.join().map_err(|_| Error::other("the race panicked"))?
    }
}

fn race(info: &ProfilerInfo) -> Result<()> {
    let newest = Mutex::new(None::<EventPipeSessionId>);
    let (is_over, added) = (AtomicBool::new(false), AtomicU64::new(0));
    let session = || *newest.lock().unwrap_or_else(PoisonError::into_inner);
    let end = Instant::now() + Duration::from_secs(2);
    thread::scope(|scope| {
        let add = || {
            while !is_over.load(Ordering::Relaxed) {
                let Some(session) = session() else {
                    continue;
                };
                // The same name again and again: the session keeps each.
                let provider = EventPipeProviderConfig::all("Scenario-Added");
                if info
                    .event_pipe_add_provider_to_session(session, &provider)
                    .is_ok()
                {
                    added.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        scope.spawn(add);
        scope.spawn(add);
        let mut ended = Ok(());
        while ended.is_ok() && Instant::now() < end {
            let all = [EventPipeProviderConfig::all("Scenario-Races")];
            ended = info
                .event_pipe_start_session(&all, false)
                .and_then(|session| {
                    *newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
                    thread::sleep(Duration::from_micros(200));
                    info.event_pipe_stop_session(session)
                });
        }
        is_over.store(true, Ordering::Relaxed);
        ended
    })?;
    let some = added.load(Ordering::Relaxed) > 10;
    log::line(format_args!("raced, some added to {some}"));
    Ok(())
}

/// Tries to start a session whenever a thread starts.
pub(crate) struct StartsTooEarly;

#[profiler(clsid = clsid("StartsTooEarly"))]
impl Profiler for StartsTooEarly {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::HIGH_MONITOR_EVENT_PIPE);
        Ok(Self)
    }

    fn thread_assigned_to_os_thread(&self, info: &ProfilerInfo, _: ThreadId, _: u32) -> Result<()> {
        let all = [EventPipeProviderConfig::all("Scenario-Early")];
        info.event_pipe_start_session(&all, false).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{SessionRaces, StartsTooEarly};

    #[test]
    fn a_thread_that_has_just_started_starts_no_session() {
        let scenario = Scenario::new("ThreadNames").profiled_by::<StartsTooEarly>();
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            assert_eq!(
                profiled.output(),
                (Some(4), "5\n3\n2\n10\n300\n", ""),
                "{log}"
            );
            let refusal = match runtime.major {
                3 => "needs ICorProfilerInfo12",
                _ => "these may wait for the callback on this thread",
            };
            assert!(log.lines().count() >= 5, "{log}");
            assert!(log.lines().all(|line| line.contains(refusal)), "{log}");
        });
    }

    #[test]
    fn what_is_added_to_is_not_freed_meanwhile() {
        let scenario = Scenario::new("ThreadNames").profiled_by::<SessionRaces>();
        scenario.on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.output(), (Some(4), "5\n3\n2\n10\n300\n", ""));
            let log = &profiled.log;
            if runtime.major < 5 {
                assert!(log.contains("needs ICorProfilerInfo12"), "{log}");
                return;
            }
            assert_eq!(log, "raced, some added to true\n");
        });
    }
}
