//! Compares the sampler with `perf`, in the same process.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::process::Command;

use clr_profiler_tests::{
    Folder, GENERATOR, Runtime, Scenario, configure_generator, fetched, matrix, profilee, runtimes,
};
use examples_support::{Pinned, runtime};

use super::Truths;
use super::tests::{RUNS, program, times, wanted};

/// The own time of each method, library or stub, in points.
type Own = HashMap<String, f64>;

/// Runs the program once, and returns its own times by the sampler and by `perf`.
fn both(runtime: &Runtime, program: &Scenario) -> (Own, Own) {
    let folder = Folder::new();
    let (data, log) = (folder.path("perf.data"), folder.path("log"));
    let program = program
        .clone()
        .profiled_by::<Truths>()
        .env("TRUTH_CODE", "1");
    let profiled = program.command_on(runtime);
    let mut command = Command::new("perf");
    command.args([
        "record",
        "-q",
        "-e",
        "cpu-clock",
        "-F",
        "997",
        "-g",
        "--user-callchains",
        "-o",
    ]);
    command
        .arg(&data)
        .arg("--")
        .arg(profiled.get_program())
        .args(profiled.get_args());
    for (name, value) in profiled.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.env("SCENARIO_LOG", &log).output().unwrap();
    assert_eq!(output.stderr, b"", "{output:?}");
    let log = fs::read_to_string(&log).unwrap();
    let own = times(&log, "own").into_iter();
    let sampled = own.map(|(name, time)| (name, time as f64)).collect();
    let dumped = Command::new("perf")
        .args(["script", "-D", "-i"])
        .arg(&data)
        .output()
        .unwrap();
    let dumped = String::from_utf8_lossy(&dumped.stdout);
    (
        in_points(sampled),
        in_points(counted(&dumped, &Places::read(&log))),
    )
}

/// Leaves the sampler's own code out, which is no part of the program.
fn in_points(mut times: Own) -> Own {
    times.retain(|name, _| !name.starts_with("[libscenarios"));
    let all: f64 = times.values().sum();
    times
        .into_iter()
        .map(|(name, time)| (name, time / all.max(1.0) * 100.0))
        .collect()
}

/// The samples of `perf` on the threads that the sampler has seen, by the owner of the first address that is not the kernel's.
fn counted(dumped: &str, places: &Places) -> Own {
    const USER: &str = "fffffffffffffe00";
    let (mut is_seen, mut is_next) = (false, false);
    let mut counts = Own::new();
    for line in dumped.lines() {
        if line.contains("PERF_RECORD_") {
            // ... PERF_RECORD_SAMPLE(IP, 0x4002): PROCESS/THREAD: ...
            let sample = line
                .split_once("PERF_RECORD_SAMPLE")
                .and_then(|(_, rest)| rest.split(": ").nth(1));
            let thread = sample.and_then(|sample| sample.split_once('/'));
            is_seen = thread.is_some_and(|(_, thread)| places.threads.contains(thread));
            is_next = false;
            continue;
        }
        let Some((_, address)) = line
            .strip_prefix("..... ")
            .and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        if is_next && is_seen {
            let address = usize::from_str_radix(address, 16).unwrap();
            *counts.entry(places.name(address)).or_default() += 1.0;
        }
        is_next = address == USER;
    }
    counts
}

/// The owners of addresses, as the profiler has logged them.
struct Places {
    threads: HashSet<String>,
    /// Starts, ends and names, in order.
    code: Vec<(usize, usize, String)>,
    maps: Vec<(usize, usize, String)>,
}

impl Places {
    fn read(log: &str) -> Self {
        let number = |text: &str| usize::from_str_radix(text, 16).unwrap();
        let mut places = Self {
            threads: HashSet::new(),
            code: Vec::new(),
            maps: Vec::new(),
        };
        for line in log.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or_default();
            match kind {
                "thread" => {
                    places.threads.insert(rest.to_owned());
                }
                "code" => {
                    let mut words = rest.splitn(3, ' ');
                    let mut next = || words.next().unwrap();
                    let (start, size) = (number(next()), number(next()));
                    places.code.push((start, start + size, next().to_owned()));
                }
                "map" => {
                    let words: Vec<&str> = rest.split_whitespace().collect();
                    let (start, end) = words[0].split_once('-').unwrap();
                    let name = match words.get(5) {
                        Some(path) if path.starts_with('/') && !path.starts_with("/memfd") => {
                            format!("[{}]", path.rsplit('/').next().unwrap())
                        }
                        Some(&"[vdso]") => "[[vdso]]".to_owned(),
                        _ => "[stub]".to_owned(),
                    };
                    places.maps.push((number(start), number(end), name));
                }
                _ => {}
            }
        }
        places.code.sort();
        places.maps.sort();
        places
    }

    fn name(&self, address: usize) -> String {
        let found = [&self.code, &self.maps].into_iter().find_map(|all| {
            let after = all.partition_point(|(start, ..)| *start <= address);
            let (_, end, name) = all.get(after.checked_sub(1)?)?;
            (address < *end).then(|| name.clone())
        });
        found.unwrap_or_else(|| "[stub]".to_owned())
    }
}

/// Whether the shares agree. Random errors of few samples average out with more of them; systematic errors remain.
fn agrees(what: &str, runtime: &Runtime, program: &Scenario) -> bool {
    let mut shares = (Own::new(), Own::new());
    (0..RUNS).any(|_| {
        let (sampled, perf) = both(runtime, program);
        for (name, points) in sampled {
            *shares.0.entry(name).or_default() += points;
        }
        for (name, points) in perf {
            *shares.1.entry(name).or_default() += points;
        }
        let (sampled, perf) = shares.clone();
        difference(what, &(in_points(sampled), in_points(perf))) < 3.0
    })
}

/// Prints the largest differences; returns the largest.
fn difference(what: &str, (sampled, perf): &(Own, Own)) -> f64 {
    let mut names: Vec<&String> = sampled.keys().chain(perf.keys()).collect();
    names.sort();
    names.dedup();
    let points = |own: &Own, name: &String| own.get(name).copied().unwrap_or(0.0);
    let rows = names
        .into_iter()
        .map(|name| (points(sampled, name), points(perf, name), name));
    let mut rows: Vec<(f64, f64, &String)> = rows.collect();
    rows.sort_by(|a, b| (b.0 - b.1).abs().total_cmp(&(a.0 - a.1).abs()));
    let worst = rows
        .first()
        .map_or(0.0, |(sampled, perf, _)| (sampled - perf).abs());
    println!("{what}: at most {worst:.1} points");
    for (sampled, perf, name) in rows.iter().take(6) {
        println!("    {sampled:5.1} sampled {perf:5.1} perf  {name}");
    }
    worst
}

/// `.ci/full truth` runs it: `perf` has to be there.
#[test]
#[ignore = "needs perf"]
fn own_time_is_that_of_perf() {
    let mut failed = Vec::new();
    for runtime in runtimes() {
        for way in wanted() {
            let what = format!("on {}, {way:?}", runtime.name);
            if !agrees(&what, runtime, &program(way, 5000, 1)) {
                failed.push(what);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// A compiler of C#, which is a program of other people: many threads, tiers and methods.
#[test]
#[ignore = "needs perf"]
fn own_time_of_a_compiler_is_that_of_perf() {
    let compiler = runtime::fetch(&Pinned::ROSLYN).unwrap().with_file_name("");
    let mut program = Scenario::at(profilee("Compiler")).arg(&compiler.display().to_string());
    for name in [
        "Small", "Stress", "Rewrites", "Objects", "Members", "Hot", "Basics",
    ] {
        let source = profilee(name).with_extension("cs");
        program = program.arg(&source.display().to_string());
    }
    for runtime in matrix().iter().filter(|runtime| runtime.major == 8) {
        let what = format!("on {}, a compiler", runtime.name);
        assert!(agrees(&what, runtime, &program), "{what}");
    }
}

/// A generator of code, which brings a server, reads C# and writes much text.
#[test]
#[ignore = "needs perf"]
fn own_time_of_a_generator_is_that_of_perf() {
    let Some(generator) = fetched(&GENERATOR) else {
        return;
    };
    let folder = Folder::new();
    let input = configure_generator(&folder, 400);
    let program = Scenario::at(generator)
        .arg("--standalone")
        .arg(&input.display().to_string());
    for runtime in matrix().iter().filter(|runtime| runtime.major == 9) {
        let what = format!("on {}, a generator", runtime.name);
        assert!(agrees(&what, runtime, &program), "{what}");
    }
}
