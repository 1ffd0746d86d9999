//! The hits of tests, which are told apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use clr_profiler_tests::{Folder, runtimes};
use serde_json::Value;

use super::truth::cover;
use crate::command::{KILLED, clr_on, stderr, text};
use crate::compiled::compile;

const SOURCE: &str = include_str!("Contexts.cs");

/// The tests that run each line.
type Tests = BTreeMap<u64, BTreeSet<String>>;

/// Those that the source names, but for these.
fn marked(without: &[&str]) -> Tests {
    let lines = (1..).zip(SOURCE.lines());
    let marks = lines.filter_map(|(number, line)| Some((number, line.split_once("//: ")?.1)));
    let tests = marks.map(|(number, tests)| {
        let tests = tests.split(' ').map(str::to_owned);
        (
            number,
            tests.filter(|name| !without.contains(&&**name)).collect(),
        )
    });
    tests
        .filter(|(_, tests): &(u64, BTreeSet<String>)| !tests.is_empty())
        .collect()
}

/// Those of a report, but for lines with a brace alone.
fn measured(report: &str, source: &Path) -> Tests {
    let value: Value = serde_json::from_str(report).unwrap();
    let mut tests = Tests::new();
    for context in value["contexts"].as_array().unwrap() {
        let name = match context["name"].as_str().unwrap() {
            "" => "outside",
            name => name.strip_prefix("Shop.Tests.").unwrap(),
        };
        let name = name.strip_suffix("(int)").unwrap_or(name);
        for file in context["files"].as_array().unwrap() {
            // The program may be started by a hook with a PDB.
            if file["path"] != source.to_str().unwrap() {
                continue;
            }
            for line in file["lines"].as_array().unwrap() {
                let line = line.as_u64().unwrap();
                let code = SOURCE.lines().nth(line as usize - 1).unwrap().trim();
                // A release build has the statement alone.
                if !matches!(code, "{" | "}" | "try") && !code.starts_with("catch") {
                    tests.entry(line).or_default().insert(name.to_owned());
                }
            }
        }
    }
    tests
}

fn assert_same(expected: &Tests, found: &Tests, told: &str) {
    let mut text = String::new();
    for (number, line) in (1..).zip(SOURCE.lines()) {
        let (expected, found) = (expected.get(&number), found.get(&number));
        if expected != found {
            text += &format!("{number}: {line}\n    measured {found:?}\n");
        }
    }
    assert!(text.is_empty(), "{text}{told}");
}

#[test]
fn each_test_has_the_lines_that_it_runs() {
    for option in ["-optimize-", "-optimize+"] {
        let Some(program) = compile("Contexts", SOURCE, &[option]) else {
            return;
        };
        let source = program.path().with_extension("cs");
        for runtime in runtimes() {
            println!("{option} on {}", runtime.name);
            let folder = Folder::new();
            let json = folder.path("cover.json");
            // genhtml reads the source of each file that is named.
            let own = ["--per-test", "--methods", "Contexts!**"];
            let words = [&own[..], &["--also", json.to_str().unwrap()]].concat();
            let covered = cover(runtime, program.path(), &folder, &words, &["serial"]);
            let told = stderr(&covered);
            let report = text(&folder, "cover.json");
            assert_same(&marked(&["killed"]), &measured(&report, &source), &told);
            assert!(
                told.contains("the hits of 7 tests are told apart"),
                "{told}"
            );

            let lcov = text(&folder, "cover.lcov");
            let names = lcov.lines().filter_map(|line| line.strip_prefix("TN:"));
            let names: BTreeSet<&str> = names.collect();
            let tests = [
                "Small",
                "Many_int_",
                "Throws",
                "Waits",
                "AtOnce",
                "Faults",
                "Nested",
            ];
            let tests = tests.map(|name| format!("Shop_Tests_{name}"));
            let all = tests.iter().map(String::as_str).chain([""]);
            assert_eq!(names, all.collect());
            let mut genhtml = Command::new("genhtml");
            genhtml.args(["--show-details", "--branch-coverage", "-o"]);
            genhtml
                .arg(folder.path("genhtml"))
                .arg(folder.path("cover.lcov"));
            match genhtml.output() {
                Ok(output) => assert!(output.status.success(), "{}", stderr(&output)),
                Err(error) => println!("skipped: genhtml: {error}"),
            }
        }
    }
}

/// Runs the program with this argument on each runtime. `check` gets its source, its output, and the report.
fn per_test(argument: &str, check: impl Fn(&Path, &Output, &str)) {
    let Some(program) = compile("Contexts", SOURCE, &[]) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let json = folder.path("cover.json");
        let words = ["cover", "--per-test", "-o", json.to_str().unwrap()];
        let output = clr_on(runtime, &words, program.path(), &[argument]).output();
        let source = program.path().with_extension("cs");
        check(&source, &output.unwrap(), &text(&folder, "cover.json"));
    }
}

#[test]
fn parallel_tests_are_one_context_and_a_line_says_so() {
    // The order of its lines differs from run to run.
    per_test("parallel", |source, output, report| {
        let told = stderr(output);
        let line = "tests ran at the same time, or one that `--contexts` selects called others on another thread (leave it out: \
                    `; -Shop.Tests!Shop.Program.Main`), so that all of its hits are in one context";
        assert_eq!(told.matches(line).count(), 1, "{told}");
        let report: Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["contexts"], Value::Null);
        for (number, line) in (1_u32..).zip(SOURCE.lines()) {
            if line.contains("//: Waits") {
                let mut files = report["files"].as_array().unwrap().iter();
                let file = files.find(|file| file["path"] == source.to_str().unwrap());
                let hits = &file.unwrap()["lines"][number.to_string()];
                assert_eq!(*hits, 1, "{line}");
            }
        }
    });
}

#[test]
fn tests_before_kill_9_keep_their_hits() {
    per_test("killed", |source, output, report| {
        let told = stderr(output);
        assert_eq!(output.status.code(), Some(KILLED), "{told}");
        let found = measured(report, source);
        let tests: BTreeSet<&str> = found.values().flatten().map(String::as_str).collect();
        assert_eq!(
            tests,
            BTreeSet::from(["Many", "Small", "outside"]),
            "{told}"
        );
        let killing = SOURCE.lines().position(|line| line.contains("//: killed"));
        let killing = &found[&(killing.unwrap() as u64 + 1)];
        assert_eq!(*killing, BTreeSet::from(["Many".to_owned()]));
    });
}
