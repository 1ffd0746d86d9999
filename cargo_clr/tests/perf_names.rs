//! The names for perf, as perf shows them.

use std::fs;
use std::path::Path;
use std::process::Command;

use clr_profiler_tests::{Folder, Runtime, profilee, runtimes};

use crate::command::{clr_on, stderr, stdout};

/// The method that uses 70 % of the time, and one that is deep.
const HOT: [&str; 2] = ["Spins.Program+Hot<int>.Seventy()", "Spins.Program.Twenty()"];

/// Whether perf can record here.
fn has_perf(folder: &Folder) -> bool {
    let mut perf = Command::new("perf");
    perf.args(["record", "-k", "mono", "-e", "cpu-clock", "-o"]);
    let tried = perf.arg(folder.path("tried")).args(["--", "true"]).output();
    match tried {
        Ok(tried) if tried.status.success() => true,
        Ok(tried) => {
            eprintln!("NOT TESTED: perf cannot record: {}", stderr(&tried));
            false
        }
        Err(error) => {
            eprintln!("NOT TESTED: there is no perf: {error}");
            false
        }
    }
}

/// Records the program under the command. Returns the words of the command.
fn record(runtime: &Runtime, folder: &Folder, words: &[&str]) -> String {
    let output = folder.path("methods.txt");
    let words = [&["log", "-o", output.to_str().unwrap()], words].concat();
    let command = clr_on(runtime, &words, &profilee("Spins"), &["2", "640"]);
    let mut perf = Command::new("perf");
    perf.args(["record", "-k", "mono", "-e", "cpu-clock", "-F", "249", "-o"]);
    perf.arg(folder.path("data")).arg("--");
    perf.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => perf.env(name, value),
            None => perf.env_remove(name),
        };
    }
    let recorded = perf.output().unwrap();
    let told = stderr(&recorded);
    assert!(recorded.status.success(), "{told}");
    assert!(stdout(&recorded).contains("spun"), "{told}");
    told
}

/// The shares of symbols, in percent.
fn shares(folder: &Folder, data: &str) -> String {
    let mut perf = Command::new("perf");
    perf.args([
        "report",
        "--stdio",
        "--no-children",
        "-F",
        "overhead,sym",
        "-i",
    ]);
    // Its cache of images.
    perf.arg(folder.path(data)).env("HOME", folder.path(""));
    stdout(&perf.output().unwrap())
}

fn share(report: &str, name: &str) -> f64 {
    let line = report.lines().find(|line| line.contains(name));
    let line = line.unwrap_or_else(|| panic!("{name}: {report}"));
    let share = line.trim().split('%').next().unwrap();
    share
        .trim()
        .parse()
        .unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn has_the_hot_methods(report: &str) {
    // By construction 70 % and 20 % of the time of the program, without the start of the runtime and the command.
    let [seventy, twenty] = HOT.map(|name| share(report, name));
    assert!(seventy > 40.0 && twenty > 10.0, "{report}");
}

#[test]
fn perf_shows_the_names_of_a_perf_map() {
    for runtime in runtimes() {
        let folder = Folder::new();
        if !has_perf(&folder) {
            return;
        }
        let told = record(runtime, &folder, &["--perf-map"]);
        let map = told.split('`').find(|part| part.starts_with("/tmp/perf-"));
        let map = Path::new(map.unwrap_or_else(|| panic!("{told}")));
        let lines = fs::read_to_string(map).unwrap();
        let report = shares(&folder, "data");
        fs::remove_file(map).unwrap();
        has_the_hot_methods(&report);
        for line in lines.lines() {
            let mut parts = line.splitn(3, ' ');
            for number in parts.by_ref().take(2) {
                assert!(
                    usize::from_str_radix(number, 16).is_ok_and(|number| number > 0),
                    "{line}"
                );
            }
            assert!(parts.next().is_some_and(|name| !name.is_empty()), "{line}");
        }
        // It is not perf that knows them otherwise.
        let report = shares(&folder, "data");
        assert!(!report.contains(HOT[0]), "{report}");
    }
}

#[test]
fn perf_inject_makes_images_of_a_jitdump() {
    for runtime in runtimes() {
        let folder = Folder::new();
        if !has_perf(&folder) {
            return;
        }
        let dumps = folder.path("dumps");
        fs::create_dir(&dumps).unwrap();
        let told = record(runtime, &folder, &["--jitdump", dumps.to_str().unwrap()]);
        assert!(told.contains(" pieces of code are in `"), "{told}");
        let mut perf = Command::new("perf");
        perf.args(["inject", "--jit", "-i"])
            .arg(folder.path("data"));
        perf.arg("-o")
            .arg(folder.path("named"))
            .env("HOME", folder.path(""));
        let injected = perf.output().unwrap();
        assert!(injected.status.success(), "{}", stderr(&injected));
        has_the_hot_methods(&shares(&folder, "named"));
    }
}

/// The names and addresses in the perf map of a program.
fn map_of(runtime: &Runtime, program: &str, arguments: &[&str]) -> Vec<(String, usize)> {
    let folder = Folder::new();
    let output = folder.path("methods.txt");
    let words = ["log", "--perf-map", "-o", output.to_str().unwrap()];
    let run = clr_on(runtime, &words, &profilee(program), arguments).output();
    let told = stderr(&run.unwrap());
    let map = told.split('`').find(|part| part.starts_with("/tmp/perf-"));
    let map = Path::new(map.unwrap_or_else(|| panic!("{told}")));
    let text = fs::read_to_string(map).unwrap();
    fs::remove_file(map).unwrap();
    let lines = text.lines().map(|line| {
        let (address, rest) = line.split_once(' ').unwrap();
        let (_, name) = rest.split_once(' ').unwrap();
        (name.to_owned(), usize::from_str_radix(address, 16).unwrap())
    });
    lines.collect()
}

#[test]
fn each_tier_and_each_kind_of_method_has_its_name() {
    for runtime in runtimes() {
        let map = map_of(runtime, "Behaviours", &["hot"]);
        // Compiled twice; precompiled, and then compiled.
        for name in ["Behaviours.Program.Word(int)", "System.String.Trim()"] {
            let bodies = map.iter().filter(|(its_name, _)| its_name == name);
            assert!(bodies.count() >= 2, "{name}: {map:?}");
        }
        let map = map_of(runtime, "Dynamic", &[]);
        assert!(
            map.iter().any(|(name, _)| name == "[dynamic] TwiceAdded"),
            "{map:?}"
        );
        // Code in the place of other code has its name alone.
        let mut addresses: Vec<usize> = map.iter().map(|(_, address)| *address).collect();
        addresses.sort_unstable();
        let all = addresses.len();
        addresses.dedup();
        assert_eq!(addresses.len(), all, "{map:?}");
    }
}
