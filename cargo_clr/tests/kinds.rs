//! The stacks of waits for locks, of collections, of sampled allocations and of exceptions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes, runtimes_where};
use serde_json::Value;

use crate::command::{clr, clr_on, sample, stderr, stdout, text};
use crate::formats::{firefox, has_node, pprof, speedscope};

/// Runs a verb with a program that returns 7. Returns the outputs of both.
fn run(
    runtime: &Runtime,
    words: &[&str],
    program: &str,
    arguments: &[&str],
    output: &Path,
) -> (String, String) {
    let words = [words, &["-o", output.to_str().unwrap()]].concat();
    let mut command = clr_on(runtime, &words, &profilee(program), arguments);
    // A collection of the background has a smaller one before it, now and then.
    command.env("DOTNET_gcConcurrent", "0");
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(7), "{}", stderr(&run));
    (stdout(&run), stderr(&run))
}

/// The number and the milliseconds of a row of the table whose last column begins with this text.
fn row(table: &str, name: &str) -> Option<(u64, f64)> {
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let numbers = [words.next()?, words.next()?, words.next()?];
        let rest: Vec<&str> = words.collect();
        let is_it = rest.join(" ").starts_with(name);
        is_it.then_some((numbers[0].parse().ok()?, numbers[1].parse().ok()?))
    })
}

/// The program measures each wait from both sides.
#[test]
fn locks() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("locks.txt");
        let (output, told) = run(runtime, &["locks"], "Contends", &[], &file);
        if runtime.major < 5 {
            assert!(
                told.contains("which profilers get from .NET 5 on"),
                "{told}"
            );
            assert!(!file.exists(), "{told}");
            continue;
        }
        let table = text(&folder, "locks.txt");
        let mut methods: BTreeMap<&str, (u64, f64, f64)> = BTreeMap::new();
        let mut holders = Vec::new();
        for line in output.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let &[_, method, at_least, at_most, holder] = &words[..] else {
                panic!("{output}");
            };
            let [at_least, at_most] =
                [at_least, at_most].map(|time| time.parse::<f64>().unwrap() / 1e6);
            let sum = methods.entry(method).or_default();
            *sum = (sum.0 + 1, sum.1 + at_least, sum.2 + at_most);
            holders.push((holder, at_least, at_most));
        }
        assert_eq!(methods.len(), if runtime.major >= 9 { 2 } else { 1 });
        // Times have two digits.
        let is_within =
            |time: f64, at_least, at_most| (at_least - 0.01..=at_most + 0.01).contains(&time);
        for (method, (waits, at_least, at_most)) in methods {
            let found = row(&table, &format!("Contends.Program.{method}()"));
            let (number, time) = found.unwrap_or_else(|| panic!("{table}"));
            assert_eq!(number, waits, "{table} {output}");
            assert!(is_within(time, at_least, at_most), "{table} {output}");
        }
        if runtime.major >= 8 && cfg!(target_os = "linux") {
            for (holder, at_least, at_most) in holders {
                let name = format!("thread {holder} (holds)");
                let (number, time) =
                    row(&table, &name).unwrap_or_else(|| panic!("{name}: {table}"));
                assert_eq!(number, 1, "{table} {output}");
                // The system gives a later thread the same id, now and then.
                let is_one = table.matches(&name).count() == 1;
                assert!(
                    !is_one || is_within(time, at_least, at_most),
                    "{table} {output}"
                );
            }
        }
        let sum = told
            .lines()
            .find(|line| line.contains(" waits for locks, "));
        assert!(
            sum.is_some_and(|line| line.starts_with("locks: ")),
            "{told}"
        );
        assert!(told.contains("most in Contends.Program.WaitFor"), "{told}");
        assert_eq!(
            told.contains("most for thread "),
            runtime.major >= 8,
            "{told}"
        );
    }
}

/// The system uses the ids of threads again.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_have_locks_one_after_the_other_are_several() {
    for runtime in runtimes_where(|runtime| runtime.major >= 8) {
        let folder = Folder::new();
        let file = folder.path("locks.txt");
        let (output, _) = run(runtime, &["locks"], "Contends", &["again"], &file);
        let table = text(&folder, "locks.txt");
        let holders: Vec<&str> = (output.lines())
            .map(|line| line.split(' ').next_back().unwrap())
            .collect();
        assert_eq!(holders.len(), 8, "{output}");
        for holder in &holders {
            let threads = holders.iter().filter(|other| *other == holder).count();
            let name = format!(" thread {holder} (holds)\n");
            let rows = table.matches(&name);
            assert_eq!(rows.count(), threads, "{table} {output}");
        }
        // They are the same if this test is the system's administrator.
        println!(".NET {}: {holders:?}", runtime.version());
    }
}

/// The waits of a thread that waits for ever.
#[test]
fn a_wait_that_does_not_end_counts() {
    for runtime in runtimes_where(|runtime| runtime.major > 3) {
        let folder = Folder::new();
        let file = folder.path("locks.folded");
        let words = ["locks", "--duration", "2", "-o", file.to_str().unwrap()];
        let mut command = clr_on(runtime, &words, &profilee("Contends"), &["for ever"]);
        command.stderr(std::process::Stdio::piped());
        let run = command.output().unwrap();
        let told = stderr(&run);
        assert_eq!(run.status.code(), Some(8), "{told}");
        assert!(told.contains("of them have not ended"), "{told}");
        let stacks = text(&folder, "locks.folded");
        let waits = stacks
            .lines()
            .find(|line| line.contains("Contends.Program.WaitForOld()"));
        let time = waits.and_then(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
        assert!(
            time.is_some_and(|time| time > 100_000_000),
            "{stacks} {told}"
        );
    }
}

/// How often each method of the program triggers a collection, as the program counts it.
fn counted(output: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in output.lines().skip(1) {
        let (method, count) = line.split_once(' ').unwrap();
        *counts
            .entry(format!("Triggers.Program.{method}()"))
            .or_default() += count.parse::<u64>().unwrap();
    }
    counts
}

#[test]
fn triggers_of_collections() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("gc.txt");
        let words = ["gc", "--triggers"];
        let (output, told) = run(runtime, &words, "Triggers", &[], &file);
        if runtime.major < 5 {
            assert!(
                told.contains("which profilers get from .NET 5 on"),
                "{told}"
            );
            assert!(told.contains("without `--triggers`"), "{told}");
            continue;
        }
        let log = text(&folder, "gc.txt");
        let counts = counted(&output);
        for (method, count) in &counts {
            let (collections, _) = row(&log, method).unwrap_or_else(|| panic!("{log}"));
            assert_eq!(collections, *count, "{log} {output}");
            let frames = log
                .lines()
                .filter(|line| *line == format!("    at {method}"));
            assert_eq!(frames.count() as u64, *count, "{log}");
        }
        let all: u64 = counts.values().sum();
        let lines = |start: &str| log.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(lines("[gc ") as u64, all, "{log}");
        assert_eq!(lines("    trigger: ") as u64, all, "{log}");
        // The order of lines is that of collections, also when their names come later.
        let numbers = log
            .lines()
            .filter_map(|line| line.strip_prefix("[gc ")?.split(']').next());
        let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{log}");

        let file = folder.path("lines.json");
        let words = ["gc", "--triggers", "--lines-as-json"];
        let (output, _) = run(runtime, &words, "Triggers", &[], &file);
        let counts = counted(&output);
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        let mut table = Value::Null;
        for line in text(&folder, "lines.json").lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["triggers"].is_array() {
                table = line["triggers"].clone();
            }
            let Some(stack) = line["trigger"]["stack"].as_array() else {
                continue;
            };
            let own = stack.iter().filter_map(Value::as_str);
            let method = own.into_iter().find(|frame| frame.starts_with("Triggers."));
            *seen
                .entry(method.unwrap_or("nobody").to_owned())
                .or_default() += 1;
        }
        assert_eq!(seen, counts);
        for row in table.as_array().unwrap() {
            let method = row["method"].as_str().unwrap();
            assert_eq!(
                row["collections"].as_u64(),
                counts.get(method).copied(),
                "{table}"
            );
        }
    }
}

/// The runtime leaves dynamic methods out of stacks. They are collected, and their ids used again, before the other functions have names.
#[test]
fn dynamic_methods_that_trigger_collections() {
    for runtime in runtimes_where(|runtime| runtime.major > 3) {
        let folder = Folder::new();
        let file = folder.path("gc.txt");
        let words = ["gc", "--triggers"];
        let (output, _) = run(runtime, &words, "Triggers", &["dynamic"], &file);
        let log = text(&folder, "gc.txt");
        let all = output.lines().skip(1).count();
        assert!(
            output.lines().skip(1).all(|line| line.ends_with(" 1")),
            "{output}"
        );
        let callers = log.matches("    at Triggers.Program.Count(string, System.Action)\n    at Triggers.Program.ByDynamic(string)\n");
        assert_eq!(callers.count(), all, "{log}");
        let mut frames = log.lines().filter_map(|line| line.strip_prefix("    at "));
        // Neither the method nor an id that names nothing anymore.
        let is_known = |line: &str| !line.starts_with("Dynamic") && !line.starts_with('?');
        assert!(frames.all(is_known), "{log}");
    }
}

/// Without the option nothing is different.
#[test]
fn collections_without_triggers_have_one_line() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (output, _) = run(runtime, &["gc"], "Triggers", &[], &folder.path("gc.txt"));
        let log = text(&folder, "gc.txt");
        let all: u64 = counted(&output).values().sum();
        let lines = log.lines().filter(|line| line.starts_with("[gc "));
        assert_eq!(lines.count() as u64, all, "{log}");
        assert!(
            !log.contains("trigger") && !log.contains("    at "),
            "{log}"
        );
    }
}

/// The estimates of the runtime's samples. Before .NET 10 only the sum of the bytes is without bias.
#[test]
fn sampled_allocations() {
    for runtime in runtimes_where(|runtime| runtime.major > 3) {
        let folder = Folder::new();
        let file = folder.path("alloc.txt");
        let words = ["alloc", "--sampled"];
        let (_, told) = run(runtime, &words, "Estimates", &["4000"], &file);
        let table = text(&folder, "alloc.txt");
        let is_random = runtime.major >= 10;
        let words = match is_random {
            true => "estimates without bias from ",
            false => "estimates with a bias from ",
        };
        assert!(
            table.contains(words) && told.contains(words),
            "{told} {table}"
        );
        let types = [
            ("Estimates.Small", 24.0, 2_400_000.0),
            ("Estimates.Large[]", 50_024.0, 4000.0),
            ("Estimates.Huge[]", 150_024.0, 400.0),
        ];
        let mut bytes = 0.0;
        for (name, size, number) in types {
            let found = table
                .lines()
                .find(|line| line.ends_with(&format!("  {name}")));
            let mut numbers = found.unwrap_or("0 0").split_whitespace();
            let mut next = || numbers.next().unwrap().parse::<f64>().unwrap();
            let estimates = (next(), next());
            bytes += estimates.1;
            if is_random {
                let chance = 1.0 - f64::exp(-size / 102_400.0);
                let deviation = f64::sqrt(number * (1.0 - chance) / chance);
                let off = (estimates.0 - number) / deviation;
                assert!(off.abs() < 5.0, "{name}: {off} {table}");
                let off = (estimates.1 / size - number) / deviation;
                assert!(off.abs() < 5.0, "{name}: {off} {table}");
            }
        }
        let expected: f64 = types.iter().map(|(_, size, number)| size * number).sum();
        assert!(
            (0.9..1.1).contains(&(bytes / expected)),
            "{bytes} {expected} {table}"
        );
    }
}

/// A library that stays loaded has nothing of an earlier tool.
#[test]
fn a_tool_that_is_attached_twice_has_results_twice() {
    for runtime in runtimes_where(|runtime| runtime.major > 3) {
        let folder = Folder::new();
        let launch = runtime.launch(&profilee("Waits"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        assert_eq!(program.ask("busy"), "busy");
        let process = program.id().to_string();
        for (verb, part) in [("alloc", "Waits.Thrown"), ("exceptions", "Waits.Thrown")] {
            for file in ["first", "second"] {
                let output = folder.path(file);
                let limits = [
                    "-p",
                    &process,
                    "--duration",
                    "1",
                    "--format",
                    "folded",
                    "-o",
                ];
                let words = [&[verb], &limits[..], &[output.to_str().unwrap()]].concat();
                let attached = clr(&words).output().unwrap();
                let told = stderr(&attached);
                assert!(attached.status.success(), "{told}");
                let stacks = text(&folder, file);
                assert!(stacks.contains(part), "{verb}, {file}: {told} {stacks}");
            }
        }
        assert_eq!(program.ask("calm"), "calm");
    }
}

/// The verb, its program with arguments, the name of the values, and a frame of a stack.
type Kind = (
    &'static [&'static str],
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const KINDS: [Kind; 4] = [
    (
        &["locks", "--lines"],
        "Contends",
        &[],
        "types contentions/count delay/nanoseconds",
        "Contends.Program.WaitForOld()",
    ),
    (
        &["gc"],
        "Triggers",
        &[],
        "types collections/count pause/nanoseconds",
        "Triggers.Program.ByAllocation()",
    ),
    (
        &["alloc", "--sampled"],
        "Estimates",
        &["400"],
        "types alloc_objects/count alloc_space/bytes",
        "Estimates.Large[]",
    ),
    (
        &["exceptions", "--lines"],
        "",
        &["exit=7"],
        "types exceptions/count",
        "Shop.Program.Main(string[])",
    ),
];

/// Each kind in each format, by the readers of others.
#[test]
fn each_kind_by_other_readers() {
    if !has_node() {
        return;
    }
    let newest = runtimes_where(|runtime| runtime.major > 3);
    let Some(runtime) = newest.first() else {
        return;
    };
    for (verb, program, arguments, types, frame) in KINDS {
        let folder = Folder::new();
        let profiled = |file: &str| -> PathBuf {
            let output = folder.path(file);
            if program.is_empty() {
                let words = [verb, &["-o", output.to_str().unwrap()]].concat();
                let run = clr_on(runtime, &words, &sample(), arguments).output();
                let run = run.unwrap();
                assert_eq!(run.status.code(), Some(7), "{}", stderr(&run));
            } else {
                run(runtime, verb, program, arguments, &output);
            }
            output
        };
        let lines = pprof(&profiled("kind.pb.gz"));
        assert!(lines.starts_with(&format!("{types}\n")), "{lines}");
        assert!(lines.contains(frame), "{lines}");
        let text_of = |file: &Path| std::fs::read_to_string(file).unwrap();
        let file = profiled("kind.json");
        let valid = speedscope(&file);
        assert_eq!(valid, "{\"valid\":true,\"errors\":[]}\nfalse\n");
        assert!(text_of(&file).contains(frame), "{verb:?}");
        let (facts, functions) = firefox(&folder, &profiled("kind.firefox.json"));
        assert!(functions.contains(frame), "{verb:?}: {facts} {functions}");
        let folded = text_of(&profiled("kind.folded"));
        for line in folded.lines() {
            let weight = line
                .rsplit_once(' ')
                .map(|(_, weight)| weight.parse::<u64>());
            assert!(matches!(weight, Some(Ok(1..))), "{line}");
        }
        assert!(folded.contains(frame), "{verb:?}: {folded}");
        let svg = text_of(&profiled("kind.svg"));
        assert!(svg.contains("</svg>"), "{verb:?}: {svg}");
        // An OTLP file is protobuf, in which names are as they are.
        let otlp = std::fs::read(profiled("kind.otlp")).unwrap();
        assert!(String::from_utf8_lossy(&otlp).contains(frame), "{verb:?}");
    }
}

/// Wrong command lines are found before the program starts.
#[test]
fn lines_of_json_have_no_format_of_stacks() {
    let words = ["gc", "--lines-as-json", "--format", "svg", "--", "x.dll"];
    let output = Command::output(&mut clr(&words)).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
