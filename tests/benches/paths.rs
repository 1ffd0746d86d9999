//! The cost of a member that a rule reads: nanoseconds of an access that `method_tracer` has compiled into a method, and of one that C#
//! has.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench paths            # 101 rounds
//! cargo bench -p clr_profiler_tests --bench paths -- 301
//! ```
//!
//! A call that reads 101 members is compared with one that reads 1, so that the span and the passing of the value are in both. One
//! process times all of them in turn in each round; the figures are medians. Code has its last tier before.

use std::error::Error;
use std::fs;
use std::process::ExitCode;

use clr_profiler_tests::{Example, Folder, Runtime, matrix, profilee};
use clr_profiler_tools::conventions::{RuleText, checked};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The members between the shortest path and the others.
const MEMBERS: usize = 100;
/// In the order of the program: each with the shortest one of its kind.
const WAYS: [(&str, usize); 5] = [
    ("direct, 1 member", 0),
    ("direct, 101 members", 0),
    ("of a rule, 1 member", 2),
    ("of a rule, 101 members", 2),
    ("of a rule, 101 getters", 2),
];

fn main() -> ExitCode {
    let rounds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    for runtime in matrix() {
        if let Err(error) = run(runtime, rounds.unwrap_or(101)) {
            eprintln!("paths: error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn rule(method: &str, step: &str, members: usize) -> RuleText {
    let path = format!("node{}.Number", step.repeat(members));
    RuleText {
        origin: method.to_owned(),
        methods: format!("PathCosts!PathCosts.Traced.{method}"),
        attributes: vec![("number".to_owned(), None, path)],
        ..RuleText::default()
    }
}

fn run(runtime: &Runtime, rounds: u32) -> Result<()> {
    let folder = Folder::new();
    let [trace, rules] = ["trace.json", "rules.json"].map(|name| folder.path(name));
    let all = [
        rule("Short", "", 0),
        rule("Fields", ".Next", MEMBERS),
        rule("Getters", ".Next()", MEMBERS),
    ];
    fs::write(&rules, checked::write(&all))?;
    let trace = trace.to_str().ok_or("the path of the trace")?;
    let options = ["--output", trace, "--budget", "100"];
    let words = [&*rounds.to_string()];
    let mut command =
        Example("method_tracer").command(runtime, &options, &profilee("PathCosts"), &words);
    command.env("METHOD_TRACER_RULES", &rules);
    command.env("METHOD_TRACER_CONVENTIONS", "none");
    let output = command.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !stderr.is_empty() {
        return Err(format!("{}: {}: {stderr}", runtime.name, output.status).into());
    }
    // The values were read.
    let written = fs::read_to_string(trace)?;
    for method in ["Short", "Fields", "Getters"] {
        let is_read = written
            .lines()
            .any(|line| line.contains(&format!("Traced.{method}")) && line.contains("\"number\""));
        if !is_read {
            return Err(format!("{}: no value of {method}", runtime.name).into());
        }
    }
    let mut figures = vec![Vec::new(); WAYS.len()];
    for line in String::from_utf8(output.stdout)?.lines() {
        for (all, word) in figures.iter_mut().zip(line.split_whitespace()) {
            all.push(word.parse::<f64>()?);
        }
    }
    let medians: Vec<f64> = figures
        .iter_mut()
        .map(|figures| {
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
        })
        .collect();
    println!("{}, {rounds} rounds of 500 calls", runtime.name);
    println!("{:26}{:>12}{:>16}", "", "call", "each member");
    for ((name, shortest), median) in WAYS.iter().zip(&medians) {
        let each = (median - medians[*shortest]) / MEMBERS as f64;
        println!("{name:26}{median:>9.1} ns{each:>13.2} ns");
    }
    Ok(())
}
