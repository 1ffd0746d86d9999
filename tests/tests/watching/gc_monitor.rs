//! `gc_monitor`: each collection has its line.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

use super::endings::endings;

const EXAMPLE: Example = Example("gc_monitor");

/// The requests of `Watched collect`. The collector may collect older generations as well.
const ASKED: [u32; 6] = [0, 0, 0, 1, 1, 2];

/// The objects that the program keeps: 20,000 arrays of 1,000 bytes, 24 for their headers.
const KEPT: f64 = 20_480_000.0;

/// The results of `Watched collect` on a runtime.
fn results(runtime: &Runtime, options: &[&str]) -> String {
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let command = EXAMPLE.command(runtime, &all, &profilee("Watched"), &["collect"]);
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    fs::read_to_string(file).unwrap()
}

/// The number after a word of a line.
fn number(line: &str, word: &str) -> f64 {
    let after = line.split(word).nth(1);
    let digits = after.and_then(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        rest[..end.unwrap_or(rest.len())].parse().ok()
    });
    digits.unwrap_or_else(|| panic!("no number after `{word}`: {line}"))
}

fn induced(results: &str) -> Vec<&str> {
    let lines = results.lines().filter(|line| line.starts_with("[gc "));
    lines.filter(|line| line.contains(" induced ")).collect()
}

#[test]
fn collections_are_as_the_program_asked_for_them() {
    for runtime in runtimes() {
        let results = results(runtime, &[]);
        println!("on {}:\n{results}", runtime.name);
        let lines = induced(&results);
        assert_eq!(lines.len(), ASKED.len());
        for (line, asked) in lines.iter().zip(ASKED) {
            assert!(number(line, " gen") >= f64::from(asked), "{line}");
            assert!(number(line, "pause") > 0.0, "{line}");
            let (before, after) = (number(line, "heap"), number(line, " -> "));
            assert!(before * 1e6 > KEPT && after * 1e6 > KEPT, "{line}");
            assert!(!line.contains("survived"), "{line}");
        }
        // New objects are promoted.
        let last = lines[lines.len() - 1];
        let (_, parts) = last.split_once(" MB  ").unwrap();
        assert!(number(parts, "gen2") * 1e6 > KEPT, "{last}");
        let summary = results.lines().last().unwrap();
        let share = number(summary, "paused") / (number(summary, "of") * 1000.0) * 100.0;
        assert!(
            (share - number(summary, "(")).abs() < share * 0.02,
            "{summary}"
        );
        assert!(number(summary, "largest heap") * 1e6 > KEPT);
    }
}

#[test]
fn survivors_are_what_the_program_keeps() {
    for runtime in runtimes() {
        let results = results(runtime, &["--survivors"]);
        println!("on {}:\n{results}", runtime.name);
        let lines = induced(&results);
        assert_eq!(lines.len(), ASKED.len());
        for line in [lines[0], lines[5]] {
            let survived = number(line, "survived") * 1e6;
            assert!(survived > KEPT && survived < KEPT * 1.1, "{line}");
        }
    }
}

#[test]
fn json_is_an_object_a_line() {
    for runtime in runtimes() {
        let results = results(runtime, &["--json"]);
        println!("on {}:\n{results}", runtime.name);
        let objects: Vec<serde_json::Value> = results
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (summary, collections) = objects.split_last().unwrap();
        assert_eq!(summary["summary"], true);
        let counts = summary["collections"].as_array().unwrap();
        let counted: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counted, collections.len() as u64);
        let last = collections.last().unwrap();
        assert_eq!(last["reason"], "induced");
        assert_eq!(last["generation"], 2);
        assert!(last["after"]["gen2"].as_f64().unwrap() > KEPT);
    }
}

#[test]
fn however_the_program_ends_its_lines_are_there() {
    endings(EXAMPLE, &[], "collect", |runtime, ending, results| {
        assert_eq!(induced(results).len(), ASKED.len(), "{results}");
        assert!(results.ends_with('\n'), "{results}");
        let summaries = results.lines().filter(|line| line.starts_with("paused "));
        let expected = usize::from(ending.is_seen(runtime));
        assert_eq!(summaries.count(), expected, "{results}");
    });
}
