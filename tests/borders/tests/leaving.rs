//! A profiler that leaves a program whose threads call it back, and the state that threads find when they
//! end long after that.

#![cfg(target_os = "linux")]

use std::fs;

use clr_profiler_tests::{Scenario, runtimes};

fn waits() -> Scenario {
    Scenario::new("Waits")
        .library("borders")
        .profiler("LeavesLocals")
}

/// How many lines of the log end like this.
fn count(log: &str, end: &str) -> usize {
    log.lines().filter(|line| line.ends_with(end)).count()
}

#[test]
fn a_profiler_is_dropped_when_no_callback_runs_and_threads_end_long_after_that() {
    for runtime in runtimes() {
        let mut program = waits().start(runtime);
        assert_eq!(program.line(), "ready");
        // Two threads throw without pause, and collect.
        assert_eq!(program.ask("busy"), "busy");
        program.until("dropped", |log| log.contains("dropped, "));
        let log = program.log();
        assert_eq!(count(&log, "detach Ok(())"), 1, "{}: {log}", runtime.name);
        assert_eq!(count(&log, "dropped, 0 callbacks under way"), 1, "{log}");
        assert_eq!(count(&log, "local after: 6 of 6 refused"), 0, "{log}");
        let made = count(&log, "local made") - log.matches("local before").count();
        assert!(made >= 3, "{log}");

        // The library stays loaded as long as the process.
        let maps = fs::read_to_string(format!("/proc/{}/maps", program.id())).unwrap();
        assert!(maps.contains("libborders.so"), "{maps}");

        // The two threads end now, and their locals with them.
        assert_eq!(program.ask("calm"), "calm");
        program.until("two locals", |log| {
            count(log, "local after: 6 of 6 refused") >= 2
        });
        assert_eq!(program.ask("work 3"), "worked 333");
        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(5), "{finished:?}");
        assert_eq!(finished.stderr, "");
        let log = &finished.log;
        assert!(!log.contains("a callback after the drop"), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}
