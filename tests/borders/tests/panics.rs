//! Panics where the runtime's own threads do not run callbacks.

use clr_profiler_tests::{Scenario, runtimes};

#[test]
fn a_panic_on_a_thread_of_the_library_is_told_and_the_program_shows_nothing_of_it() {
    let waits = Scenario::new("Waits").library("borders");
    for runtime in runtimes() {
        let mut program = waits.clone().profiler("PanicsOnAThread").start(runtime);
        assert_eq!(program.line(), "ready");
        assert_eq!(program.ask("busy"), "busy");
        let told = "a thread of the library panicked: a panic without a message (at ";
        program.until("the panic", |log| log.contains(told));
        assert_eq!(program.ask("calm"), "calm");
        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(5), "{finished:?}");
        assert_eq!(finished.stderr, "");
        assert_eq!(
            finished.log.matches("panicked: ").count(),
            1,
            "{}",
            finished.log
        );
    }
}

#[test]
fn each_part_of_a_profiler_may_panic_when_it_is_dropped() {
    let waits = Scenario::new("Waits").library("borders");
    let waits = waits.profiler("PanicsInDrops");
    for runtime in runtimes() {
        for parts in [
            &["one", "two", "the profiler", "the hook"][..],
            &["one", "two", "the hook"],
        ] {
            let scenario = match parts.len() {
                3 => waits.clone().env("SCENARIO_FAILS", "1"),
                _ => waits.clone(),
            };
            let mut program = scenario.start(runtime);
            assert_eq!(program.line(), "ready");
            assert_eq!(program.ask("work 1"), "worked 111");
            for part in parts {
                let line = format!("dropped {part}");
                program.until(&line, |log| log.lines().any(|it| it.ends_with(&line)));
            }
            assert_eq!(program.ask("work 2"), "worked 222");
            assert_eq!(program.ask("end"), "ending");
            let finished = program.finish();
            assert_eq!(finished.status.code(), Some(5), "{finished:?}");
            assert_eq!(finished.stderr, "");
        }
    }
}
