//! `cpu_sampler`: time is where it is spent.

use std::collections::HashMap;
use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

use crate::endings::endings;

const EXAMPLE: Example = Example("cpu_sampler");

/// Runs `Spins` on so many threads, for so many rounds; gives the file of this name.
fn results(
    runtime: &Runtime,
    (threads, rounds): (&str, &str),
    options: &[&str],
    name: &str,
) -> String {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let command = EXAMPLE.command(runtime, &all, &profilee("Spins"), &[threads, rounds]);
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    assert_eq!((&*finished.stdout, &*finished.stderr), ("spun\n", ""));
    fs::read_to_string(file).unwrap()
}

/// Weights by stack.
fn stacks(folded: &str) -> Vec<(Vec<&str>, u64)> {
    let lines = folded.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        (stack.split(';').collect(), weight.parse().unwrap())
    });
    lines.collect()
}

const SEVENTY: &str = "Spins.Program+Hot<int>.Seventy()";

#[test]
fn shares_are_those_of_the_program() {
    for runtime in runtimes() {
        // On a busy machine, more threads are looked at more rarely each.
        for (threads, rounds) in [("1", "640"), ("16", "1920")] {
            let folded = results(
                runtime,
                (threads, rounds),
                &["--interval", "500"],
                "cpu.folded",
            );
            let mut shares: HashMap<&str, u64> = HashMap::new();
            let mut deep = 0;
            for (stack, weight) in stacks(&folded) {
                let Some(spin) = stack.iter().position(|f| *f == "Spins.Program.Spin(int)") else {
                    continue;
                };
                let leaf = *stack.last().unwrap();
                *shares.entry(leaf).or_default() += weight;
                if leaf == "Spins.Program.Twenty()" {
                    let below = stack[spin + 1..stack.len() - 1].iter();
                    assert!(
                        below.clone().all(|f| *f == "Spins.Program.Deep(int)"),
                        "{stack:?}"
                    );
                    assert_eq!(below.count(), 31);
                    deep += weight;
                }
            }
            let all: u64 = shares.values().sum();
            let share = |name: &str| {
                shares
                    .get(name)
                    .map_or(0.0, |w| *w as f64 / all as f64 * 100.0)
            };
            println!("on {}, {threads} threads: {shares:?}", runtime.name);
            for (name, expected) in [
                (SEVENTY, 70.0),
                ("Spins.Program.Twenty()", 20.0),
                ("Spins.Program.Ten()", 10.0),
            ] {
                let share = share(name);
                assert!((share - expected).abs() < 3.0, "{name}: {share}");
            }
            assert!(deep > 0);
            let waits = |stack: &Vec<&str>| stack.contains(&"Spins.Program.Wait()");
            let waiting = stacks(&folded)
                .into_iter()
                .filter(|(stack, _)| waits(stack));
            let waiting: u64 = waiting.map(|(_, weight)| weight).sum();
            assert!(
                waiting * 50 < all,
                "it starts and waits: {waiting} of {all}"
            );
        }
    }
}

#[test]
fn by_the_clock_threads_that_wait_count_too() {
    for runtime in runtimes() {
        let folded = results(runtime, ("1", "640"), &["--wall"], "cpu.folded");
        let stacks = stacks(&folded);
        let weight = |name: &str| -> u64 {
            let with = stacks.iter().filter(|(stack, _)| stack.contains(&name));
            with.map(|(_, weight)| weight).sum()
        };
        let (spin, wait) = (
            weight("Spins.Program.Spin(int)"),
            weight("Spins.Program.Wait()"),
        );
        println!("on {}: {spin} {wait}", runtime.name);
        assert!(wait * 10 > spin * 9 && wait < spin * 2, "{spin} {wait}");
    }
}

#[test]
fn each_form_has_the_methods() {
    let runtime = &runtimes()[0];
    let svg = results(runtime, ("2", "320"), &[], "cpu.svg");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(
        svg.contains("Spins.Program+Hot&lt;int&gt;.Seventy() ("),
        "{svg}"
    );
    let table = results(runtime, ("2", "320"), &[], "cpu.txt");
    let first = table.lines().nth(1).unwrap();
    assert!(first.ends_with(SEVENTY), "{table}");
    assert!(
        table.lines().last().unwrap().contains(" samples; "),
        "{table}"
    );
    let json = results(runtime, ("2", "320"), &[], "cpu.json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let frames = json["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame["name"] == SEVENTY));
    let profile = &json["profiles"][0];
    let samples = profile["samples"].as_array().unwrap();
    assert_eq!(samples.len(), profile["weights"].as_array().unwrap().len());
    let numbers = samples.iter().flat_map(|sample| sample.as_array().unwrap());
    assert!(
        numbers
            .into_iter()
            .all(|n| (n.as_u64().unwrap() as usize) < frames.len())
    );
}

#[test]
fn however_the_program_ends_the_picture_is_whole() {
    endings(
        EXAMPLE,
        &["--interval", "200"],
        "collect",
        |runtime, ending, results| {
            if ending.is_seen(runtime) {
                assert!(
                    results.contains("Watched.Collections.Run()"),
                    "{ending:?} {results}"
                );
                assert!(results.contains(" samples; the program was stopped "));
            } else {
                // It may have ended before anything was written.
                assert!(
                    results.is_empty() || results.contains(" samples; "),
                    "{results}"
                );
            }
        },
    );
}
