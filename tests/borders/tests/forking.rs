//! A program that forks: under a profiler its child behaves as without one.

#![cfg(target_os = "linux")]

use clr_profiler_tests::{Scenario, runtimes};

#[test]
fn the_child_of_a_fork_does_not_tell_of_its_end() {
    for runtime in runtimes() {
        for what in ["leave", "exit", "exec", "abort"] {
            println!("{what} on {}", runtime.name);
            let scenario = Scenario::new("Forks").arg(what).library("borders");
            let plain = scenario.run_plain(runtime);
            let profiled = scenario.profiler("Forked").run_on(runtime);
            assert_eq!(profiled.status.code(), Some(5), "{profiled:?}");
            assert_eq!(profiled.output(), plain.output());
            let log = &profiled.log;
            let process = log.split(' ').next().unwrap();
            assert!(log.lines().all(|line| line.starts_with(process)), "{log}");
            assert_eq!(log.matches("shutdown").count(), 1, "{log}");
        }
    }
}
