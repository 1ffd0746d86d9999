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

    /// Calls that succeeded for unloaded things, and the moments, with the runtimes.
    fn gone(&self) -> BTreeMap<(&str, &str), BTreeSet<u32>> {
        let mut gone: BTreeMap<(&str, &str), BTreeSet<u32>> = BTreeMap::new();
        for entry in &self.entries {
            for call in &entry.found.gone {
                let place = (call.as_str(), entry.plan.moment.as_str());
                gone.entry(place).or_default().insert(entry.runtime);
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
        for ((call, moment), runtimes) in self.gone() {
            let _ = writeln!(
                list,
                "{call} | {moment} | answers Ok for a stale id | {}",
                joined(&runtimes)
            );
        }
        list
    }

    pub(crate) fn document(&self) -> String {
        let runtimes: BTreeSet<u32> = self.entries.iter().map(|entry| entry.runtime).collect();
        let mut counts: BTreeMap<(&str, Ids, u32), Counts> = BTreeMap::new();
        for entry in &self.entries {
            let place = (&*entry.plan.moment, entry.plan.ids, entry.runtime);
            counts.entry(place).or_default().add(&entry.found);
        }
        let mut cells = Cells::default();
        for ((moment, ids, runtime), counts) in counts {
            let row = cells.entry((moment.to_owned(), ids)).or_default();
            row.insert(runtime, counts.text());
        }
        let mut text = beginning(&runtimes, &cells);
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
        let gone = gone.map(|((call, moment), runtimes)| {
            format!(
                "`{call}` in `{moment}`, stale ids, on {}",
                joined(&runtimes)
            )
        });
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

/// The cells of a document: by moment and ids, and by runtime.
type Cells = BTreeMap<(String, Ids), BTreeMap<u32, String>>;

/// The text before the sections.
fn beginning(runtimes: &BTreeSet<u32>, cells: &Cells) -> String {
    let mut text = String::from(INTRODUCTION);
    let _ = write!(text, "{COLUMNS}");
    for runtime in runtimes {
        let _ = write!(text, "{RUNTIME}{runtime} |");
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(runtimes.len()));
    for ((moment, ids), row) in cells {
        let _ = write!(text, "| `{moment}` | {} |", ids.name());
        for runtime in runtimes {
            let counts = row.get(runtime).map_or(NOT_PROBED, String::as_str);
            let _ = write!(text, " {counts} |");
        }
        text.push('\n');
    }
    text
}

const COLUMNS: &str = "| moment | ids |";
const RUNTIME: &str = " .NET ";
const NOT_PROBED: &str = "–";

/// A document in which those groups of calls that were probed again, on the runtimes on which they were, have their new outcomes.
pub(crate) fn merged(old: &str, new: &str) -> String {
    let (mut runtimes, mut cells) = cells_of(old);
    let (probed_on, probed) = cells_of(new);
    runtimes.extend(probed_on);
    for (place, row) in &probed {
        let kept = cells.entry(place.clone()).or_default();
        kept.extend(
            row.iter()
                .map(|(runtime, counts)| (*runtime, counts.clone())),
        );
    }
    let mut text = beginning(&runtimes, &cells);
    for title in new.lines().filter_map(|line| line.strip_prefix("## ")) {
        let kept = items(old, title).filter_map(|line| without_probed(line, &probed));
        let lines: BTreeSet<String> = kept.chain(items(new, title).map(str::to_owned)).collect();
        section(&mut text, title, lines.into_iter());
    }
    text
}

/// The runtimes of a document, and its cells.
fn cells_of(document: &str) -> (BTreeSet<u32>, Cells) {
    let header = document.lines().find_map(|line| line.strip_prefix(COLUMNS));
    let columns = header.unwrap_or_default().split('|');
    let columns = columns.filter_map(|column| column.strip_prefix(RUNTIME)?.trim().parse().ok());
    let runtimes: Vec<u32> = columns.collect();
    let mut cells = Cells::new();
    for line in document.lines().filter(|line| line.starts_with("| `")) {
        let mut row = line.split('|').skip(1).map(str::trim);
        let moment = row.next().unwrap_or_default().replace('`', "");
        let Some(ids) = row.next().and_then(Ids::named) else {
            continue;
        };
        let counts = runtimes.iter().copied().zip(row);
        let counts = counts.filter(|(_, counts)| *counts != NOT_PROBED);
        let counts = counts.map(|(runtime, counts)| (runtime, counts.to_owned()));
        cells.insert((moment, ids), counts.collect());
    }
    (runtimes.into_iter().collect(), cells)
}

/// An item of a section for the runtimes on which its calls were not probed again, if there are some.
fn without_probed(item: &str, probed: &Cells) -> Option<String> {
    let Some((moment, ids)) = place_of(item) else {
        return Some(item.to_owned());
    };
    let start = item.find("` on ").map(|at| at + 5);
    let Some(start) = item.find(" ids, on ").map(|at| at + 9).or(start) else {
        return Some(item.to_owned());
    };
    let (before, rest) = item.split_at(start);
    let (on, how) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
    let is_again = |runtime: &u32| {
        let mut rows = probed.iter();
        rows.any(|((again, kind), row)| {
            again == moment && ids.is_none_or(|ids| kind.name() == ids) && row.contains_key(runtime)
        })
    };
    let left = on.split(", ").filter_map(|runtime| runtime.parse().ok());
    let left: BTreeSet<u32> = left.filter(|runtime| !is_again(runtime)).collect();
    (!left.is_empty()).then(|| format!("{before}{}{how}", joined(&left)))
}

/// The items of a section.
fn items<'a>(document: &'a str, title: &str) -> impl Iterator<Item = &'a str> {
    let mut lines = document.lines();
    let title = format!("## {title}");
    let _ = lines.find(|line| *line == title);
    let lines = lines.take_while(|line| !line.starts_with("## "));
    lines.filter_map(|line| line.strip_prefix("- "))
}

/// The moment of an item, and its ids if it has some.
fn place_of(item: &str) -> Option<(&str, Option<&str>)> {
    match item.split_once("` in `") {
        Some((_, place)) => {
            let (moment, rest) = place.split_once('`')?;
            let ids = rest.strip_prefix(", ")?.split_once(" ids")?.0;
            Some((moment, Some(ids)))
        }
        None => Some((item.strip_prefix('`')?.split_once('`')?.0, None)),
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

`.ci/full probes` writes this file, each day the rows of a twelfth of the moments. `tests/probe` is a profiler without `unsafe` that makes every safe call in every
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A document with two runtimes.
    fn document(rows: &[&str], crashes: &[&str]) -> String {
        let mut text =
            format!("{INTRODUCTION}| moment | ids | .NET 8 | .NET 9 |\n|---|---|---|---|\n");
        text.push_str(&rows.concat());
        section(
            &mut text,
            "Crashes",
            crashes.iter().map(|it| (*it).to_owned()),
        );
        section(
            &mut text,
            "Moments that end the program without a call",
            std::iter::empty(),
        );
        text
    }

    #[test]
    fn groups_that_are_probed_again_replace_their_outcomes() {
        let old = document(
            &[
                "| `drop` | own | 1 0 **1** | 1 0 **1** |\n",
                "| `drop` | stale | 2 **1** | – |\n",
                "| `gc` | own | 3 | 4 |\n",
            ],
            &[
                "`call` in `drop`, own ids, on 8, 9: SIGSEGV",
                "`call` in `drop`, stale ids, on 8: SIGSEGV",
            ],
        );
        // On the first runtime alone.
        let new = document(&["| `drop` | own | 5 | – |\n"], &[]);
        let expected = document(
            &[
                "| `drop` | own | 5 | 1 0 **1** |\n",
                "| `drop` | stale | 2 **1** | – |\n",
                "| `gc` | own | 3 | 4 |\n",
            ],
            &[
                "`call` in `drop`, own ids, on 9: SIGSEGV",
                "`call` in `drop`, stale ids, on 8: SIGSEGV",
            ],
        );
        assert_eq!(merged(&old, &new), expected);
        assert_eq!(merged(&old, &old), old);
    }
}
