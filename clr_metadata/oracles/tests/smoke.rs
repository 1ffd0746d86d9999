//! Runs every oracle with parts of a real assembly and their variations.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clr_metadata::{Image, Metadata};
use il_oracles::random::Random;
use metadata_oracles::{ORACLES, Oracle, seeds};

/// The number of variations for each oracle, unless set by `METADATA_ORACLE_RUNS`.
const RUNS: usize = 1500;

const HOOK: &[u8] = include_bytes!("../../../clr_profiler_test/hook/StartupHook.dll");

const PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesDebug.pdb");

/// An assembly with an embedded PDB.
const WITH_PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesRelease.dll");

/// The metadata of the assembly.
fn metadata() -> &'static [u8] {
    Image::parse(HOOK).unwrap().metadata().unwrap().bytes()
}

fn seed(name: &str) -> Vec<u8> {
    match name {
        "root" => metadata().to_vec(),
        "tables" => seeds::tables(metadata()).unwrap().to_vec(),
        "image" => HOOK.to_vec(),
        "bundle" => seeds::bundle(b"abc"),
        "pdb" => PDB.to_vec(),
        "embedded_pdb" => WITH_PDB.to_vec(),
        _ => panic!("{name}"),
    }
}

fn run(name: &str, oracle: Oracle, run: usize, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| oracle(input))) {
        let path = std::env::temp_dir().join(format!("{name}-{run}"));
        std::fs::write(&path, input).unwrap();
        eprintln!("{name}, run {run}: the input is in {}", path.display());
        std::panic::resume_unwind(panic);
    }
}

fn smoke(name: &str) {
    let (_, oracle) = ORACLES.iter().find(|(other, _)| *other == name).unwrap();
    let seed = seed(name);
    run(name, *oracle, 0, &seed);
    let runs = std::env::var("METADATA_ORACLE_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut random = Random::new(runs as u64);
    for number in 1..=runs {
        let mut input = match random.below(8) {
            0 => seed[..random.below(seed.len())].to_vec(),
            _ => random.vary(&seed, &seed),
        };
        // Headers and tables are a small part of the whole: change them more often.
        for _ in 0..random.below(6) {
            let end = [64, 700, input.len()][random.below(3)].min(input.len());
            let at = random.below(end);
            if let Some(byte) = input.get_mut(at) {
                *byte = [0, 1, 0x7f, 0xff, random.next() as u8][random.below(5)];
            }
        }
        run(name, *oracle, number, &input);
    }
}

#[test]
fn the_seeds_are_intact() {
    assert!(Metadata::parse(metadata()).is_ok());
    let mut errors = Vec::new();
    let assembly = clr_metadata::Assembly::parse(HOOK).unwrap();
    let counts =
        metadata_oracles::visit(&assembly.metadata, Some(&assembly), &mut |token, error| {
            errors.push((token, error));
        });
    assert_eq!(errors, []);
    assert!(
        counts.bodies > 3 && counts.attributes > 3 && counts.members > 5,
        "{counts:?}"
    );
    assert_eq!(
        clr_metadata::Bundle::find(&seeds::bundle(HOOK))
            .unwrap()
            .files()
            .count(),
        1
    );
}

#[test]
fn root() {
    smoke("root");
}

#[test]
fn tables_stream() {
    smoke("tables");
}

#[test]
fn image() {
    smoke("image");
}

#[test]
fn bundle() {
    smoke("bundle");
}

#[test]
fn every_prefix_and_every_broken_byte() {
    let (_, image) = ORACLES.iter().find(|(name, _)| *name == "image").unwrap();
    for length in (0..HOOK.len()).step_by(7) {
        image(&HOOK[..length]);
    }
    let mut bytes = HOOK.to_vec();
    for at in (0..bytes.len()).step_by(2) {
        let change = [0xff, 0x01, 0x80][at % 3];
        bytes[at] ^= change;
        image(&bytes);
        bytes[at] ^= change;
    }
}

#[test]
fn pdb() {
    let values = metadata_oracles::read_pdb(PDB);
    assert!(values > 800, "{values}");
    smoke("pdb");
}

#[test]
fn embedded_pdb() {
    let values = metadata_oracles::read_embedded_pdb(WITH_PDB);
    assert!(values > 800, "{values}");
    smoke("embedded_pdb");
}
