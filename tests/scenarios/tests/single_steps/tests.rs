//! The programs that are stepped.

use std::collections::HashSet;
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

/// No stack differs; adds the methods that were stepped, and gives the number of stacks.
fn is_right(finished: &Finished, methods: &mut HashSet<String>, what: &str) -> u64 {
    let is_method = |line: &&str| line.starts_with("method ");
    let (stepped, log): (Vec<_>, Vec<_>) = finished.log.lines().partition(is_method);
    let log = log.join("\n");
    println!("{what}: {:?} {log}", finished.status);
    assert!(!log.contains("failure"), "{what} {log}");
    assert!(!stepped.is_empty(), "{what} {log}");
    assert_eq!(logged(&log, "different"), 0, "{what} {log}");
    methods.extend(stepped.into_iter().map(str::to_owned));
    logged(&log, "compared")
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
        let mut methods = HashSet::new();
        is_right(&finished, &mut methods, &runtime.name);
        assert!(methods.len() >= 10, "{}: {}", runtime.name, methods.len());
        assert_eq!(finished.status.code(), Some(11), "{finished:?}");
    }
}

/// A compiler of C#, whose methods are optimised when they are called often.
#[test]
#[ignore = "takes minutes"]
fn stacks_of_a_compiler_with_tiers_are_those_of_the_runtime() {
    steps_of_a_compiler("1", 1000);
}

/// The same, whose methods are all optimised at once: small ones are inlined, so that fewer are met.
#[test]
#[ignore = "takes minutes"]
fn stacks_of_a_compiler_without_tiers_are_those_of_the_runtime() {
    steps_of_a_compiler("0", 500);
}

/// So many methods, in as many runs as that takes.
fn steps_of_a_compiler(tiers: &str, enough: usize) {
    const RUNS: u32 = 12;
    let compiler = runtime::fetch(&Pinned::ROSLYN)
        .unwrap()
        .with_file_name("");
    let mut program = Scenario::at(profilee("Compiler"))
        .arg(&compiler.display().to_string())
        .env("DOTNET_TieredCompilation", tiers)
        .env("STEP_PAUSE", "100");
    for name in [
        "Small", "Stress", "Rewrites", "Objects", "Members", "Hot", "Basics", "Boxes", "Calls",
        "Deep", "Dynamic", "Endures", "Exits", "Graph", "Handles", "Inlines", "Metadata",
        "NativeCalls", "Patched", "Patterns", "Probe", "Sampled", "Statics", "Traced", "Truths",
    ] {
        let source = profilee(name).with_extension("cs");
        program = program.arg(&source.display().to_string());
    }
    for runtime in matrix().iter().filter(|runtime| runtime.major == 8) {
        let (mut methods, mut stacks, mut runs) = (HashSet::new(), 0, 0);
        while methods.len() < enough && runs < RUNS {
            let stepped = program
                .clone()
                .env("STEP_SEED", &runs.to_string())
                .profiled_by::<SingleSteps>()
                .run_on(runtime);
            stacks += is_right(&stepped, &mut methods, &format!("tiers {tiers}"));
            runs += 1;
        }
        println!("tiers {tiers}: {stacks} stacks of {} methods in {runs} runs", methods.len());
        assert!(methods.len() >= enough, "{}", methods.len());
    }
}
