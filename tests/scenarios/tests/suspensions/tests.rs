use clr_profiler_launcher::{Attach, Error};
use clr_profiler_tests::{Runtime, Scenario, Started, name_of, runtimes};

use super::{RejitsAtAttach, Suspends};

/// A runtime that twice finds a thread in a callback looks again after ten minutes; here sooner (hex).
fn waits() -> Scenario {
    Scenario::new("Waits").env("COMPlus_ProfAPI_DetachMaxSleepMs", "12c")
}

/// Starts the program on each runtime, up to its first line.
fn on_each_runtime(test: impl Fn(&Runtime, Started)) {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = waits().start(runtime);
        assert_eq!(program.line(), "ready");
        test(runtime, program);
    }
}

fn attach(program: &Started, profiler: &str, task: &str) -> Result<(), Error> {
    Attach::new(program.id())
        .profiler(waits().profiler_library(profiler))
        .client_data(task)
        .send()
}

/// The program does what it does without a profiler; gives the log.
fn ends_well(mut program: Started) -> String {
    assert_eq!(program.ask("work 7"), "worked 777");
    assert_eq!(program.ask("end"), "ending");
    let finished = program.finish();
    assert_eq!(finished.status.code(), Some(5), "{}", finished.log);
    assert_eq!(finished.stderr, "", "{}", finished.log);
    finished.log
}

fn has(log: &str, line: &str) -> bool {
    log.lines().any(|logged| logged == line)
}

fn assert_logged(log: &str, lines: &[&str]) {
    for line in lines {
        assert!(has(log, line), "{line}: {log}");
    }
}

#[test]
fn a_detach_waits_until_the_runtime_is_resumed() {
    on_each_runtime(|_, mut program| {
        attach(&program, name_of::<Suspends>(), "held").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let log = ends_well(program);
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
    on_each_runtime(|_, mut program| {
        attach(&program, name_of::<Suspends>(), "forgotten").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let lines = [
            "forgotten Ok(())",
            "panicked true",
            "again Ok(())",
            "detach Ok(())",
        ];
        assert_logged(&ends_well(program), &lines);
    });
}

#[test]
fn a_profiler_that_fails_to_start_resumes_the_runtime() {
    on_each_runtime(|_, mut program| {
        let answer = attach(&program, name_of::<Suspends>(), "fail");
        assert!(matches!(answer, Err(Error::AttachRefused { .. })));
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("held Ok(())");
        ends_well(program);
    });
}

#[test]
fn a_sampler_waits_for_the_events_and_ends_with_a_detach() {
    on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("busy"), "busy");
        for round in 1..=3 {
            attach(&program, name_of::<Suspends>(), "sampler").unwrap();
            let dropped = |log: &str| log.lines().filter(|line| *line == "dropped").count();
            program.until("the profiler is dropped", |log| dropped(log) == round);
        }
        assert_eq!(program.ask("calm"), "calm");
        let log = ends_well(program);
        for line in ["detach Ok(())", "stopped Some(Ok(()))"] {
            let count = log.lines().filter(|logged| *logged == line).count();
            assert_eq!(count, 3, "{line}: {log}");
        }
    });
}

#[test]
fn a_sampler_ends_in_its_own_closure() {
    on_each_runtime(|_, mut program| {
        attach(&program, name_of::<Suspends>(), "delivered").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        assert_logged(&ends_well(program), &["stopped Ok(())", "detach Ok(())"]);
    });
}

#[test]
fn a_callback_that_may_not_wait_waits_for_no_suspension() {
    on_each_runtime(|_, mut program| {
        attach(&program, name_of::<Suspends>(), "thrown").unwrap();
        assert_eq!(program.ask("work 1"), "worked 111");
        program.until_logged("dropped");
        let log = ends_well(program);
        assert_logged(&log, &["not waited true"]);
        // The other thread has begun to suspend the runtime, unless the machine is busy.
        let refused = "in the callback Some(\"CORPROF_E_SUSPENSION_IN_PROGRESS\")";
        let line = if has(&log, refused) {
            "detach Ok(())"
        } else {
            "in the callback None"
        };
        assert_logged(&log, &[line]);
    });
}

#[test]
fn rejit_begins_when_the_runtime_has_the_events() {
    on_each_runtime(|_, mut program| {
        // The thread of a profiler that fails ends with it.
        let answer = attach(&program, name_of::<RejitsAtAttach>(), "fail");
        assert!(matches!(answer, Err(Error::AttachRefused { .. })));
        attach(&program, name_of::<RejitsAtAttach>(), "").unwrap();
        program.until_logged("told true");
        let log = program.log();
        assert_eq!(program.ask("work 1"), "worked 112", "{log}");
        let log = ends_well(program);
        assert!(log.contains("Compiled"), "{log}");
    });
}
