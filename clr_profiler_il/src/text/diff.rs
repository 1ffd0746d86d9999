use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use super::print::{Naming, PositionNames, Printer};
use crate::body::{Layout, MethodBody};
use crate::code::{Clause, END, UNPLACED};
use crate::instruction::{Instruction, Label};
use crate::symbol::Names;

/// Shows the effect of a rewrite on a body: kept lines start with ` `, removed ones with `-`, added
/// ones with `+`.
///
/// `after` is an edited copy of `before`. An instruction that is in both keeps its label of
/// `before`, wherever it is now, and so do branches to it; lengthened branches are not shown. New
/// instructions get labels of their own if they are targets.
///
/// ```
/// use clr_profiler_il::body::MethodBody;
/// use clr_profiler_il::fragment::Fragment;
/// use clr_profiler_il::text::diff;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let before: MethodBody = "
///         ldarg.0
///         brtrue  out
///         nop
///   out:  ret
/// "
/// .parse()?;
/// let mut after = before.clone();
/// after.prologue(Fragment::new().ldc_i4(1).pop())?;
/// after.before_ret(Fragment::new().ldc_i4(2).pop())?;
/// assert_eq!(
///     diff(&before, &after).to_string(),
///     "\
/// - .maxstack 8
/// + .maxstack 9
/// +           ldc.i4.1
/// +           pop
///   IL_0000:  ldarg.0
/// - IL_0001:  brtrue     IL_0004
/// + IL_0001:  brtrue     NEW_1
///   IL_0003:  nop
/// + NEW_1:    ldc.i4.2
/// +           pop
///   IL_0004:  ret
/// "
/// );
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn diff<'a>(before: &'a MethodBody, after: &'a MethodBody) -> BodyDiff<'a> {
    BodyDiff {
        before,
        after,
        context: None,
        naming: Naming(None),
    }
}

/// The difference between two bodies, for printing; created by [`diff`].
#[derive(Clone, Copy)]
pub struct BodyDiff<'a> {
    before: &'a MethodBody,
    after: &'a MethodBody,
    context: Option<usize>,
    naming: Naming<'a>,
}

impl fmt::Debug for BodyDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyDiff")
            .field("before", self.before)
            .field("after", self.after)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl<'a> BodyDiff<'a> {
    /// Prints names instead of tokens.
    #[must_use]
    pub const fn named(mut self, names: &'a dyn Names) -> Self {
        self.naming = Naming(Some(names));
        self
    }

    /// Omits unchanged lines, except this many before and after each change.
    #[must_use]
    pub const fn context(mut self, lines: usize) -> Self {
        self.context = Some(lines);
        self
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let lines = lines(self.before, self.after, self.naming);
        lines.iter().all(|line| line.mark == ' ')
    }
}

impl fmt::Display for BodyDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = lines(self.before, self.after, self.naming);
        let shown = self.context.map(|context| near_changes(&lines, context));
        let mut gap = false;
        for (index, Line { mark, text }) in lines.iter().enumerate() {
            let shown = shown
                .as_ref()
                .is_none_or(|shown| shown.get(index) == Some(&true));
            if shown {
                writeln!(f, "{mark} {text}")?;
            } else if !gap {
                writeln!(f, "  ...")?;
            }
            gap = !shown;
        }
        Ok(())
    }
}

struct Line {
    mark: char,
    text: String,
}

/// Marks the lines within a distance of a changed line.
fn near_changes(lines: &[Line], context: usize) -> Vec<bool> {
    let mut near = vec![false; lines.len()];
    for forward in [true, false] {
        let mut left = 0;
        for step in 0..lines.len() {
            let index = if forward {
                step
            } else {
                lines.len() - 1 - step
            };
            match lines.get(index) {
                Some(line) if line.mark != ' ' => left = context.saturating_add(1),
                _ => {}
            }
            if left > 0 {
                left -= 1;
                if let Some(near) = near.get_mut(index) {
                    *near = true;
                }
            }
        }
    }
    near
}

/// Identifies an instruction across both bodies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    /// A decoded instruction, by its offset.
    Offset(u32),
    /// An inserted instruction, by its id.
    Id(u32),
}

fn identity(instruction: &Instruction<'_>) -> Identity {
    match instruction.original_offset() {
        Some(offset) => Identity::Offset(offset),
        None => Identity::Id(instruction.id.0),
    }
}

/// A line that was not compared yet.
struct Item<K> {
    key: K,
    text: String,
}

/// Compares items with equal keys by their text; keeps the order of both lists.
fn align<K: Copy + Eq + Hash>(before: Vec<Item<K>>, after: Vec<Item<K>>, out: &mut Vec<Line>) {
    let mut indexes: HashMap<K, Vec<usize>> = HashMap::new();
    for (index, item) in after.iter().enumerate() {
        indexes.entry(item.key).or_default().push(index);
    }
    let mut after = after.into_iter();
    let mut next = 0;
    let mut line = |mark, text| out.push(Line { mark, text });
    for item in before {
        let index = indexes.get(&item.key).and_then(|indexes| {
            let first = indexes.partition_point(|&index| index < next);
            indexes.get(first).copied()
        });
        let Some(index) = index else {
            line('-', item.text);
            continue;
        };
        for new in after.by_ref().take(index - next) {
            line('+', new.text);
        }
        next = index + 1;
        match after.next() {
            Some(same) if same.text == item.text => line(' ', same.text),
            other => {
                line('-', item.text);
                if let Some(other) = other {
                    line('+', other.text);
                }
            }
        }
    }
    for new in after {
        line('+', new.text);
    }
}

/// The names of labels in both bodies, by node.
struct Labels {
    before: HashMap<u32, String>,
    after: HashMap<u32, String>,
}

impl Labels {
    fn new(before: &MethodBody, after: &MethodBody) -> Self {
        let mut layout = Layout::default();
        layout.compute(&before.code);
        let mut old = HashMap::new();
        let mut by_identity = HashMap::new();
        for instruction in before.instructions() {
            let node = instruction.id.0;
            let name = format!("IL_{:04x}", layout.offset(&before.code, node));
            by_identity.insert(identity(&instruction), name.clone());
            old.insert(node, name);
        }
        let end = format!("IL_{:04x}", layout.offset(&before.code, END));
        old.insert(END, end.clone());
        let mut new = HashMap::from([(END, end)]);
        let targets = targets(after);
        let mut count = 0;
        for instruction in after.instructions() {
            let node = instruction.id.0;
            if let Some(name) = by_identity.remove(&identity(&instruction)) {
                new.insert(node, name);
            } else if targets.contains(&node) {
                count += 1;
                new.insert(node, format!("NEW_{count}"));
            }
        }
        Self {
            before: old,
            after: new,
        }
    }
}

/// The nodes that are targets of branches or bounds of regions.
fn targets(body: &MethodBody) -> HashSet<u32> {
    let branches = body.instructions().flat_map(|one| one.targets());
    let bounds = body.code.clauses.iter().flat_map(Clause::bounds);
    branches
        .chain(bounds)
        .map(|label: Label| body.code.node_of(label))
        .filter(|&node| node != UNPLACED)
        .collect()
}

/// The instructions, and a line for the end if it is a target.
fn instructions(
    body: &MethodBody,
    names: &HashMap<u32, String>,
    naming: Naming<'_>,
) -> Vec<Item<Identity>> {
    let printer = Printer::new(&body.code, PositionNames::Names(names), naming);
    let label = |node: u32| match names.get(&node) {
        Some(name) => format!("{name}:"),
        None => String::new(),
    };
    let item = |instruction: Instruction<'_>| {
        let mut text = format!("{:<10}", label(instruction.id.0));
        // Writing to a `String` cannot fail.
        let _ = printer.instruction(&mut text, &instruction, instruction.opcode());
        Item {
            key: identity(&instruction),
            text,
        }
    };
    let mut items: Vec<_> = body.instructions().map(item).collect();
    if targets(body).contains(&END) {
        items.push(Item {
            key: Identity::Id(END),
            text: label(END),
        });
    }
    items
}

fn clauses(body: &MethodBody, names: &HashMap<u32, String>, naming: Naming<'_>) -> Vec<String> {
    let printer = Printer::new(&body.code, PositionNames::Names(names), naming);
    let text = |clause| {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = printer.clause(&mut text, clause);
        text
    };
    body.code.clauses.iter().map(text).collect()
}

/// Compares lines by themselves as keys.
fn align_lines(before: &[String], after: &[String], out: &mut Vec<Line>) {
    fn items(lines: &[String]) -> Vec<Item<&str>> {
        lines
            .iter()
            .map(|line| Item {
                key: line.as_str(),
                text: line.clone(),
            })
            .collect()
    }
    align(items(before), items(after), out);
}

fn lines(before: &MethodBody, after: &MethodBody, naming: Naming<'_>) -> Vec<Line> {
    let mut out = Vec::new();
    let (old, new) = (before.header_lines(naming), after.header_lines(naming));
    for (old, new) in old.iter().zip(&new) {
        align_lines(old, new, &mut out);
    }
    let names = Labels::new(before, after);
    align(
        instructions(before, &names.before, naming),
        instructions(after, &names.after, naming),
        &mut out,
    );
    align_lines(
        &clauses(before, &names.before, naming),
        &clauses(after, &names.after, naming),
        &mut out,
    );
    out
}
