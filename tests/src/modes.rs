//! The modes in which runtimes compile code: with or without tiers, precompiled code and profiles.

use std::env;

use crate::{Scenario, seed};

/// A mode, with the variables that choose it.
type Mode = (&'static str, [(&'static str, &'static str); 3]);

const TIERED: &str = "COMPlus_TieredCompilation";
const PRECOMPILED: &str = "COMPlus_ReadyToRun";
const PROFILED: &str = "COMPlus_TieredPGO";

const UNTIERED: [Mode; 2] = [
    (
        "untiered, precompiled",
        [(TIERED, "0"), (PRECOMPILED, "1"), (PROFILED, "0")],
    ),
    (
        "untiered, not precompiled",
        [(TIERED, "0"), (PRECOMPILED, "0"), (PROFILED, "0")],
    ),
];

/// Only tiers have profiles.
const ALL_TIERED: [Mode; 4] = [
    (
        "tiered, precompiled",
        [(TIERED, "1"), (PRECOMPILED, "1"), (PROFILED, "0")],
    ),
    (
        "tiered, precompiled, with profiles",
        [(TIERED, "1"), (PRECOMPILED, "1"), (PROFILED, "1")],
    ),
    (
        "tiered, not precompiled",
        [(TIERED, "1"), (PRECOMPILED, "0"), (PROFILED, "0")],
    ),
    (
        "tiered, not precompiled, with profiles",
        [(TIERED, "1"), (PRECOMPILED, "0"), (PROFILED, "1")],
    ),
];

/// The modes of the calling test: one with tiers and one without, which its name and `SCENARIO_SEED` choose, or all with `MODES=all`.
fn modes() -> Vec<Mode> {
    let modes = env::var("MODES");
    if modes.as_deref() == Ok("all") {
        return [&UNTIERED[..], &ALL_TIERED[..]].concat();
    }
    let seed = seed();
    vec![
        UNTIERED[seed % UNTIERED.len()],
        ALL_TIERED[seed % ALL_TIERED.len()],
    ]
}

impl Scenario {
    /// This program in the modes of the calling test, which its output names.
    pub fn in_modes(&self) -> Vec<Self> {
        let scenarios = modes().into_iter().map(|(name, variables)| {
            let scenario = self.clone().mode(name);
            variables
                .into_iter()
                .fold(scenario, |scenario, (name, value)| {
                    scenario.env(name, value)
                })
        });
        scenarios.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_differ_and_a_sample_has_both_kinds() {
        let mut all = [&UNTIERED[..], &ALL_TIERED[..]].concat();
        let count = all.len();
        all.sort_unstable_by_key(|(_, variables)| *variables);
        all.dedup_by_key(|(_, variables)| *variables);
        assert_eq!(all.len(), count);
        let mode = |tiered| {
            modes()
                .iter()
                .any(|(_, [first, ..])| *first == (TIERED, tiered))
        };
        assert!(mode("0") && mode("1"));
    }
}
