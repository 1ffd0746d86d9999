//! The budget of tracing: methods without spans, and the notes about them.

use std::fs;

use clr_profiler_tests::{Finished, Folder, Runtime, profilee, runtimes};
use serde_json::Value;

use super::trace::{EXAMPLE, Trace};

const STEP: &str = "Traced.Often.Step(int)";
const ROUND: &str = "Traced.Often.Round()";

/// The calls of both methods.
const ROUNDS: u64 = 500;
const STEPS: u64 = 20_000 * ROUNDS;

/// Runs the program with this number of rounds.
fn often(runtime: &Runtime, options: &[&str], rounds: u64) -> Trace {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let output = ["--output", file.to_str().unwrap()];
    let options = [options, &output].concat();
    let words = ["often", &rounds.to_string()];
    let command = EXAMPLE.command(runtime, &options, &profilee("Traced"), &words);
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    Trace::parse(&fs::read_to_string(&file).unwrap())
}

fn row<'a>(trace: &'a Trace, name: &str) -> &'a Value {
    let rows = trace.other["methods"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()
}

#[test]
fn methods_that_are_called_too_often_are_counted() {
    for runtime in runtimes() {
        let trace = often(runtime, &[], ROUNDS);
        let (step, round) = (row(&trace, STEP), row(&trace, ROUND));
        let plain = step["without_span"].as_u64().unwrap();
        println!("on {}: {plain} of {STEPS} calls have no span", runtime.name);
        assert!(trace.reason("counted", STEP).is_some(), "{}", trace.other);
        let counted = trace.other["counted"].as_array().unwrap();
        let times = counted.iter().filter(|note| note["name"] == STEP).count();
        assert_eq!(times, 1, "it loses its spans once");
        assert!(plain > STEPS / 4, "{plain}");
        // Each call is counted, unless even that was too dear.
        let is_given_up = trace.reason("counted_until", STEP).is_some();
        let counted = step["calls"].as_u64().unwrap();
        assert!(counted == STEPS || is_given_up && counted < STEPS, "{step}");
        assert_eq!(
            (&round["calls"], &round["without_span"]),
            (&ROUNDS.into(), &0.into())
        );
        let small = trace.other["small"]["names"].as_array().unwrap();
        assert!(
            small.contains(&"Traced.Often.Small(int)".into()),
            "{small:?}"
        );
    }
}

#[test]
fn methods_that_are_named_have_spans_within_no_budget() {
    for runtime in runtimes() {
        let methods = ["--methods", "Traced!Traced.Often.*"];
        let options = [&methods[..], &["--budget", "100", "--max-size", "1"]].concat();
        let trace = often(runtime, &options, ROUNDS / 20);
        assert_eq!(row(&trace, STEP)["calls"], STEPS / 20);
        assert_eq!(row(&trace, "Traced.Often.Small(int)")["calls"], STEPS / 20);
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
