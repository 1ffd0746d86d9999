//! However the program ends, the trace is whole.

use super::trace::{EXAMPLE, Trace, WITHOUT_BUDGET};
use crate::watching::endings::endings;

#[test]
fn however_the_program_ends_its_trace_is_there() {
    endings(
        EXAMPLE,
        &WITHOUT_BUDGET,
        "fail",
        |runtime, ending, results| {
            let trace = Trace::parse(results);
            if !ending.is_seen(runtime) {
                return;
            }
            let often = trace.of("Watched.Failures.Often()");
            assert!(often.iter().all(|span| !span.is_unfinished), "{often:?}");
            let run = trace.of("Watched.Failures.Run()");
            assert!(run.len() == 1 && !run[0].is_unfinished, "{run:?}");
            assert_eq!(trace.of("Watched.Program.Main(string[])").len(), 1);
            let rows = trace.other["methods"].as_array().unwrap();
            assert!(
                rows.iter()
                    .any(|row| row["name"] == "Watched.Failures.Run()" && row["calls"] == 1)
            );
        },
    );
}
