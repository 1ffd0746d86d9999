use clr_profiler_launcher::Error;
use clr_profiler_tests::{Scenario, has_line, name_of};

use super::{RejitsAtAttach, Suspends};

/// A runtime that twice finds a thread in a callback retries after ten minutes; here sooner (hex).
fn waits() -> Scenario {
    Scenario::new("Waits").env("COMPlus_ProfAPI_DetachMaxSleepMs", "12c")
}

fn assert_logged(log: &str, lines: &[&str]) {
    for line in lines {
        assert!(has_line(log, line), "{line}: {log}");
    }
}

#[test]
fn a_detach_waits_until_the_runtime_is_resumed() {
    waits().waiting_on_each_runtime(|_, mut program| {
        program.attach(name_of::<Suspends>(), b"held").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let log = program.works_and_ends_well();
        assert_logged(
            &log,
            &[
                "detach Ok(())",
                "refused Some(\"CORPROF_E_PROFILER_DETACHING\")",
            ],
        );
        let own = log.lines().find(|line| line.starts_with("held, "));
        let reason = "this thread has suspended the runtime";
        assert!(own.is_some_and(|line| line.contains(reason)), "{log}");
    });
}

#[test]
fn no_safe_code_leaves_the_runtime_suspended() {
    waits().waiting_on_each_runtime(|_, mut program| {
        program.attach(name_of::<Suspends>(), b"forgotten").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let lines = [
            "forgotten Ok(())",
            "panicked true",
            "again Ok(())",
            "detach Ok(())",
        ];
        assert_logged(&program.works_and_ends_well(), &lines);
    });
}

#[test]
fn threads_that_suspend_at_once_leave_the_runtime_running() {
    waits().waiting_on_each_runtime(|_, mut program| {
        program.attach(name_of::<Suspends>(), b"raced").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let log = program.works_and_ends_well();
        assert_logged(&log, &["detach Ok(())"]);
        let met = log.lines().filter(|line| *line == "raced true true").count();
        assert_eq!(met, 2, "{log}");
    });
}

#[test]
fn a_profiler_that_fails_to_start_resumes_the_runtime() {
    waits().waiting_on_each_runtime(|_, mut program| {
        let answer = program.attach(name_of::<Suspends>(), b"fail");
        assert!(matches!(answer, Err(Error::AttachRefused { .. })));
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("held Ok(())");
        program.works_and_ends_well();
    });
}

#[test]
fn a_sampler_waits_for_the_events_and_ends_with_a_detach() {
    waits().waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("busy"), "busy");
        for round in 1..=3 {
            program.attach(name_of::<Suspends>(), b"sampler").unwrap();
            let dropped = |log: &str| log.lines().filter(|line| *line == "dropped").count();
            program.until("the profiler is dropped", |log| dropped(log) == round);
        }
        assert_eq!(program.ask("calm"), "calm");
        let log = program.works_and_ends_well();
        for line in ["detach Ok(())", "stopped Some(Ok(()))"] {
            let count = log.lines().filter(|logged| *logged == line).count();
            assert_eq!(count, 3, "{line}: {log}");
        }
    });
}

#[test]
fn a_sampler_ends_in_its_own_closure() {
    waits().waiting_on_each_runtime(|_, mut program| {
        program.attach(name_of::<Suspends>(), b"delivered").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        assert_logged(
            &program.works_and_ends_well(),
            &["stopped Ok(())", "detach Ok(())"],
        );
    });
}

#[test]
fn a_callback_that_may_not_wait_waits_for_no_suspension() {
    waits().waiting_on_each_runtime(|_, mut program| {
        program.attach(name_of::<Suspends>(), b"thrown").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let log = program.works_and_ends_well();
        assert_logged(&log, &["not waited true"]);
        // The other thread has begun to suspend the runtime, unless the machine is busy.
        let refused = "in the callback Some(\"CORPROF_E_SUSPENSION_IN_PROGRESS\")";
        let line = if has_line(&log, refused) {
            "detach Ok(())"
        } else {
            "in the callback None"
        };
        assert_logged(&log, &[line]);
    });
}

#[test]
fn rejit_begins_when_the_runtime_has_the_events() {
    waits().waiting_on_each_runtime(|_, mut program| {
        // The thread of a profiler that fails ends with it.
        let answer = program.attach(name_of::<RejitsAtAttach>(), b"fail");
        assert!(matches!(answer, Err(Error::AttachRefused { .. })));
        program.attach(name_of::<RejitsAtAttach>(), b"").unwrap();
        program.until_logged("told true");
        let log = program.log();
        assert_eq!(program.ask("work 1"), "worked 112", "{log}");
        let log = program.works_and_ends_well();
        assert!(log.contains("Compiled"), "{log}");
    });
}
