//! Which calls of a group endanger the program: those during which it ended, and those after which it did.

use std::collections::{BTreeMap, BTreeSet};

use probe::at::Kind;
use probe::calls::{self, Call, Effect};
use probe::moments::WITH_PARTS;
use probe::plan::Ids;

use crate::process::{End, Job, run};

/// What became of a call, the best of its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// There was no id for it.
    None,
    /// The library refused it.
    Refused,
    /// The runtime answered with an error.
    Error,
    Ok,
}

/// What one group of calls came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// How often the moment came to make calls.
    pub(crate) batches: usize,
    pub(crate) answers: BTreeMap<String, Answer>,
    /// Calls that ended the program, and how.
    pub(crate) crashes: BTreeMap<String, String>,
    /// Calls that answered with success for what was gone.
    pub(crate) gone: BTreeSet<String>,
    /// The program ends otherwise under the profiler without a call.
    pub(crate) without: Option<String>,
    /// What was written made another program of it.
    pub(crate) is_changed: bool,
}

/// The calls of a group. Of `Ids::Stale` each also with one kind of ids alone.
pub(crate) fn group(moment: &str, ids: Ids, effect: Effect) -> BTreeSet<String> {
    let is_of_parts = |call: &Call| {
        ["Rejit", "Sampler", "HeapR"]
            .iter()
            .any(|it| call.name.starts_with(it))
    };
    let chosen = calls::all().iter().filter(|call| {
        if moment.starts_with(WITH_PARTS) {
            return is_of_parts(call);
        }
        call.effect == effect && !is_of_parts(call)
    });
    let mut group = BTreeSet::new();
    for call in chosen {
        group.insert(call.name.to_owned());
        if ids == Ids::Stale {
            group.extend(
                Kind::ALL
                    .iter()
                    .map(|kind| format!("{} [{kind:?}]", call.name)),
            );
        }
    }
    group
}

/// How an end that is not the plain one is called.
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

/// The call that had begun and not ended.
fn pending(journal: &str) -> Option<String> {
    let last = journal
        .lines()
        .rfind(|line| line.starts_with("> ") || line.starts_with("= "))?;
    last.strip_prefix("> ").map(str::to_owned)
}

impl Found {
    /// Enters what the journal of a process says.
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

/// Makes the calls in one process, and again without those that end it, until it ends as it does without.
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
        if let Some(call) = pending(&left.journal).filter(|call| calls.contains(call)) {
            calls.remove(&call);
            // Whether it does so by itself.
            let alone = run(job, &BTreeSet::from([call.clone()]));
            let alone = told(&alone.end, plain).map_or("; not alone".to_owned(), |_| String::new());
            found.crashes.insert(call, how + &alone);
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

/// The call among these that alone makes the program end otherwise.
fn halve(job: Job<'_>, calls: &BTreeSet<String>, plain: &End) -> Vec<String> {
    let mut calls: Vec<String> = calls.iter().cloned().collect();
    while calls.len() > 1 {
        let second = calls.split_off(calls.len() / 2);
        if is_bad(job, &second, plain) {
            calls = second;
        } else if !is_bad(job, &calls, plain) {
            return Vec::new();
        }
    }
    calls
}

/// The calls among these that alone make the program end otherwise.
fn one_by_one(job: Job<'_>, calls: &BTreeSet<String>, plain: &End) -> Vec<String> {
    let mut calls: Vec<String> = calls.iter().cloned().collect();
    calls.retain(|call| is_bad(job, std::slice::from_ref(call), plain));
    calls
}
