//! The processor time of a program with coverage, as a multiple of that without it.

use std::process::{Command, Output};
use std::time::Instant;

use clr_profiler_tests::{Folder, Runtime, runtimes, runtimes_where};
use serde_json::{Value, json};

use super::real::{configure, generator};
use super::truth::compile;
use crate::command::{clr, clr_on, stderr};

const SOURCE: &str = include_str!("Cost.cs");

/// How often the program repeats its work.
const ROUNDS: &str = "30";

/// The least of this many runs counts, because other programs make runs longer, never shorter.
const RUNS: usize = 3;

/// Its name, the words of the command if there is one, and variables. One without a command is compared with those after it.
type Way<'a> = (&'a str, Option<&'a [&'a str]>, &'a [(&'a str, &'a str)]);

/// The milliseconds of all rounds and of the second half of them, and the greatest memory in kilobytes.
fn figures(stderr: &str) -> [f64; 3] {
    let line = stderr.lines().find_map(|line| line.strip_prefix("took "));
    let line = line.unwrap_or_else(|| panic!("{stderr}"));
    let numbers: Vec<f64> = line.split(' ').map(|text| text.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn least(runs: &[[f64; 3]]) -> [f64; 3] {
    let column = |at: usize| runs.iter().map(|run| run[at]).fold(f64::MAX, f64::min);
    [column(0), column(1), column(2)]
}

#[test]
#[ignore = "it takes minutes and asserts nothing"]
fn table() {
    let Some(program) = compile("Cost", SOURCE, &["-optimize+"]) else {
        return;
    };
    println!("runtime  coverage          all rounds  second half  memory");
    for runtime in runtimes() {
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let measured = ["cover", "-o", lcov.to_str().unwrap()];
        let counted = [&measured[..], &["--counts"]].concat();
        let keeps = [("COVERAGE_KEEP_PROBES", "1")];
        let once = [("DOTNET_TieredCompilation", "0")];
        let ways: [Way<'_>; 6] = [
            ("none", None, &[]),
            ("hits", Some(&measured), &[]),
            ("probes stay", Some(&measured), &keeps),
            ("counts", Some(&counted), &[]),
            ("once: none", None, &once),
            ("once: hits", Some(&measured), &once),
        ];
        let mut runs = vec![Vec::new(); ways.len()];
        for _ in 0..RUNS {
            for ((_, words, variables), runs) in ways.iter().zip(&mut runs) {
                let mut command = match words {
                    None => runtime.launch(program.path(), &[ROUNDS]).command().unwrap(),
                    Some(words) => clr_on(runtime, words, program.path(), &[ROUNDS]),
                };
                command.envs(variables.iter().copied());
                runs.push(figures(&stderr(&command.output().unwrap())));
            }
        }
        let mut plain = least(&runs[0]);
        for ((name, words, _), runs) in ways.iter().zip(&runs) {
            if words.is_none() {
                plain = least(runs);
            }
            let [all, half, memory] = least(runs);
            println!(
                "{:<8} {name:<14} {:>9.2} x {:>10.2} x {:>+7.1} MB",
                runtime.name,
                all / plain[0],
                half / plain[1],
                (memory - plain[2]) / 1024.0,
            );
        }
    }
}

/// The processor time of a command's children, in seconds.
fn seconds(command: &Command) -> f64 {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\"; times >&2", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    seconds_of(&with_variables(shell, command).output().unwrap())
}

/// That of a program under the command, without the time of the command itself.
fn covered_seconds(words: &[&str], command: &Command) -> f64 {
    let mut clr = clr(words);
    clr.args(["--", "sh", "-c", "\"$@\"; times >&2", "sh"]);
    clr.arg(command.get_program()).args(command.get_args());
    seconds_of(&with_variables(clr, command).output().unwrap())
}

fn with_variables(mut to: Command, from: &Command) -> Command {
    for (name, value) in from.get_envs() {
        // The profiler is that of the command.
        if let Some(value) = value.filter(|_| !name.to_string_lossy().starts_with("CORECLR_")) {
            to.env(name, value);
        }
    }
    to
}

/// The sum of the second line of `times`: `0m1.25s 0m0.50s`.
fn seconds_of(output: &Output) -> f64 {
    let told = stderr(output);
    assert!(output.status.success(), "{told}");
    let mut lines = told.lines().skip_while(|line| !line.starts_with("0m"));
    let line = lines.nth(1).unwrap_or_else(|| panic!("{told}"));
    let parts = line.split(' ').map(|part| {
        let (minutes, seconds) = part.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    parts.sum()
}

#[test]
#[ignore = "it takes minutes and asserts nothing"]
fn real_program() {
    let runtime = runtimes_where(|runtime: &Runtime| runtime.major == 9);
    let Some((runtime, generator)) = runtime.first().zip(generator()) else {
        return;
    };
    let folder = Folder::new();
    configure(&folder);
    let path = folder.path("Configuration.json");
    let path = path.parent().unwrap().to_str().unwrap();
    let launch = runtime.launch(&generator, &["--standalone", path]);
    let mut command = launch.command().unwrap();
    command.env("DOTNET_PROCESSOR_COUNT", "1");
    let reports = Folder::new();
    let json = reports.path("cover.json");
    let json = json.to_str().unwrap();
    let words = ["cover", "--methods", "AutoRest.CSharp!**", "-o", json];
    let (mut plain, mut covered) = (f64::MAX, f64::MAX);
    for _ in 0..RUNS {
        plain = plain.min(seconds(&command));
        covered = covered.min(covered_seconds(&words, &command));
    }
    println!(
        "{plain:.2} s, covered {covered:.2} s: {:.2} x",
        covered / plain
    );
    print_time_of_reports("its files", &reports, &[json]);
}

/// Prints the time in which the command reads runs and writes all reports.
fn print_time_of_reports(of: &str, folder: &Folder, runs: &[&str]) {
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (lcov, xml, sum) = (path("a.lcov"), path("a.xml"), path("a.json"));
    for words in [
        &["-o", &lcov][..],
        &["-o", &xml],
        &["-o", &sum],
        &["-o", &lcov, "--html", &path("html")],
    ] {
        let begun = Instant::now();
        let mut merge = clr(&["cover-merge"]);
        let output = merge.args(words).args(runs).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let took = begun.elapsed().as_millis();
        println!("{of}: {took} ms for {}", words.join(" "));
    }
}

#[test]
#[ignore = "it asserts nothing"]
fn thousand_files() {
    const FILES: u32 = 1_000;
    const LINES: u32 = 300;
    let folder = Folder::new();
    let files = (0..FILES).map(|file| {
        let source = folder.path(&format!("File{file}.cs"));
        std::fs::write(&source, "    return 1;\n".repeat(LINES as usize)).unwrap();
        let lines = (1..=LINES).map(|line| (line.to_string(), Value::from(line % 3)));
        let lines: serde_json::Map<String, Value> = lines.collect();
        let branches = (1..=LINES / 10).map(|line| {
            json!({ "line": line, "method": "Shop.File.Sell()", "offset": line, "outcomes": [0, 1] })
        });
        let methods = (0..LINES / 10).map(|method| {
            let first = method * 10 + 1;
            json!({
                "assembly": "Shop", "class": format!("Shop.File{file}"), "name": format!("Sell{method}"),
                "parameters": "()", "line": first, "calls": 1, "lines": (first..first + 10).collect::<Vec<_>>(),
            })
        });
        json!({
            "path": source, "lines": lines, "branches": branches.collect::<Vec<_>>(),
            "methods": methods.collect::<Vec<_>>(),
        })
    });
    let run = json!({ "version": 1, "files": files.collect::<Vec<_>>(), "without_lines": [] });
    let path = folder.path("run.json");
    std::fs::write(&path, run.to_string()).unwrap();
    print_time_of_reports("1000 files", &folder, &[path.to_str().unwrap()]);
}
