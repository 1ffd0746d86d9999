//! The report: methods with their counts, names that wait, and a history of commands.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::io;
use std::time::Instant;

use clr_profiler::Overhead;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOutcome, RejitState};

use crate::command::Command;
use crate::counts::Counted;

/// The limit of the history.
const HISTORY: usize = 100;

#[derive(Debug)]
pub(crate) struct Table {
    started: Instant,
    pub(crate) counted: Counted,
    /// The names by which methods were called that were never patched.
    named: HashMap<(ModuleId, MethodDef), String>,
    history: VecDeque<String>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            counted: Counted::default(),
            named: HashMap::new(),
            history: VecDeque::new(),
        }
    }

    /// Executes the commands; returns whether there were any.
    pub(crate) fn follow(&mut self, rejit: &Rejit, lines: io::Result<Vec<String>>) -> bool {
        let lines = match lines {
            Ok(lines) => lines,
            Err(error) => {
                self.say(&format!("the control file cannot be read: {error}"));
                return true;
            }
        };
        for line in &lines {
            match Command::parse(line) {
                Ok(Some(command)) => {
                    command.obey(rejit);
                    self.say(line.trim());
                }
                Ok(None) => {}
                Err(error) => self.say(&error.to_string()),
            }
        }
        !lines.is_empty()
    }

    fn say(&mut self, what: &str) {
        // If a file cannot be read, that does not change for a while.
        if self.history.back().is_some_and(|last| last.ends_with(what)) {
            return;
        }
        if self.history.len() >= HISTORY {
            self.history.pop_front();
        }
        let at = self.started.elapsed().as_secs_f64();
        self.history.push_back(format!("{at:>8.3} s  {what}"));
    }

    pub(crate) fn text(&mut self, rejit: &Rejit, overhead: &Overhead) -> String {
        let names = rejit.patterns();
        for named in &names {
            for place in &named.methods {
                let name = || named.pattern.to_string();
                self.named.entry(*place).or_insert_with(name);
            }
        }
        let outcomes = rejit.outcomes();
        let mut rows: Vec<_> = outcomes
            .iter()
            .map(|outcome| {
                let place = (outcome.module, outcome.method);
                let (calls, name) = match self.counted.get(place) {
                    Some((calls, name)) => (calls, name),
                    None => (0, self.named.get(&place).map_or("?", String::as_str)),
                };
                (calls, outcome, name)
            })
            .collect();
        rows.sort_by_key(|(calls, _, name)| (std::cmp::Reverse(*calls), *name));
        // Writing to a `String` cannot fail, hence `let _`.
        let mut text = format!("{:>12}  {:<28}  {:>5}  method\n", "calls", "state", "times");
        for (calls, outcome, name) in rows {
            let (state, times) = (state(outcome), outcome.requests);
            let _ = writeln!(text, "{calls:>12}  {state:<28}  {times:>5}  {name}");
        }
        for named in names.iter().filter(|named| named.methods.is_empty()) {
            let _ = writeln!(
                text,
                "{:>12}  {:<28}  {:>5}  {}",
                "-", "not seen yet", "-", named.pattern
            );
        }
        text.push('\n');
        for problem in outcomes.iter().filter_map(|one| one.problem.as_ref()) {
            let _ = writeln!(text, "{problem}");
        }
        let _ = writeln!(
            text,
            "{} methods compiled again because they had inlined one of these",
            rejit.inliners().len()
        );
        let _ = writeln!(text, "overhead: {overhead}");
        for line in &self.history {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

fn state(outcome: &RejitOutcome) -> String {
    match outcome.state {
        RejitState::Queued => "on, the runtime is to be told".to_owned(),
        RejitState::Requested => "on, not called since".to_owned(),
        RejitState::Compiling => "on, being compiled".to_owned(),
        RejitState::Compiled => "on".to_owned(),
        RejitState::Failed(_) if outcome.problem.is_some() => "failed, see below".to_owned(),
        RejitState::Failed(code) => format!("failed: {code}"),
        RejitState::Refused => "refused".to_owned(),
        RejitState::Reverted => "off".to_owned(),
        RejitState::NeverCalled => "off, was not called".to_owned(),
        other => format!("{other:?}"),
    }
}
