use clr_profiler_tests::{Sample, Scenario};

use super::Scrambles;

/// The seeds of the edits, of which a test takes one. `SCRAMBLE_SEEDS` is the number of additional ones.
const SEEDS: [u64; 3] = [1, 2, 3];

fn seeds() -> Vec<u64> {
    let more = std::env::var("SCRAMBLE_SEEDS").map_or(0, |more| more.parse().unwrap());
    let others = (1000..).take(more);
    let sample = Sample::one_of(SEEDS.len());
    let seeds = SEEDS.into_iter().enumerate();
    let seeds = seeds.filter_map(|(number, seed)| sample.has(number).then_some(seed));
    seeds.chain(others).collect()
}

/// Runs a program with each seed and both with and without tiers, and asserts that at least `least`
/// methods are rewritten.
fn scrambled(program: &str, arguments: &[&str], least: usize) {
    let mut refusals = std::collections::BTreeSet::new();
    let (mut runs, mut all, mut edits, mut handlers) = (0, 0, 0, 0);
    for seed in seeds() {
        for tiers in ["0", "1"] {
            let mut scenario = Scenario::new(program)
                .env("SCRAMBLE", program)
                .env("SEED", &seed.to_string())
                .env("COMPlus_TieredCompilation", tiers)
                .env("DOTNET_TieredCompilation", tiers)
                .profiled_by::<Scrambles>();
            for argument in arguments {
                scenario = scenario.arg(argument);
            }
            let counts = std::cell::RefCell::new(Vec::new());
            let refused = std::cell::RefCell::new(Vec::new());
            scenario.compare(|plain, profiled| {
                let log = &profiled.log;
                assert_eq!(
                    profiled.output(),
                    plain.output(),
                    "seed {seed}, tiers {tiers}\n{log}"
                );
                let starting = |word: &str| -> Vec<String> {
                    let lines = log.lines().filter(|line| line.starts_with(word));
                    lines.map(str::to_owned).collect()
                };
                let number = |line: &String| -> usize {
                    let digits = line.rsplit(' ').next().unwrap();
                    digits.parse().unwrap()
                };
                let rewritten = starting("rewritten ").len();
                let edits: usize = starting("edits ").iter().map(number).sum();
                let handlers: usize = starting("handlers ").iter().map(number).sum();
                assert!(rewritten >= least, "{rewritten} of {least}\n{log}");
                assert!(edits >= 4 * rewritten, "{edits} edits\n{log}");
                if !starting("refused ").is_empty() {
                    println!("seed {seed}, tiers {tiers}\n{log}");
                }
                refused.borrow_mut().extend(starting("refused "));
                counts.borrow_mut().push((rewritten, edits, handlers));
            });
            for (rewritten, made, added) in counts.into_inner() {
                runs += 1;
                all += rewritten;
                edits += made;
                handlers += added;
            }
            refusals.extend(refused.into_inner());
        }
    }
    println!("{program}: {runs} runs, {all} methods, {edits} edits, {handlers} handlers");
    // Every method with code can be rewritten in such a way.
    assert!(refusals.is_empty(), "{refusals:#?}");
}

#[test]
fn checksums() {
    scrambled("Checksums", &[], 30);
}

#[test]
fn rewrites() {
    scrambled("Rewrites", &[], 20);
}

#[test]
fn basics() {
    scrambled("Basics", &[], 1);
}
