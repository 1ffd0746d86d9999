//! The way through all layers: class factory, callbacks, questions to the runtime, a changed
//! method.

use clr_profiler_tests::Scenario;

#[test]
fn a_replaced_body_is_what_the_program_runs() {
    let scenario = Scenario::new("Basics").profiler("ReplacesBody");
    scenario.compare(|plain, profiled| {
        assert!(plain.stdout.starts_with("answer 41\n"));
        assert_eq!(
            profiled.stdout,
            plain.stdout.replace("answer 41\n", "answer 42\n")
        );
        assert_eq!(profiled.status.code(), Some(7));
        assert!(profiled.logged("was [0e, 1f, 29, 2a]"), "{}", profiled.log);
        assert!(profiled.logged("is [0e, 1f, 2a, 2a]"), "{}", profiled.log);
        // A body that is shorter than its header says never reaches the runtime.
        assert!(
            profiled
                .log
                .contains("ICorProfilerInfo::SetILFunctionBody: "),
            "{}",
            profiled.log
        );
        assert!(!profiled.logged("a body that is cut short was accepted"));
    });
}

#[test]
fn names_are_those_of_the_source() {
    let scenario = Scenario::new("Basics").profiler("ReplacesBody");
    scenario.on_each_runtime(|runtime, profiled| {
        // Code that several instantiations share does not know for which one it is compiled;
        // before .NET 10 not even that its arguments are classes.
        let (t, u) = if runtime.major < 10 {
            ("T", "U")
        } else {
            ("int", "System.__Canon")
        };
        let shared = if runtime.major < 10 {
            "T"
        } else {
            "System.__Canon"
        };
        let names = [
            "Basics.Program.Main(string[])".to_owned(),
            "Basics.Program.Catch(int)".to_owned(),
            "Basics.Program+<Numbers>d__7.MoveNext()".to_owned(),
            "Basics.Box<int>.Convert<int>(System.Func<int, int>)".to_owned(),
            "Basics.Box<int>.Convert<System.__Canon>(System.Func<int, System.__Canon>)".to_owned(),
            format!("Basics.Box<{shared}>.Convert<int>(System.Func<{shared}, int>)"),
            format!("Basics.Outer<{t}>+Inner<{u}>.Join({t}, {u}, double[])"),
            format!("Basics.Outer<{t}>+Inner<{u}>.Count(double[], int&)"),
        ];
        for name in names {
            assert!(
                profiled.logged(&format!("compiling {name}")),
                "{name} not in {}",
                profiled.log
            );
        }
    });
}

#[test]
fn events_follow_from_callbacks_and_setup() {
    let scenario = Scenario::new("Basics").profiler("WritesFacts");
    scenario.on_each_runtime(|runtime, profiled| {
        // .NET Core 3.1 calls itself 4, and has ICorProfilerInfo11; 8 has 14 and 10 has 15.
        let (major, info) = match runtime.major {
            3 => (4, 11),
            8 => (8, 14),
            10 => (10, 15),
            newer => (newer, 15),
        };
        let first = profiled.log.lines().next().unwrap_or_default();
        assert!(
            first.starts_with(&format!("runtime {major}.")),
            "{}",
            profiled.log
        );
        assert!(
            first.ends_with(&format!(" Core, ICorProfilerInfo{info}")),
            "{}",
            profiled.log
        );
        assert!(
            profiled.logged("events EventMask(MONITOR_THREADS | HIGH_BASIC_GC)"),
            "{}",
            profiled.log
        );
        assert!(
            profiled.logged("collection Some(2) Induced"),
            "{}",
            profiled.log
        );
        assert!(!profiled.logged("an event that was removed"));
        assert!(
            profiled.logged(&format!("shutdown, version {major}")),
            "{}",
            profiled.log
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

#[test]
fn what_is_there_can_be_enumerated() {
    let scenario = Scenario::new("Basics").profiler("Enumerates");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        for line in [
            "module of Basics, in this process true",
            "module of System.Private.CoreLib, in this process true",
            "worker 1 runs already false, this thread does true",
            "function Basics.Program.Main(string[])",
            "function Basics.Program.Catch(int)",
            "some function true",
        ] {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
    });
}

#[test]
fn native_code_is_known_by_its_function_and_the_other_way_round() {
    let scenario = Scenario::new("Basics").profiler("NativeCode");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        for line in [
            "class true",
            "same true true",
            "code true true",
            "owner true",
            "mapping true true",
            "thread true",
            "collected Ok(Ok(()))",
        ] {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
        // Not from a callback, and the error says so; from a thread of its own, and it happened.
        let refused = "ICorProfilerInfo::ForceGC failed with CORPROF_E_UNSUPPORTED_CALL_SEQUENCE";
        assert!(profiled.log.contains(refused), "{}", profiled.log);
        let collections = profiled
            .log
            .lines()
            .filter(|line| *line == "collection Induced");
        assert_eq!(collections.count(), 3, "{}", profiled.log);
        assert!(!profiled.log.contains(" false"), "{}", profiled.log);
    });
}
