//! The other tools under a program that does everything as fast as it can, and collects all the time:
//! it has correct results, and so do they.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, STRESS, Sample, profilee, runtimes};

/// Each with a text that its results contain.
const TOOLS: [(Example, &str); 4] = [
    (Example("alloc_profiler"), "Stress.Node<"),
    (Example("call_counter"), "Stress.Program.Throw(int)"),
    (Example("exception_logger"), "Stress.Thrown"),
    (Example("gc_monitor"), "induced"),
];

#[test]
fn nothing_breaks_that_is_watched_while_it_does_everything() {
    let sample = Sample::one_of(2);
    let tools = TOOLS.into_iter().enumerate();
    for (_, (tool, holds)) in tools.filter(|(number, _)| sample.has(*number)) {
        for runtime in runtimes() {
            // .NET 9 and 10 lose exceptions that a profiler monitors: the effect took a moment to appear.
            let seconds = if runtime.major >= 9 { "3" } else { "1" };
            let folder = Folder::new();
            let file = folder.path("results");
            let options = ["--output", file.to_str().unwrap()];
            let command = tool.command(runtime, &options, &profilee("Stress"), &[seconds]);
            let finished = Finished::of(command);
            println!("{} on {}", tool.0, runtime.name);
            assert_eq!(finished.output(), STRESS);
            let results = fs::read_to_string(file).unwrap();
            assert!(results.contains(holds), "{results}");
        }
    }
}
