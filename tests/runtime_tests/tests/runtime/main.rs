//! The tests that the runtime has of its profiling interface, done again: a row and a test for each case.
//!
//! [`cases`] has the rows. Each is a test, which runs on the runtimes that its row names, and a line of
//! docs/runtime-tests.md: so that the table cannot name a runtime on which the test does not run.

#![cfg(target_os = "linux")]

mod assertions;
mod calls;
mod cases;
mod heap;
mod life;
mod server;
mod table;

use std::env;

use cases::{Case, On};
use clr_profiler_tests::runtimes_where;

/// Runs a case on the runtimes of this test that its row names, and with `SCENARIO_RUNTIMES=all` on all of them.
fn run(case: &Case) {
    let mut ran = Vec::new();
    for runtime in runtimes_where(|runtime| !matches!(case.on(runtime.major), On::Cannot(_))) {
        println!("on {}", runtime.name);
        (case.run)(runtime, case.on(runtime.major));
        ran.push(runtime.major);
    }
    if env::var("SCENARIO_RUNTIMES").is_ok_and(|named| named == "all") {
        for (major, on) in cases::MAJORS.iter().zip(case.on) {
            let can = !matches!(on, On::Cannot(_));
            assert_eq!(
                ran.contains(major),
                can,
                "docs/runtime-tests.md says otherwise about {} on {major}",
                case.name
            );
        }
    }
}
