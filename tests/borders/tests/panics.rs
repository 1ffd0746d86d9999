//! Panics on threads that the runtime did not make.

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
