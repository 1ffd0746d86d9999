//! The programs that are stepped.

use std::env;

use clr_profiler_tests::{Finished, Scenario, matrix, profilee, runtimes};
use examples_support::{Pinned, runtime};

use super::SingleSteps;

/// The number in the line of the log with this name.
fn logged(log: &str, name: &str) -> u64 {
    let mut lines = log.lines();
    let count = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    count.map_or(0, |count| count.parse().unwrap())
}

/// At least so many methods were stepped, and no stack differs.
fn is_right(finished: &Finished, methods: u64, what: &str) {
    let log = &finished.log;
    println!("{what}: {:?} {log}", finished.status);
    assert!(!log.contains("failure"), "{what} {log}");
    assert!(logged(log, "methods") >= methods, "{what} {log}");
    assert_eq!(logged(log, "different"), 0, "{what} {log}");
}

/// A program of all kinds of work. `STEP_SECONDS` is the time for it, and `STEP_SEED` chooses other instructions.
#[test]
#[ignore = "takes a minute"]
fn stacks_at_each_instruction_are_those_of_the_runtime() {
    let seconds = env::var("STEP_SECONDS").unwrap_or_else(|_| "15".to_owned());
    for runtime in runtimes() {
        let finished = Scenario::new("Stress")
            .args(&[&seconds, "natively"])
            .profiled_by::<SingleSteps>()
            .run_on(runtime);
        is_right(&finished, 10, &runtime.name);
        assert_eq!(finished.status.code(), Some(11), "{finished:?}");
    }
}

/// A compiler of C#, with tiers and without.
#[test]
#[ignore = "takes minutes"]
fn stacks_of_a_compiler_at_each_instruction_are_those_of_the_runtime() {
    let compiler = runtime::fetch(&Pinned::ROSLYN)
        .unwrap()
        .with_file_name("");
    let mut program =
        Scenario::at(profilee("Compiler")).arg(&compiler.display().to_string());
    for name in [
        "Small", "Stress", "Rewrites", "Objects", "Members", "Hot", "Basics", "Boxes", "Calls",
        "Deep", "Dynamic", "Endures", "Exits", "Graph", "Handles", "Inlines", "Metadata",
        "NativeCalls", "Patched", "Patterns", "Probe", "Sampled", "Statics", "Traced", "Truths",
    ] {
        let source = profilee(name).with_extension("cs");
        program = program.arg(&source.display().to_string());
    }
    for runtime in matrix().iter().filter(|runtime| runtime.major == 8) {
        for tiers in ["1", "0"] {
            let stepped = program
                .clone()
                .env("DOTNET_TieredCompilation", tiers)
                .profiled_by::<SingleSteps>()
                .run_on(runtime);
            is_right(&stepped, 500, &format!("tiers {tiers}"));
        }
    }
}
