//! The budget of tracing: methods without spans, and the notes about them.

use std::fs;

use clr_profiler_tests::{Finished, Folder, Runtime, profilee, runtimes};
use serde_json::Value;

use super::trace::{EXAMPLE, Trace};

const STEP: &str = "Traced.Often.Step(int)";
const ROUND: &str = "Traced.Often.Round()";

/// The rounds of a program that still runs when its code is replaced, whose calls are fast then, and the calls in each.
const ROUNDS: u64 = 20_000;
const STEPS: u64 = 20_000;
/// The rounds of a program whose calls all have spans.
const FEW: u64 = 25;

/// Has the runtime compile each method once.
const WITHOUT_TIERS: [(&str, &str); 1] = [("COMPlus_TieredCompilation", "0")];

/// Runs the program with this number of rounds.
fn often(runtime: &Runtime, options: &[&str], rounds: u64, variables: &[(&str, &str)]) -> Trace {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let output = ["--output", file.to_str().unwrap()];
    let options = [options, &output].concat();
    let words = ["often", &rounds.to_string()];
    let mut command = EXAMPLE.command(runtime, &options, &profilee("Traced"), &words);
    command.envs(variables.iter().copied());
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    Trace::parse(&fs::read_to_string(&file).unwrap())
}

fn row<'a>(trace: &'a Trace, name: &str) -> &'a Value {
    let rows = trace.other["methods"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()
}

/// A method that is called too often loses its spans, and then its count: its last code has the original IL.
fn gets_its_code_back(runtime: &Runtime, options: &[&str], variables: &[(&str, &str)]) -> Trace {
    let trace = often(runtime, options, ROUNDS, variables);
    let step = row(&trace, STEP);
    println!("on {}: {step}", runtime.name);
    assert!(trace.reason("counted", STEP).is_some(), "{}", trace.other);
    let counted = trace.other["counted"].as_array().unwrap();
    let times = counted.iter().filter(|note| note["name"] == STEP).count();
    assert_eq!(times, 1, "it loses its spans once");
    let is_given_up = trace.reason("counted_until", STEP).is_some();
    let counted = step["calls"].as_u64().unwrap();
    assert!(is_given_up && counted < STEPS * ROUNDS / 2, "{step}");
    trace
}

#[test]
fn methods_that_are_called_too_often_get_their_code_back() {
    for runtime in runtimes() {
        let trace = gets_its_code_back(runtime, &[], &[]);
        let round = row(&trace, ROUND);
        assert_eq!(round["calls"], ROUNDS, "{round}");
        let small = trace.other["small"]["names"].as_array().unwrap();
        assert!(
            small.contains(&"Traced.Often.Small(int)".into()),
            "{small:?}"
        );
    }
}

#[test]
fn methods_that_are_compiled_once_get_their_code_back() {
    // Others may have to wait for their spans, for ever in this case.
    let options = ["--methods", "Traced!Traced.Often.Step"];
    for runtime in runtimes() {
        gets_its_code_back(runtime, &options, &WITHOUT_TIERS);
    }
}

#[test]
fn methods_that_are_named_have_spans_within_no_budget() {
    for runtime in runtimes() {
        let methods = ["--methods", "Traced!Traced.Often.*"];
        let options = [&methods[..], &["--budget", "100", "--max-size", "1"]].concat();
        let trace = often(runtime, &options, FEW, &[]);
        assert_eq!(row(&trace, STEP)["calls"], 20_000 * FEW);
        assert_eq!(
            row(&trace, "Traced.Often.Small(int)")["calls"],
            20_000 * FEW
        );
        for name in [STEP, "Traced.Often.Small(int)"] {
            assert_eq!(row(&trace, name)["without_span"], 0);
        }
    }
}

/// The tracer's own threads take more time than such a program, and removing its spans would save none of it.
#[test]
fn a_program_that_waits_keeps_its_spans() {
    const ANSWERS: u64 = 700;
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let options = [
            "--methods",
            "Seldom!Seldom.Answer",
            "--output",
            file.to_str().unwrap(),
        ];
        let words = [&*ANSWERS.to_string()];
        let finished =
            Finished::of(EXAMPLE.command(runtime, &options, &profilee("Seldom"), &words));
        assert_eq!(finished.output(), (Some(0), "2100\n", ""));
        let trace = Trace::parse(&fs::read_to_string(&file).unwrap());
        let row = row(&trace, "Seldom.Answer(int)");
        assert_eq!(
            (&row["calls"], &row["without_span"]),
            (&ANSWERS.into(), &0.into()),
            "{}",
            trace.other
        );
    }
}
