//! Each pair of examples, run as one profiler, has the results of both alone.
//!
//! A run takes some pairs; `PAIRS=all` takes all, and `PAIRS=call_counter` those with one whose name contains this.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::Mutex;

use clr_profiler_tests::{Folder, Runtime, Scenario, runtimes, seed};

/// An example: its class id, its settings, and the part of its output that must be the same in each run.
struct Tool {
    name: &'static str,
    clsid: &'static str,
    /// Its variables after the prefix; `*` is the folder of the run.
    settings: &'static [(&'static str, &'static str)],
    output: &'static str,
    facts: fn(&str) -> Vec<String>,
    /// Whether the other profiler of a pair may add facts.
    may_have_more: bool,
}

const TOOLS: [Tool; 11] = [
    Tool {
        name: "alloc_profiler",
        clsid: "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68",
        settings: &[("OUTPUT", "*/allocations.txt")],
        output: "allocations.txt",
        facts: types,
        may_have_more: false,
    },
    Tool {
        name: "call_counter",
        clsid: "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57",
        settings: &[
            ("OUTPUT", "*/counts.txt"),
            ("METHODS", "Watched.Counted.**"),
        ],
        output: "counts.txt",
        facts: |text| rows(text, "Watched.Counted.", |words| [words[0], words[3], ""]),
        may_have_more: false,
    },
    Tool {
        name: "cpu_sampler",
        clsid: "B859E288-AEB7-4E25-98DD-4D6A1B242B70",
        settings: &[("OUTPUT", "*/cpu.txt")],
        output: "cpu.txt",
        facts: |text| seen(text, " samples; the program was stopped "),
        may_have_more: false,
    },
    Tool {
        name: "exception_logger",
        clsid: "282F8859-F66D-4168-A257-F3B6BF218ABF",
        settings: &[("OUTPUT", "*/exceptions.txt"), ("FILTER", "Watched.")],
        output: "exceptions.txt",
        facts: exceptions,
        may_have_more: false,
    },
    Tool {
        name: "gc_monitor",
        clsid: "0FC6B97D-3335-4EF1-B21E-308F717146F4",
        settings: &[("OUTPUT", "*/gc.txt")],
        output: "gc.txt",
        facts: |text| seen(text, "; largest heap "),
        may_have_more: false,
    },
    Tool {
        name: "heap_snapshot",
        clsid: "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42",
        settings: &[("OUTPUT", "*/heap.txt")],
        output: "heap.txt",
        facts: |text| {
            rows(text, "Watched.Lasting", |words| {
                [words[0], words[1], words[3]]
            })
        },
        may_have_more: false,
    },
    Tool {
        name: "hot_patch",
        clsid: "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46",
        settings: &[
            ("OUTPUT", "*/hot.txt"),
            ("CONTROL", "*/control"),
            ("METHODS", "Watched.Failures.Through"),
        ],
        output: "hot.txt",
        facts: |text| seen(text, "Watched.Failures.Through(int)"),
        may_have_more: false,
    },
    Tool {
        name: "jit_logger",
        clsid: "DF63A541-5A33-4611-8829-F4E495985EE3",
        settings: &[("OUTPUT", "*/jit.txt")],
        output: "jit.txt",
        facts: compiled,
        // A method that is otherwise inlined.
        may_have_more: true,
    },
    Tool {
        name: "method_logger",
        clsid: "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF",
        settings: &[("OUTPUT", "*/calls.txt"), ("METHODS", "Watched.Counted.**")],
        output: "calls.txt",
        facts: |text| lines(text, |line| line.contains("Watched.Counted.")),
        may_have_more: false,
    },
    Tool {
        name: "method_tracer",
        clsid: "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48",
        settings: &[
            ("OUTPUT", "*/trace.json"),
            ("SUMMARY", "*/summary.txt"),
            ("METHODS", "Watched.Counted.**"),
            // Without a limit: on a busy machine the budget would take spans from methods, now in one run, now in the other.
            ("BUDGET", "100"),
        ],
        output: "summary.txt",
        facts: |text| {
            rows(text, "Watched.Counted.", |words| {
                [words[0], words[1], words[5]]
            })
        },
        may_have_more: false,
    },
    Tool {
        name: "return_inspector",
        clsid: "A8656E35-9A04-449E-B8EA-C9B8FBA40D52",
        settings: &[
            ("OUTPUT", "*/returns.txt"),
            ("METHODS", "Watched.Counted.**"),
        ],
        output: "returns.txt",
        facts: |text| lines(text, |line| line.starts_with("Watched.Counted.")),
        may_have_more: false,
    },
];

/// These words of each row of a table that names this, sorted.
fn rows(text: &str, name: &str, words: for<'a> fn(&[&'a str]) -> [&'a str; 3]) -> Vec<String> {
    let rows = text.lines().filter(|line| line.contains(name));
    let words = rows.map(|row| {
        let row: Vec<&str> = row.split_whitespace().collect();
        words(&row).join(" ")
    });
    sorted(words.collect())
}

/// Each line of which this is true, with the number of times that it is there.
fn lines(text: &str, is_one: fn(&str) -> bool) -> Vec<String> {
    let mut counts = BTreeMap::<&str, u32>::new();
    for line in text.lines().map(str::trim).filter(|line| is_one(line)) {
        *counts.entry(line).or_default() += 1;
    }
    let counts = counts.into_iter();
    counts
        .map(|(line, count)| format!("{count} {line}"))
        .collect()
}

/// The methods that are compiled, by whatever request: a ReJIT may come before the first call.
fn compiled(text: &str) -> Vec<String> {
    let methods = text.lines().filter_map(|line| {
        let (_, method) = line.strip_prefix('[')?.split_once("] ")?;
        method.starts_with("Watched.").then(|| method.to_owned())
    });
    let mut methods = sorted(methods.collect());
    methods.dedup();
    methods
}

/// The rows of the table of types: objects, bytes, name.
fn types(text: &str) -> Vec<String> {
    let types = text.split("allocated by").next().unwrap_or_default();
    rows(types, "Watched.", |words| {
        [words[0], words[1], words[words.len() - 1]]
    })
}

/// Whether a line has this in it.
fn seen(text: &str, part: &str) -> Vec<String> {
    let seen = text.contains(part).then(|| part.to_owned());
    seen.into_iter().collect()
}

/// The rows of the table at the end: how many were thrown and caught.
fn exceptions(text: &str) -> Vec<String> {
    let table = text.lines().skip_while(|line| !line.contains("a second"));
    let rows = table.filter(|line| line.contains("Watched."));
    let words = rows.map(|row| {
        let row: Vec<&str> = row.split_whitespace().collect();
        format!("{} {} {}", row[0], row[1], row[row.len() - 1])
    });
    sorted(words.collect())
}

fn sorted(mut facts: Vec<String>) -> Vec<String> {
    facts.sort();
    facts
}

/// The facts of these tools from one run of the program under this profiler.
fn run(runtime: &Runtime, profiler: &str, tools: &[&Tool]) -> Vec<Vec<String>> {
    let folder = Folder::new();
    let path = folder.path("");
    let mut scenario = Scenario::new("Watched")
        .arg("mixed")
        .library("pairs")
        .profiler(profiler);
    for tool in tools {
        for (name, value) in tool.settings {
            let name = format!("{}_{name}", tool.name.to_uppercase());
            let folder = path.to_str().expect("it is UTF-8").trim_end_matches('/');
            scenario = scenario.env(&name, &value.replace('*', folder));
        }
    }
    // Their stars are no folder.
    for tool in tools {
        for (_, patterns) in tool.settings.iter().filter(|(name, _)| *name == "METHODS") {
            let name = format!("{}_METHODS", tool.name.to_uppercase());
            scenario = scenario.env(&name, patterns);
        }
    }
    let plain = scenario.run_plain(runtime);
    let profiled = scenario.run_on(runtime);
    assert_eq!(
        plain.stdout, profiled.stdout,
        "{profiler}: {}",
        profiled.stderr
    );
    assert_eq!(
        plain.status, profiled.status,
        "{profiler}: {}",
        profiled.stderr
    );
    assert_eq!(profiled.log, "", "{profiler}");
    let facts = tools.iter().map(|tool| {
        let text = fs::read_to_string(folder.path(tool.output));
        let text = text.unwrap_or_else(|error| panic!("{profiler}, {}: {error}", tool.output));
        let facts = (tool.facts)(&text);
        assert!(!facts.is_empty(), "{profiler}: {text}");
        facts
    });
    facts.collect()
}

/// The pairs that this run takes.
fn pairs() -> Vec<(&'static Tool, &'static Tool)> {
    let mut all = Vec::new();
    for (number, one) in TOOLS.iter().enumerate() {
        all.extend(TOOLS[number + 1..].iter().map(|other| (one, other)));
    }
    match std::env::var("PAIRS").as_deref() {
        Ok("all") => {}
        Ok(name) => all.retain(|(one, other)| one.name.contains(name) || other.name.contains(name)),
        Err(_) => {
            let first = seed() % all.len();
            // Neighbours share a tool, so that fewer are run alone.
            all = all.iter().cycle().skip(first).take(4).copied().collect();
        }
    }
    all
}

/// Facts by the names of a runtime and a tool.
type Facts = HashMap<(String, &'static str), Vec<String>>;

/// The facts of tools alone.
static ALONE: Mutex<Option<Facts>> = Mutex::new(None);

fn alone(runtime: &Runtime, tool: &'static Tool) -> Vec<String> {
    let mut known = ALONE.lock().unwrap_or_else(|broken| broken.into_inner());
    let known = known.get_or_insert_default();
    let facts = known
        .entry((runtime.name.to_string(), tool.name))
        .or_insert_with(|| run(runtime, tool.clsid, &[tool]).remove(0));
    facts.clone()
}

#[test]
fn each_pair_of_examples_gives_what_each_gives_alone() {
    for runtime in runtimes() {
        for (one, other) in pairs() {
            let name = format!("{}+{}", one.name, other.name);
            println!("{name} on {}", runtime.name);
            let together = run(runtime, &name, &[one, other]);
            for (tool, facts) in [one, other].into_iter().zip(together) {
                let alone = alone(runtime, tool);
                if tool.may_have_more {
                    let has = |fact: &String| facts.contains(fact);
                    assert!(alone.iter().all(has), "{name}: {alone:#?} {facts:#?}");
                } else {
                    assert_eq!(alone, facts, "{name} on {}: {}", runtime.name, tool.name);
                }
            }
        }
    }
}
