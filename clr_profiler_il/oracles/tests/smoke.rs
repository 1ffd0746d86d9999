//! Runs every oracle with its seeds and their variations.

use std::panic::{AssertUnwindSafe, catch_unwind};

use il_oracles::random::Random;
use il_oracles::{ORACLES, seeds};

/// The number of variations for each oracle, unless set by `IL_ORACLE_RUNS`.
const RUNS: usize = 3000;

fn run(name: &str, oracle: il_oracles::Oracle, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| oracle(input))) {
        eprintln!("{name} of {input:02x?}");
        std::panic::resume_unwind(panic);
    }
}

fn smoke(name: &str) {
    let (_, oracle) = ORACLES.iter().find(|(other, _)| *other == name).unwrap();
    let seeds = seeds::of(name);
    for seed in &seeds {
        run(name, *oracle, seed);
    }
    let runs = std::env::var("IL_ORACLE_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut random = Random::new(runs as u64);
    let mut pool = seeds;
    for _ in 0..runs {
        let [one, other] = [random.below(pool.len()), random.below(pool.len())];
        let input = match random.below(8) {
            0 => {
                let length = random.below(80);
                random.bytes(length)
            }
            _ => random.vary(&pool[one], &pool[other]),
        };
        run(name, *oracle, &input);
        // Variations of variations.
        if pool.len() < 400 && input.len() < 1000 {
            pool.push(input);
        } else if input.len() < 1000 {
            pool[one] = input;
        }
    }
}

/// Inputs that a fuzzer found; the name of a file starts with that of its oracle.
#[test]
fn found_inputs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/found");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let (name, _) = file.split_once('-').unwrap();
        let (_, oracle) = ORACLES.iter().find(|(other, _)| *other == name).unwrap();
        run(name, *oracle, &std::fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn decode() {
    smoke("decode");
}

#[test]
fn round_trip() {
    smoke("round_trip");
}

#[test]
fn edit() {
    smoke("edit");
}

#[test]
fn signature() {
    smoke("signature");
}

#[test]
fn text() {
    smoke("text");
}

#[test]
fn attribute() {
    smoke("attribute");
}

#[test]
fn pattern() {
    smoke("pattern");
}
