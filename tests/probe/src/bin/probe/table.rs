//! The outcomes of all processes, as a document and as a list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use probe::plan::Ids;

use crate::find::{Answer, Found};
use crate::plans::Plan;

/// The outcome of one group of calls.
pub(crate) struct Entry {
    pub(crate) runtime: u32,
    pub(crate) plan: Plan,
    pub(crate) found: Found,
}

#[derive(Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
}

/// A call, a moment, ids, and how the program ended.
type Place<'a> = (&'a str, &'a str, Ids, &'a str);

impl Table {
    pub(crate) fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(crate) fn has_crashes(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| !entry.found.crashes.is_empty())
    }

    /// Each crash with the runtimes that it was seen on.
    fn crashes(&self) -> BTreeMap<Place<'_>, BTreeSet<u32>> {
        let mut crashes: BTreeMap<Place<'_>, BTreeSet<u32>> = BTreeMap::new();
        for entry in &self.entries {
            for (call, how) in &entry.found.crashes {
                let place = (
                    call.as_str(),
                    entry.plan.moment.as_str(),
                    entry.plan.ids,
                    how.as_str(),
                );
                crashes.entry(place).or_default().insert(entry.runtime);
            }
        }
        crashes
    }

    /// Calls that succeeded for unloaded things, with the runtimes.
    fn gone(&self) -> BTreeMap<&str, BTreeSet<u32>> {
        let mut gone: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for entry in &self.entries {
            for call in &entry.found.gone {
                gone.entry(call).or_default().insert(entry.runtime);
            }
        }
        gone
    }

    /// One line for each failure.
    pub(crate) fn list(&self) -> String {
        let mut list = String::new();
        for ((call, moment, ids, how), runtimes) in self.crashes() {
            let _ = writeln!(
                list,
                "{call} | {moment} | {} | {} | {how}",
                ids.name(),
                joined(&runtimes)
            );
        }
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.found.without.is_some())
        {
            let how = entry.found.without.as_deref().unwrap_or_default();
            let _ = writeln!(
                list,
                "(no call) | {} | {} | {} | {how}",
                entry.plan.moment,
                entry.plan.ids.name(),
                entry.runtime
            );
        }
        for (call, runtimes) in self.gone() {
            let _ = writeln!(
                list,
                "{call} | answers Ok for a stale id | {}",
                joined(&runtimes)
            );
        }
        list
    }

    pub(crate) fn document(&self) -> String {
        let runtimes: BTreeSet<u32> = self.entries.iter().map(|entry| entry.runtime).collect();
        let mut text = String::from(INTRODUCTION);
        let _ = write!(text, "| moment | ids |");
        for runtime in &runtimes {
            let _ = write!(text, " .NET {runtime} |");
        }
        let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(runtimes.len()));
        let mut rows: BTreeMap<(&str, Ids), BTreeMap<u32, Counts>> = BTreeMap::new();
        for entry in &self.entries {
            let row = rows
                .entry((&entry.plan.moment, entry.plan.ids))
                .or_default();
            row.entry(entry.runtime).or_default().add(&entry.found);
        }
        for ((moment, ids), row) in &rows {
            let _ = write!(text, "| `{moment}` | {} |", ids.name());
            for runtime in &runtimes {
                let counts = row.get(runtime).map_or("–".to_owned(), Counts::text);
                let _ = write!(text, " {counts} |");
            }
            text.push('\n');
        }
        let crashes = self
            .crashes()
            .into_iter()
            .map(|((call, moment, ids, how), runtimes)| {
                let ids = ids.name();
                format!(
                    "`{call}` in `{moment}`, {ids} ids, on {}: {how}",
                    joined(&runtimes)
                )
            });
        section(&mut text, "Crashes", crashes);
        let gone = self.gone().into_iter();
        let gone = gone.map(|(call, runtimes)| format!("`{call}` on {}", joined(&runtimes)));
        section(&mut text, "Answers for stale ids", gone);
        let without = self.entries.iter().filter_map(|entry| {
            let how = entry.found.without.as_ref()?;
            Some(format!(
                "`{}` on {}: {how}",
                entry.plan.moment, entry.runtime
            ))
        });
        let without: BTreeSet<String> = without.collect();
        section(
            &mut text,
            "Moments that end the program without a call",
            without.into_iter(),
        );
        text
    }
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("- {line}\n")).collect();
    let lines = if lines.is_empty() {
        "None.\n".to_owned()
    } else {
        lines.concat()
    };
    let _ = write!(text, "\n## {title}\n\n{lines}");
}

fn joined(runtimes: &BTreeSet<u32>) -> String {
    let runtimes: Vec<String> = runtimes.iter().map(u32::to_string).collect();
    runtimes.join(", ")
}

/// The number of calls for each outcome.
#[derive(Default)]
struct Counts {
    batches: usize,
    ok: usize,
    error: usize,
    refused: usize,
    none: usize,
    crashed: usize,
}

impl Counts {
    fn add(&mut self, found: &Found) {
        self.batches = self.batches.max(found.batches);
        self.crashed += found.crashes.len();
        for answer in found.answers.values() {
            *match answer {
                Answer::Ok => &mut self.ok,
                Answer::Error => &mut self.error,
                Answer::Refused => &mut self.refused,
                Answer::None => &mut self.none,
            } += 1;
        }
    }

    fn text(&self) -> String {
        if self.batches == 0 && self.crashed == 0 {
            return "does not come".to_owned();
        }
        let crashed = if self.crashed == 0 {
            String::new()
        } else {
            format!(" **{}**", self.crashed)
        };
        format!("{} {} {}{crashed}", self.ok, self.error, self.refused)
    }
}

const INTRODUCTION: &str = "\
# The result of every safe call, everywhere

`.ci/full probes` writes this file. `tests/probe` is a profiler without `unsafe` that makes every safe call in every
callback and moment, with these ids:

- *own*: those that the callback passes, and if it passes none, kept valid ones;
- *elsewhere*: the same, at once on a thread of the profiler;
- *kept*: valid ones from before;
- *stale*: those of unloaded modules and their types, functions and assemblies, of threads that have
  ended, and of deleted providers; all of them at once, and each kind with valid ones of the other kinds;
- *foreign*: dynamic methods, arrays, modules without a file, tokens of another module;
- *moved*: objects after a call that may trigger a GC.

In a cell: how many calls succeeded, returned an error of the runtime, and were refused by the
library; in bold how many ended the program, hung it or changed its output. Calls that write metadata or IL change
the program, so only an end of the program during them counts. At moments that begin with `parts/`
components are attached, and their functions called.

";
