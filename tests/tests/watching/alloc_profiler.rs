//! `alloc_profiler`: each object once, with the method that allocated it.

use std::collections::HashMap;
use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes, runtimes_where};

use super::endings::endings;

const EXAMPLE: Example = Example("alloc_profiler");

/// Runs a work of `Watched`; returns the program's end, and the file of this name, which does not exist
/// if the profiler did not start.
fn run(
    runtime: &Runtime,
    (work, number): (&str, u64),
    options: &[&str],
    variables: &[(&str, &str)],
    name: &str,
) -> (Finished, String) {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let words = [work, "return", &number.to_string()];
    let mut command = EXAMPLE.command(runtime, &all, &profilee("Watched"), &words);
    command.envs(variables.iter().copied());
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    assert_eq!(finished.stdout, "worked\n", "{finished:?}");
    (finished, fs::read_to_string(file).unwrap_or_default())
}

fn results(runtime: &Runtime, work: (&str, u64), options: &[&str], name: &str) -> String {
    let (finished, results) = run(runtime, work, options, &[], name);
    assert_eq!(finished.stderr, "");
    assert_ne!(results, "");
    results
}

/// The numbers of each row, by type or method: objects, bytes, share, and survivors.
fn rows(table: &str) -> HashMap<&str, Vec<f64>> {
    let rows = table.lines().filter_map(|line| {
        let mut rest = line.trim_start();
        let mut numbers = Vec::new();
        while let Some((word, after)) = rest.split_once(' ') {
            match word.parse() {
                Ok(number) => numbers.push(number),
                Err(_) if word == "%" => {}
                Err(_) => break,
            }
            rest = after.trim_start();
        }
        (numbers.len() >= 3).then_some((rest, numbers))
    });
    rows.collect()
}

/// The allocations of `Watched allocate`: objects and bytes by type, and by the allocating method.
fn expected(number: u64) -> Vec<(&'static str, u64, u64)> {
    let (tenth, threads) = (number / 10, number / 16 * 16);
    vec![
        // A header and the type of 8 bytes each, and the fields.
        ("Watched.Small", number, number * 24),
        ("Watched.Allocated.MakeSmall()", number, number * 24),
        // The length as well, and ten elements of 8 bytes.
        ("Watched.Item[]", tenth, tenth * 104),
        ("Watched.Allocated.MakeItems()", tenth, tenth * 104),
        ("Watched.Allocated.MakePair()", tenth, tenth * 32),
        ("Watched.Pair<long>", threads, threads * 32),
        ("Watched.Lasting", 1000, 24_000),
        ("Watched.Lasting[]", 1, 8024),
        ("Watched.Allocated.Keep()", 1001, 32_024),
    ]
}

fn assert_exact(table: &str, number: u64) {
    let rows = rows(table);
    for (name, objects, bytes) in expected(number) {
        let found = rows.get(name).unwrap_or_else(|| panic!("{name}: {table}"));
        assert_eq!(
            found[..2],
            [objects as f64, bytes as f64],
            "{name}: {table}"
        );
    }
}

#[test]
fn each_object_is_counted_once() {
    for runtime in runtimes() {
        let number = 100_000;
        let table = results(runtime, ("allocate", number), &[], "allocations.txt");
        println!("on {}:\n{table}", runtime.name);
        assert_exact(&table, number);
    }
}

#[test]
fn what_survives_is_what_the_program_keeps() {
    for runtime in runtimes() {
        let table = results(
            runtime,
            ("allocate", 160),
            &["--survival"],
            "allocations.txt",
        );
        println!("on {}:\n{table}", runtime.name);
        assert_exact(&table, 160);
        let rows = rows(&table);
        // From generation 0 to 1, from there to 2, and in 2.
        assert_eq!(
            rows["Watched.Lasting"][3..],
            [24_000.0, 24_000.0, 24_000.0, 0.0, 0.0]
        );
        assert_eq!(
            rows["Watched.Lasting[]"][3..],
            [8024.0, 8024.0, 8024.0, 0.0, 0.0]
        );
        // The last one is still referenced.
        let small: f64 = rows["Watched.Small"][3..].iter().sum();
        assert_eq!(small, 0.0, "{table}");
        assert!(table.ends_with("; 3 collections\n"), "{table}");
    }
}

#[test]
fn stacks_lead_to_the_types() {
    for runtime in runtimes() {
        let folded = results(runtime, ("allocate", 1600), &[], "allocations.folded");
        let weight = |end: &str| -> u64 {
            let lines = folded.lines().filter_map(|line| line.rsplit_once(' '));
            let ends = lines.filter(|(stack, _)| stack.ends_with(end));
            ends.map(|(_, weight)| weight.parse::<u64>().unwrap()).sum()
        };
        let run = "Watched.Program.Main(string[]);Watched.Allocated.Run(int);";
        let small = format!("{run}Watched.Allocated.MakeSmall();Watched.Small");
        assert_eq!(weight(&small), 1600 * 24, "on {}: {folded}", runtime.name);
        let kept = format!("{run}Watched.Allocated.Keep();Watched.Lasting");
        assert_eq!(weight(&kept), 24_000);
        assert_eq!(weight(";Watched.Pair<long>"), 1600 * 32);
    }
}

#[test]
fn samples_have_their_shares_where_there_are_any() {
    for runtime in runtimes() {
        let work = ("allocate", 1_000_000);
        let (finished, table) = run(runtime, work, &["--sampled"], &[], "allocations.txt");
        if runtime.major < 5 {
            let words = "`--sampled` needs .NET 5 or newer, this is .NET Core 3.1";
            assert!(finished.stderr.contains(words), "{}", finished.stderr);
            assert_eq!(table, "");
            continue;
        }
        println!("on {}:\n{table}", runtime.name);
        assert_eq!(finished.stderr, "");
        let rows = rows(&table);
        // 24 bytes a million times of 24, 10.4, 3.2 and 32 million.
        let total: f64 = 24.0 + 10.4 + 3.2 + 32.0;
        for (name, part) in [
            ("Watched.Small", 24.0),
            ("Watched.Allocated.MakeSmall()", 24.0),
            ("Watched.Pair<long>", 32.0),
        ] {
            let share = part / total * 100.0;
            assert!(
                (rows[name][2] - share).abs() < 10.0,
                "{name}: {share} {table}"
            );
        }
        let folded = results(runtime, work, &["--sampled"], "allocations.folded");
        let stack = "Watched.Program.Main(string[]);Watched.Allocated.Run(int);\
                     Watched.Allocated.MakeSmall();Watched.Small ";
        assert!(folded.contains(stack), "{folded}");
    }
}

#[test]
fn what_cannot_go_together_is_said() {
    let runtime = runtimes_where(|runtime| runtime.major >= 5)[0];
    let options = ["--sampled", "--survival"];
    let (finished, _) = run(runtime, ("allocate", 16), &options, &[], "allocations.txt");
    assert!(
        finished.stderr.contains("choose one of them"),
        "{}",
        finished.stderr
    );
}

#[test]
fn limits_hold_and_objects_stay_exact() {
    let limits = [("ALLOC_PROFILER_LIMIT_STACKS", "800")];
    for runtime in runtimes() {
        let work = ("many", 300);
        let (_, folded) = run(runtime, work, &[], &limits, "allocations.folded");
        assert!(folded.lines().count() < 1000, "{}", folded.lines().count());
        let small = folded.lines().filter_map(|line| line.rsplit_once(' '));
        let small = small.filter(|(stack, _)| stack.ends_with(";Watched.Small"));
        let bytes: u64 = small.map(|(_, bytes)| bytes.parse::<u64>().unwrap()).sum();
        assert_eq!(bytes, 300 * 13 * 24, "on {}", runtime.name);
        let few = [("ALLOC_PROFILER_LIMIT_NAMES", "50")];
        let (_, table) = run(runtime, work, &[], &few, "allocations.txt");
        assert!(
            table.contains("(other types)") && table.contains("(others)"),
            "{table}"
        );
        let types = table.lines().take_while(|line| !line.is_empty());
        assert_eq!(types.count(), 52, "{table}");
    }
}

#[test]
fn each_form_has_the_types() {
    let runtime = runtimes()[0];
    let svg = results(runtime, ("allocate", 1600), &[], "allocations.svg");
    assert!(
        svg.trim_end().ends_with("</svg>") && svg.contains("Watched.Small ("),
        "{svg}"
    );
    let json = results(runtime, ("allocate", 1600), &[], "allocations.json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["profiles"][0]["unit"], "bytes");
    let frames = json["shared"]["frames"].as_array().unwrap();
    assert!(
        frames
            .iter()
            .any(|frame| frame["name"] == "Watched.Lasting")
    );
}

#[test]
fn however_the_program_ends_the_table_is_whole() {
    endings(EXAMPLE, &[], "allocate", |runtime, ending, results| {
        if ending.is_seen(runtime) {
            assert_exact(results, 1600);
            assert!(results.contains(" threads"), "{results}");
        } else {
            // It may have ended before anything was written.
            assert!(
                results.is_empty() || results.contains(" threads"),
                "{results}"
            );
        }
    });
}

/// The types that `Boxed` boxes, how often, and whether .NET 10 reports that. The code is not optimised
/// unless stated.
const BOXED: [(&str, f64, bool); 5] = [
    // A struct that is a static field is in a box that the runtime allocates: one more.
    ("Boxed.Number", 301.0, false),
    // The result of a call.
    ("Boxed.Made", 300.0, true),
    // Of a nullable, and as many times again in optimised code.
    ("Boxed.Perhaps", 600.0, false),
    // An enumeration, as a number.
    ("Boxed.Colour", 300.0, true),
    // In optimised code, and a static field.
    ("Boxed.Quick", 301.0, true),
];

#[test]
fn boxes_are_counted_where_the_runtime_reports_them() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("allocations.txt");
        let options = ["--output", file.to_str().unwrap()];
        let mut command = EXAMPLE.command(runtime, &options, &profilee("Boxed"), &[]);
        // Methods that do not refuse it are optimised at once.
        command.env("COMPlus_TieredCompilation", "0");
        let finished = Finished::of(command);
        assert_eq!(finished.output(), (Some(5), "boxed 1000\n", ""));
        let table = fs::read_to_string(file).unwrap();
        println!("on {}:\n{table}", runtime.name);
        let rows = rows(&table);
        for (name, boxes, is_reported_by_10) in BOXED {
            let counted = rows.get(name).map_or(0.0, |row| row[0]);
            if runtime.major < 10 || is_reported_by_10 {
                assert_eq!(counted, boxes, "{name}");
            } else {
                // The helper allocates occasionally, which is reported.
                assert!(counted < boxes / 10.0, "{name}: {counted}");
            }
        }
    }
}
