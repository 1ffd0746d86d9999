//! `call_counter`: each call once, however it ends.

use std::collections::HashMap;
use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

use super::endings::endings;

const EXAMPLE: Example = Example("call_counter");

/// The calls of `Watched count`; `.ci/full` sets them higher.
fn number() -> u64 {
    match std::env::var("HOOKED_COUNTS") {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => 1_000_000,
    }
}

/// Runs a work of `Watched`; returns the file of this name.
fn results(
    runtime: &Runtime,
    (work, number): (&str, u64),
    options: &[&str],
    variables: &[(&str, &str)],
    name: &str,
) -> String {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let words = [work, "return", &number.to_string()];
    let mut command = EXAMPLE.command(runtime, &all, &profilee("Watched"), &words);
    command.envs(variables.iter().copied());
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    assert_eq!((&*finished.stdout, &*finished.stderr), ("worked\n", ""));
    fs::read_to_string(file).unwrap()
}

/// Calls, own and total milliseconds by method.
fn rows(table: &str) -> HashMap<&str, (u64, f64, f64)> {
    let lines = table.lines().skip(1);
    let rows = lines.filter_map(|line| {
        let (numbers, name) = line.split_at_checked(42)?;
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let [calls, own, total] = numbers[..] else {
            return None;
        };
        let row = (calls.parse().ok()?, own.parse().ok()?, total.parse().ok()?);
        Some((name.trim_start(), row))
    });
    rows.collect()
}

/// The calls of `Watched count`.
fn expected(number: u64) -> Vec<(&'static str, u64)> {
    vec![
        ("Watched.Program.Main(string[])", 1),
        ("Watched.Counted.Run(int)", 1),
        ("Watched.Counted.Deep(int)", number / 100 * 100),
        ("Watched.Counted.Often(int)", 16),
        ("Watched.Counted.Step(int)", number / 16 * 16),
        ("Watched.Counted.Even(int)", 51),
        ("Watched.Counted.Odd(int)", 50),
        ("Watched.Counted.Catches(int)", 300),
        ("Watched.Counted.Passes(int)", 300),
        ("Watched.Counted.Throws(int, int)", 1200),
        ("Watched.Counted.Filters(int)", 100),
        ("Watched.Counted.Cleans(int)", 300),
        ("Tails.Jump(int)", 1000),
        ("Watched.Counted.Landed(int, int)", 1000),
        ("Watched.Counted.Sleeps(int)", 105),
    ]
}

#[test]
fn each_call_is_counted_once() {
    for runtime in runtimes() {
        let number = number();
        let table = results(runtime, ("count", number), &[], &[], "calls.txt");
        println!("on {}:\n{table}", runtime.name);
        let rows = rows(&table);
        for (method, calls) in expected(number) {
            assert_eq!(rows[method].0, calls, "{method}");
        }
        let last = table.lines().last().unwrap();
        assert!(last.contains(" on 17 threads, "), "{last}");
        let all: u64 = rows.values().map(|row| row.0).sum();
        assert!(last.starts_with(&format!("{all} calls of {} methods", rows.len())));
    }
}

#[test]
fn time_counts_once_in_recursion_and_for_those_who_wait() {
    for runtime in runtimes() {
        let table = results(runtime, ("count", 1600), &[], &[], "calls.txt");
        let rows = rows(&table);
        // Five times 20 ms, below 20 calls of itself each.
        let (_, own, total) = rows["Watched.Counted.Sleeps(int)"];
        assert!((100.0..400.0).contains(&own), "{table}");
        assert!((own - total).abs() < 0.01, "{table}");
        let (_, _, even) = rows["Watched.Counted.Even(int)"];
        let (_, _, odd) = rows["Watched.Counted.Odd(int)"];
        assert!(odd <= even && even < total, "{table}");
        // Calls of `Main` are not in other calls, and `Main` is all of its thread.
        let (_, _, main) = rows["Watched.Program.Main(string[])"];
        assert!(main >= total, "{table}");
        for (name, (_, own, total)) in rows {
            assert!(own <= total, "{name}: {table}");
            assert!(
                !name.starts_with("Watched.Counted") || total <= main,
                "{name}: {table}"
            );
        }
    }
}

#[test]
fn stacks_hold_all_calls() {
    for runtime in runtimes() {
        let folded = results(
            runtime,
            ("count", 1600),
            &["--no-times"],
            &[],
            "calls.folded",
        );
        let mut calls: HashMap<&str, u64> = HashMap::new();
        for line in folded.lines() {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            let leaf = stack.rsplit(';').next().unwrap();
            *calls.entry(leaf).or_default() += count.parse::<u64>().unwrap();
        }
        // An exception leaves its calls, and a tail call its caller: no call is below those.
        let run = "Watched.Program.Main(string[]);Watched.Counted.Run(int)";
        for line in [
            format!("{run};Watched.Counted.Catches(int) 300"),
            format!(
                "{run};Watched.Counted.Catches(int);Watched.Counted.Passes(int);\
                 Watched.Counted.Cleans(int) 300"
            ),
            format!("{run};Watched.Counted.Jumps(int);Watched.Counted.Landed(int, int) 1000"),
        ] {
            let is_there = folded.lines().any(|found| found.ends_with(&line));
            assert!(is_there, "on {}: {line}: {folded}", runtime.name);
        }
        for (method, count) in expected(1600) {
            assert_eq!(calls[method], count, "{method}");
        }
        let deep = folded
            .lines()
            .map(|line| line.matches(".Deep(int)").count());
        assert_eq!(deep.max(), Some(100));
    }
}

#[test]
fn patterns_choose_and_see_the_framework() {
    for runtime in runtimes() {
        let options = ["--methods", "**.*ep(int, **)", "--sort", "calls"];
        let table = results(runtime, ("count", 1600), &options, &[], "calls.txt");
        let rows = rows(&table);
        assert_eq!(rows["Watched.Counted.Step(int)"].0, 1600, "{table}");
        assert_eq!(rows["Watched.Counted.Deep(int)"].0, 1600, "{table}");
        // `Thread.Sleep(int)`
        assert!(
            rows.keys().any(|name| name.starts_with("System.")),
            "{table}"
        );
        assert!(!table.contains("Main("), "{table}");
        let calls: Vec<u64> = table
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect();
        let (_, rows) = calls.split_last().unwrap();
        assert!(rows.is_sorted_by(|a, b| a >= b), "{table}");
    }
}

#[test]
fn limits_hold_and_calls_stay_exact() {
    let limits = [
        ("CALL_COUNTER_LIMIT_STACKS", "500"),
        ("CALL_COUNTER_LIMIT_METHODS", "4"),
    ];
    for runtime in runtimes() {
        let table = results(runtime, ("many", 3000), &[], &limits[..1], "calls.txt");
        let all = rows(&table);
        let sum = all["Watched.Many.Left(uint, int)"].0 + all["Watched.Many.Right(uint, int)"].0;
        assert_eq!(sum, 3000 * 13, "{table}");
        assert!(
            table.contains(" calls the callers found no place"),
            "{table}"
        );
        let folded = results(runtime, ("many", 3000), &[], &limits[..1], "calls.folded");
        assert!(folded.lines().count() < 600, "{folded}");
        assert!(
            folded.contains("(other callers);Watched.Many.Left(uint, int)"),
            "{folded}"
        );

        let table = results(runtime, ("many", 30), &[], &limits, "calls.txt");
        let few = rows(&table);
        assert_eq!(few.len(), 5, "{table}");
        assert!(few["(others)"].0 > 0, "{table}");
    }
}

#[test]
fn each_form_has_the_methods() {
    let runtime = runtimes()[0];
    let svg = results(runtime, ("count", 1600), &[], &[], "calls.svg");
    assert!(svg.trim_end().ends_with("</svg>") && svg.contains("Watched.Counted.Sleeps(int) ("));
    let json = results(runtime, ("count", 1600), &[], &[], "calls.json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["profiles"][0]["unit"], "nanoseconds");
    let frames = json["shared"]["frames"].as_array().unwrap();
    assert!(
        frames
            .iter()
            .any(|frame| frame["name"] == "Tails.Jump(int)")
    );
}

#[test]
fn however_the_program_ends_the_table_is_whole() {
    endings(EXAMPLE, &[], "count", |runtime, ending, results| {
        if ending.is_seen(runtime) {
            let rows = rows(results);
            for (method, calls) in expected(1600) {
                assert_eq!(rows[method].0, calls, "{ending:?} {method}: {results}");
            }
        } else {
            // It may have ended before anything was written.
            assert!(
                results.is_empty() || results.contains(" threads, "),
                "{results}"
            );
        }
    });
}
