//! A sample of a matrix or a corpus, which a seed chooses.

use std::{env, thread};

/// A number for the calling test: another one for each test and each `SCENARIO_SEED`.
pub fn seed() -> usize {
    seed_of(thread::current().name().unwrap_or_default())
}

/// A number for all tests that share this name: another one for each name and each `SCENARIO_SEED`.
pub fn seed_of(name: &str) -> usize {
    let seed = env::var("SCENARIO_SEED").unwrap_or_default();
    // FNV-1a: the sample is the same with each compiler.
    let hash = seed
        .bytes()
        .chain(name.bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    (hash >> 32) as usize
}

/// The items of a corpus that the calling test checks: one of so many, or all with `CORPUS=all`.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    of: usize,
    first: usize,
}

impl Sample {
    /// One item of so many.
    pub fn one_of(of: usize) -> Self {
        match env::var("CORPUS") {
            Ok(corpus) if corpus == "all" => Self { of: 1, first: 0 },
            _ => Self {
                of,
                first: seed() % of,
            },
        }
    }

    /// Whether the item with this number is checked.
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.first
    }

    /// Whether all items are checked.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }
}
