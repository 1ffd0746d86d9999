//! Compares the samples of the profiler with the figures of the program.

use std::env;

use clr_profiler_tests::{Finished, Runtime, Scenario, seed, ways};

use super::Truths;

/// The kinds of work, with the settings of the compiler under which each is done.
const WAYS: [(&str, Compiler); 12] = [
    ("loops", Compiler::Tiered),
    ("calls", Compiler::Optimizing),
    ("copies", Compiler::Tiered),
    ("locks", Compiler::Optimizing),
    ("allocations", Compiler::Tiered),
    ("natives", Compiler::Optimizing),
    ("exceptions", Compiler::Tiered),
    ("generics", Compiler::Optimizing),
    ("interfaces", Compiler::Tiered),
    ("delegates", Compiler::Quick),
    ("dictionaries", Compiler::Jit),
    ("strings", Compiler::Tiered),
];

/// The ways, or those that `TRUTH_WAYS` names, separated by commas.
pub(super) fn wanted() -> Vec<(&'static str, Compiler)> {
    let Ok(named) = env::var("TRUTH_WAYS") else {
        return ways(&WAYS);
    };
    let is_named = |(way, _): &(&str, Compiler)| named.split(',').any(|name| name == *way);
    WAYS.into_iter().filter(is_named).collect()
}

/// How methods are compiled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compiler {
    /// As by default.
    Tiered,
    /// Once, with optimization.
    Optimizing,
    /// Without optimization.
    Quick,
    /// Tiered, and no precompiled code is used.
    Jit,
}

/// The program with these settings.
pub(super) fn program(
    (way, compiler): (&str, Compiler),
    milliseconds: u32,
    seed: usize,
) -> Scenario {
    let (milliseconds, seed) = (milliseconds.to_string(), seed.to_string());
    let scenario = Scenario::new("Truths").args(&[way, &milliseconds, &seed]);
    let settings: &[(&str, &str)] = match compiler {
        Compiler::Tiered => &[],
        Compiler::Optimizing => &[("TieredCompilation", "0")],
        Compiler::Quick => &[("TC_CallCounting", "0"), ("TC_OnStackReplacement", "0")],
        Compiler::Jit => &[("ReadyToRun", "0")],
    };
    settings.iter().fold(scenario, |scenario, (name, value)| {
        let scenario = scenario.env(&format!("COMPlus_{name}"), value);
        scenario.env(&format!("DOTNET_{name}"), value)
    })
}

/// The nanoseconds and names in lines of this kind.
pub(super) fn times(log: &str, kind: &str) -> Vec<(String, u64)> {
    let lines = log.lines().filter_map(|line| line.strip_prefix(kind));
    let parts = lines.filter_map(|line| line.strip_prefix(' ')?.split_once(' '));
    let times = parts.map(|(time, name)| (name.to_owned(), time.parse().unwrap()));
    times.collect()
}

const PARTS: [&str; 3] = ["Seventy", "Twenty", "Ten"];

/// The processor time of the three parts, by the sampler and by the program, in shares that add up.
#[derive(Default)]
struct Shares {
    sampled: [f64; 3],
    spent: [f64; 3],
}

impl Shares {
    fn add(&mut self, finished: &Finished) {
        let whole = times(&finished.log, "whole");
        for (index, line) in finished.stdout.lines().enumerate() {
            self.spent[index] += line.parse::<f64>().unwrap();
            let name = format!("Truths.Program.{}(", PARTS[index]);
            let found = whole.iter().find(|(full, _)| full.starts_with(&name));
            self.sampled[index] += found.map_or(0.0, |(_, time)| *time as f64);
        }
    }

    fn shares(parts: [f64; 3]) -> [f64; 3] {
        let all: f64 = parts.iter().sum();
        parts.map(|part| part / all.max(1.0) * 100.0)
    }

    /// The largest difference, in points.
    fn error(&self) -> f64 {
        let (sampled, spent) = (Self::shares(self.sampled), Self::shares(self.spent));
        let errors = sampled
            .iter()
            .zip(spent)
            .map(|(sampled, spent)| (sampled - spent).abs());
        errors.fold(0.0, f64::max)
    }
}

/// Random errors of few samples average out with more of them; systematic errors remain.
pub(super) const RUNS: usize = 5;

fn agrees(runtime: &Runtime, way: (&str, Compiler)) -> bool {
    let mut shares = Shares::default();
    for run in 0..RUNS {
        let finished = program(way, 3000, (seed() + run) % 1_000_000)
            .profiled_by::<Truths>()
            .run_on(runtime);
        assert_eq!(finished.status.code(), Some(0), "{finished:?}");
        assert!(!finished.log.contains("failure"), "{}", finished.log);
        shares.add(&finished);
        println!(
            "on {}, {way:?}: {:.1} points, {:.1?} {:.1?}",
            runtime.name,
            shares.error(),
            Shares::shares(shares.sampled),
            Shares::shares(shares.spent)
        );
        if shares.error() < 3.0 {
            return true;
        }
    }
    false
}

#[test]
fn inclusive_time_is_what_the_program_spends() {
    for runtime in clr_profiler_tests::runtimes() {
        for way in wanted() {
            assert!(agrees(runtime, way), "{way:?} on {}", runtime.name);
        }
    }
}
