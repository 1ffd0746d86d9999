//! Finds the calls of a group that endanger the program: those during which it ended, and those after which it did.

use std::collections::{BTreeMap, BTreeSet};

use probe::calls::{self, Call, Effect};
use probe::moments::WITH_PARTS;
use probe::plan::Ids;

use crate::process::{End, Job, run};

/// The outcome of a call, the best of its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// There was no id for it.
    None,
    /// The library refused it.
    Refused,
    /// The runtime returned an error.
    Error,
    Ok,
}

/// The outcome of one group of calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// How often calls were made at the moment.
    pub(crate) batches: usize,
    pub(crate) answers: BTreeMap<String, Answer>,
    /// Calls that ended the program, and how.
    pub(crate) crashes: BTreeMap<String, String>,
    /// Calls that succeeded for unloaded things.
    pub(crate) gone: BTreeSet<String>,
    /// The program ends differently under the profiler without a call.
    pub(crate) without: Option<String>,
    /// Whether writes changed the program's behaviour.
    pub(crate) is_changed: bool,
}

/// The calls of a group.
pub(crate) fn group(moment: &str, effect: Effect) -> BTreeSet<String> {
    let is_of_parts = |call: &Call| {
        ["Rejit", "Instrumentation", "Sampler", "CpuSampler", "HeapR"]
            .iter()
            .any(|it| call.name.starts_with(it))
    };
    let chosen = calls::all().iter().filter(|call| {
        if moment.starts_with(WITH_PARTS) {
            return is_of_parts(call);
        }
        call.effect == effect && !is_of_parts(call)
    });
    chosen.map(|call| call.name.to_owned()).collect()
}

/// The description of an end that differs from the plain one.
fn told(end: &End, plain: &End) -> Option<String> {
    match end {
        end if end == plain => None,
        End::Signal(6) => Some("SIGABRT".to_owned()),
        End::Signal(11) => Some("SIGSEGV".to_owned()),
        End::Signal(signal) => Some(format!("signal {signal}")),
        End::Hang => Some("hangs".to_owned()),
        End::Exit(code, _) => match plain {
            End::Exit(expected, _) if code == expected => Some("other output".to_owned()),
            _ => Some(format!("exit code {code:?}")),
        },
    }
}

/// The call that had begun and not ended, and the kinds of its stale ids.
fn pending(journal: &str) -> Option<(String, Vec<&str>)> {
    let mut kinds = Vec::new();
    for line in journal.lines().rev() {
        if let Some(kind) = line.strip_prefix("? ") {
            kinds.push(kind);
        } else if let Some(call) = line.strip_prefix("> ") {
            return Some((call.to_owned(), kinds));
        } else if line.starts_with("= ") {
            return None;
        }
    }
    None
}

impl Found {
    /// Adds the outcome of other calls of the same group.
    pub(crate) fn add(&mut self, other: Self) {
        self.batches = self.batches.max(other.batches);
        self.answers.extend(other.answers);
        self.crashes.extend(other.crashes);
        self.gone.extend(other.gone);
        self.without = self.without.take().or(other.without);
        self.is_changed |= other.is_changed;
    }

    /// Reads the journal of a process.
    fn enter(&mut self, journal: &str) {
        let mut call = None;
        for line in journal.lines() {
            if let Some(name) = line.strip_prefix("> ") {
                call = Some(name);
            } else if let (Some(outcome), Some(name)) = (line.strip_prefix("= "), call) {
                let is_gone = outcome.ends_with(" gone");
                let answer = match outcome.split(' ').next() {
                    Some("ok") => Answer::Ok,
                    Some("error") => Answer::Error,
                    Some("none") => Answer::None,
                    Some("panic") => {
                        self.crashes.insert(name.to_owned(), "panics".to_owned());
                        Answer::Error
                    }
                    _ => Answer::Refused,
                };
                if is_gone && answer == Answer::Ok {
                    self.gone.insert(name.to_owned());
                }
                let known = self.answers.entry(name.to_owned()).or_insert(answer);
                *known = answer.max(*known);
            }
        }
        let batches = journal
            .lines()
            .filter(|line| line.starts_with("@ ") && *line != "@ done")
            .count();
        self.batches = self.batches.max(batches);
    }
}

/// Makes the calls in one process, and again without those that end it, until it ends as without the profiler.
pub(crate) fn find(
    job: Job<'_>,
    effect: Effect,
    mut calls: BTreeSet<String>,
    plain: &End,
) -> Found {
    let mut found = Found::default();
    loop {
        let left = run(job, &calls);
        found.enter(&left.journal);
        let Some(how) = told(&left.end, plain) else {
            break;
        };
        if let Some((call, kinds)) = pending(&left.journal) {
            calls.remove(&call);
            if !calls.insert(format!("-{call}")) {
                found
                    .crashes
                    .insert("(a call that was left out)".to_owned(), how);
                break;
            }
            if kinds.len() > 1 {
                calls.extend(kinds.iter().map(|kind| format!("{call} [{kind}]")));
            }
            // Other threads run at the same time, and can run into earlier writes: checks whether this call
            // alone does it.
            let is_sure = job.ids != Ids::Elsewhere
                && effect != Effect::Writes
                && left.end == End::Signal(11);
            let is_alone = is_sure || is_bad(job, std::slice::from_ref(&call), plain);
            if effect == Effect::Writes && !is_alone {
                // Another thread ran into earlier writes.
                found.is_changed = true;
                continue;
            }
            let alone = if is_alone { "" } else { "; not alone" };
            found.crashes.insert(call, how + alone);
            continue;
        }
        // It ended after calls, or without any.
        if effect == Effect::Writes {
            found.is_changed = true;
            break;
        }
        if let Some(how) = told(&run(job, &BTreeSet::new()).end, plain) {
            found.without = Some(how);
            break;
        }
        let culprits = match effect {
            Effect::Asks => halve(job, &calls, plain),
            _ => one_by_one(job, &calls, plain),
        };
        if culprits.is_empty() {
            found
                .crashes
                .insert("(several calls together)".to_owned(), how);
            break;
        }
        for culprit in culprits {
            calls.remove(&culprit);
            found.crashes.insert(culprit, format!("{how}, later"));
        }
    }
    found
}

fn is_bad(job: Job<'_>, calls: &[String], plain: &End) -> bool {
    told(&run(job, &calls.iter().cloned().collect()).end, plain).is_some()
}

/// The calls to make, and those that are left out.
fn parted(calls: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
    calls
        .iter()
        .cloned()
        .partition(|call| !call.starts_with('-'))
}

/// The one of these calls that alone changes the program's end.
fn halve(job: Job<'_>, calls: &BTreeSet<String>, plain: &End) -> Vec<String> {
    let (mut calls, left_out) = parted(calls);
    let is_bad = |calls: &[String]| is_bad(job, &[calls, &left_out].concat(), plain);
    while calls.len() > 1 {
        let second = calls.split_off(calls.len() / 2);
        if is_bad(&second) {
            calls = second;
        } else if !is_bad(&calls) {
            return Vec::new();
        }
    }
    calls
}

/// Those of these calls that each alone change the program's end.
fn one_by_one(job: Job<'_>, calls: &BTreeSet<String>, plain: &End) -> Vec<String> {
    let (mut calls, left_out) = parted(calls);
    calls.retain(|call| {
        is_bad(
            job,
            &[std::slice::from_ref(call), &left_out].concat(),
            plain,
        )
    });
    calls
}
