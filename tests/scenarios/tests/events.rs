//! The table of events, row by row: a callback is called with the events that its row names, and
//! not without them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use clr_profiler::EventMask;
use clr_profiler::events::Callback;
use clr_profiler_tests::{Finished, Runtime, Scenario};

/// Why the profiled program does not cause a callback here; `None` if it does.
fn out_of_reach(callback: Callback, runtime: &Runtime) -> Option<&'static str> {
    use Callback::*;
    match callback {
        Initialize
        | Shutdown
        | InitializeForAttach
        | LoadAsNotificationOnly
        | ProfilerAttachComplete
        | ProfilerDetachSucceeded => Some("part of a profiler's life, not an event"),
        RemotingClientInvocationStarted
        | RemotingClientSendingMessage
        | RemotingClientReceivingReply
        | RemotingClientInvocationFinished
        | RemotingServerReceivingMessage
        | RemotingServerInvocationStarted
        | RemotingServerInvocationReturned
        | RemotingServerSendingReply
        | GetAssemblyReferences => Some(".NET Framework only"),
        COMClassicVTableCreated | COMClassicVTableDestroyed => Some("Windows only"),
        FunctionUnloadStarted
        | JITFunctionPitched
        | ExceptionOSHandlerEnter
        | ExceptionOSHandlerLeave
        | ExceptionCLRCatcherFound
        | ExceptionCLRCatcherExecute => Some("never seen on these runtimes"),
        RuntimeSuspendAborted => Some("only when the runtime gives up"),
        ReJITCompilationStarted | GetReJITParameters | ReJITCompilationFinished | ReJITError => {
            Some("only on request")
        }
        EventPipeEventDelivered => Some("only in a session of the profiler's own"),
        AppDomainShutdownStarted | AppDomainShutdownFinished => {
            Some("there is one application domain, for ever")
        }
        AssemblyUnloadStarted if runtime.major < 5 => Some("this runtime only tells the end"),
        EventPipeProviderCreated if runtime.major < 5 => Some("newer than this runtime"),
        _ => None,
    }
}

/// The events that a mask enables: detailed garbage collection includes its begin and end.
fn effective(mask: EventMask) -> EventMask {
    if mask.contains(EventMask::MONITOR_GC) {
        mask | EventMask::HIGH_BASIC_GC
    } else {
        mask
    }
}

fn counts(finished: &Finished) -> BTreeMap<&str, u64> {
    let pairs = finished.log.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter_map(|(name, count)| Some((name, count.parse().ok()?)))
        .collect()
}

/// Callbacks after the program has unloaded a module, of an event that .NET 8 removes then.
fn is_lost(mask: EventMask, callback: Callback, runtime: &Runtime) -> bool {
    use Callback::*;
    let comes_late = matches!(
        callback,
        MovedReferences | MovedReferences2 | ConditionalWeakTableElementReferences
    );
    runtime.major == 8 && mask.contains(EventMask::MONITOR_GC) && comes_late
}

#[test]
fn callbacks_come_with_their_events_and_not_without() {
    let masks: BTreeSet<u64> = Callback::ALL.iter().map(|c| c.events().bits()).collect();
    let wrong = Mutex::new(Vec::new());
    for mask in masks.into_iter().map(EventMask::from_bits_retain) {
        let chosen = Scenario::new("Events")
            .profiler("CountsChosen")
            .env("SCENARIO_EVENTS", &format!("{:x}", mask.bits()));
        chosen.on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.stdout, "done False 2 208\n", "{mask:?}");
            let counts = counts(profiled);
            assert_eq!(counts.get("shutdown"), Some(&1), "{}", profiled.log);
            for callback in Callback::ALL {
                // Unreachable callbacks must not occur either: then their reason would be wrong.
                let expected = effective(mask).contains(callback.events())
                    && !is_lost(mask, *callback, runtime)
                    && out_of_reach(*callback, runtime).is_none();
                let came = counts.contains_key(callback.name());
                if came != expected && *callback != Callback::Shutdown {
                    let row = (&runtime.name, mask, callback.name(), came);
                    wrong.lock().unwrap().push(format!("{row:?}"));
                }
            }
        });
    }
    assert_eq!(wrong.into_inner().unwrap(), [""; 0]);
}

#[test]
fn flags_are_refused_as_the_runtime_would() {
    let scenario = Scenario::new("Basics").profiler("FlagRules");
    // With concurrent collection MONITOR_GC has a rule of its own, which only the runtime can check.
    let scenario = scenario.env("COMPlus_gcConcurrent", "0");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let lines: Vec<&str> = profiled.log.lines().collect();
        let [at_start, later] = lines[..] else {
            panic!("{}", profiled.log);
        };
        assert_eq!(at_start, "at the start refused: ");
        // Some are refused, so the comparison was not empty.
        assert!(
            later.starts_with("later refused: MONITOR_REMOTING "),
            "{later}"
        );
        assert!(
            later.ends_with(" HIGH_DISABLE_TIERED_COMPILATION"),
            "{later}"
        );
    });
}

#[test]
fn callbacks_of_every_kind_arrive() {
    let scenario = Scenario::new("Basics").profiler("Counts");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        for callback in [
            "app_domain_creation_finished",
            "assembly_load_finished",
            "class_load_finished",
            "module_load_finished",
            "module_attached_to_assembly",
            "jit_compilation_started",
            "jit_compilation_finished",
            "jit_inlining",
            "thread_created",
            "thread_name_changed",
            "thread_assigned_to_os_thread",
            "unmanaged_to_managed_transition",
            "runtime_suspend_started",
            "object_allocated",
            "garbage_collection_started",
            "root_references2",
            "surviving_references2",
            "exception_thrown",
            "exception_search_filter_enter",
            "exception_catcher_enter",
            "exception_unwind_finally_enter",
            "dynamic_method_jit_compilation_started",
            "handle_created",
            "shutdown",
        ] {
            let arrived = profiled.log.lines().any(|line| {
                line.split_once(' ')
                    .is_some_and(|(name, count)| name == callback && count != "0")
            });
            assert!(arrived, "{callback} not in {}", profiled.log);
        }
    });
}
