//! Each call is seen: including those of methods that are otherwise inlined, and of precompiled ones.

use std::collections::BTreeMap;
use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, Sample, profilee, runtimes};

/// How methods are compiled: optimised when they are called often, in loops as well, or at once.
const SETTINGS: [&[(&str, &str)]; 2] = [
    &[("COMPlus_TC_CallCountingDelayMs", "0")],
    &[("COMPlus_TieredCompilation", "0")],
];

const ROUNDS: &str = "300";

/// How often each method of the program was called, by the program's own counts.
fn called(plain: &Finished) -> BTreeMap<&str, u64> {
    let lines = plain.stdout.lines().filter_map(|line| line.split_once(' '));
    lines
        .filter_map(|(count, name)| Some((name, count.parse().ok()?)))
        .collect()
}

/// The program's own counts, and the lines of an example about it.
fn run(
    example: Example,
    runtime: &Runtime,
    setting: &[(&str, &str)],
    options: &[&str],
    results: &str,
) -> (Finished, String) {
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend([results, file.to_str().unwrap()]);
    let trace = folder.path("other");
    if results != "--output" {
        all.extend(["--output", trace.to_str().unwrap()]);
    }
    let plain = Finished::of(example.plain(runtime, &profilee("Small"), &[ROUNDS]));
    let mut command = example.command(runtime, &all, &profilee("Small"), &[ROUNDS]);
    command.envs(setting.iter().copied());
    let finished = Finished::of(command);
    assert_eq!(finished.output(), plain.output(), "{}", runtime.name);
    (plain, fs::read_to_string(file).unwrap())
}

/// Counts the names that this function finds in lines.
fn count<'a>(
    results: &'a str,
    name: impl Fn(&'a str) -> Option<(&'a str, u64)>,
) -> BTreeMap<&'a str, u64> {
    let mut counts = BTreeMap::new();
    for (name, number) in results.lines().filter_map(name) {
        *counts.entry(name).or_default() += number;
    }
    counts
}

fn on_each(assert: impl Fn(&Runtime, &[(&str, &str)])) {
    for runtime in runtimes() {
        let sample = Sample::one_of(SETTINGS.len());
        let settings = SETTINGS.into_iter().enumerate();
        for (_, setting) in settings.filter(|(number, _)| sample.has(*number)) {
            println!("on {} {setting:?}", runtime.name);
            assert(runtime, setting);
        }
    }
}

/// The methods that were called, without those that are marked as exceptions.
fn expected(plain: &Finished) -> BTreeMap<&str, u64> {
    let called = called(plain);
    assert_eq!(called.len(), 17, "{}", plain.stdout);
    called
}

#[test]
fn method_logger_logs_each_call() {
    on_each(|runtime, setting| {
        let options = ["--methods", "Small.**"];
        let (plain, log) = run(
            Example("method_logger"),
            runtime,
            setting,
            &options,
            "--output",
        );
        let mut logged = count(&log, |line| {
            let call = line.trim_start().strip_prefix("> ")?;
            Some((call.split("  [").next()?, 1))
        });
        logged.retain(|name, _| !name.ends_with("Main(string[])") && !name.contains(".Say("));
        assert_eq!(logged, expected(&plain));
    });
}

#[test]
fn return_inspector_shows_each_result() {
    on_each(|runtime, setting| {
        let options = ["--methods", "Small.**"];
        let (plain, log) = run(
            Example("return_inspector"),
            runtime,
            setting,
            &options,
            "--output",
        );
        let mut inspected = count(&log, |line| Some((line.split_once(" = ")?.0, 1)));
        inspected.retain(|name, _| !name.ends_with("Main(string[])"));
        let mut expected = expected(&plain);
        // These return nothing.
        expected.retain(|name, _| !name.contains("..ctor(") && !name.contains(".set_"));
        assert_eq!(inspected, expected);
    });
}

#[test]
fn method_tracer_traces_each_call() {
    on_each(|runtime, setting| {
        // Each as a span, however often it is called.
        let options = ["--methods", "Small.**", "--budget", "100"];
        let (plain, summary) = run(
            Example("method_tracer"),
            runtime,
            setting,
            &options,
            "--summary",
        );
        let mut traced = count(&summary, |line| {
            let mut words = line.split_whitespace();
            let calls = words.next()?.parse().ok()?;
            let name = line.find("Small.")?;
            Some((&line[name..], calls))
        });
        traced.retain(|name, _| !name.ends_with("Main(string[])") && !name.contains(".Say("));
        assert_eq!(traced, expected(&plain));
    });
}

#[test]
fn call_counter_counts_each_call() {
    on_each(|runtime, setting| {
        let (plain, table) = run(
            Example("call_counter"),
            runtime,
            setting,
            &["--no-times"],
            "--output",
        );
        let mut counted = count(&table, |line| {
            let mut words = line.split_whitespace();
            let calls = words.next()?.parse().ok()?;
            let name = line.find("Small.")?;
            Some((&line[name..], calls))
        });
        counted.retain(|name, _| !name.ends_with("Main(string[])") && !name.contains(".Say("));
        let total: u64 = counted.values().sum();
        assert_eq!(total, expected(&plain).values().sum::<u64>(), "{table}");
    });
}
