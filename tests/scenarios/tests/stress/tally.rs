//! The results of the calls.

use std::collections::BTreeMap;
use std::time::Duration;

use clr_profiler::prelude::*;

use super::calls::CALLS;
use scenario_support::log;

/// How often each call of the table was right, or failed legally, and other results.
pub(super) struct Tally {
    right: Vec<u64>,
    failed: BTreeMap<(usize, Hresult), u64>,
    /// Results that were neither.
    wrong: BTreeMap<String, u64>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            right: vec![0; CALLS.len()],
            failed: BTreeMap::new(),
            wrong: BTreeMap::new(),
        }
    }

    pub(super) fn enter(&mut self, index: usize, outcome: Result<bool>) {
        let call = &CALLS[index];
        let wrong = match outcome {
            Ok(true) => {
                self.right[index] += 1;
                return;
            }
            Err(error) if call.legal.contains(&error.hresult()) => {
                *self.failed.entry((index, error.hresult())).or_default() += 1;
                return;
            }
            Ok(false) => format!("{}: contradicts the recorded facts", call.name),
            Err(error) => format!("{}: {error}", call.name),
        };
        *self.wrong.entry(wrong).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        for (right, more) in self.right.iter_mut().zip(other.right) {
            *right += more;
        }
        for (key, more) in other.failed {
            *self.failed.entry(key).or_default() += more;
        }
        for (wrong, more) in other.wrong {
            *self.wrong.entry(wrong).or_default() += more;
        }
    }

    /// Logs all of it.
    pub(super) fn log(&self, elapsed: Duration) {
        for (call, right) in CALLS.iter().zip(&self.right) {
            log::line(format_args!("right {right} {}", call.name));
        }
        for ((index, code), count) in &self.failed {
            log::line(format_args!(
                "failed {count} {} with {code}",
                CALLS[*index].name
            ));
        }
        for (wrong, count) in &self.wrong {
            log::line(format_args!("wrong {count} {wrong}"));
        }
        let calls = self.right.iter().sum::<u64>() + self.failed.values().sum::<u64>();
        log::line(format_args!("calls {calls} in {} ms", elapsed.as_millis()));
    }
}
