use std::collections::HashMap;

use clr_profiler_il::body::{HandlerKind, MethodBody};
use clr_profiler_il::edit::{InsertedRange, InsertionPoint, Labels, Side};
use clr_profiler_il::instruction::{InstructionId, Label, Position};

use super::code::Code;
use crate::listing::{Line, Listing};

/// A body as a list of lines. A position is the line that it precedes; `None` is the end.
#[derive(Debug)]
pub(crate) struct Model {
    lines: Vec<Entry>,
    labels: HashMap<Label, Option<InstructionId>>,
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
struct Entry {
    id: InstructionId,
    line: Line,
    targets: Vec<Label>,
}

#[derive(Clone, Debug, PartialEq)]
struct Clause {
    /// The bounds of try region and handler, and the start of a filter.
    bounds: [Option<InstructionId>; 4],
    filter: Option<Option<InstructionId>>,
}

fn line_of(position: Position) -> Option<InstructionId> {
    match position {
        Position::Before(id) => Some(id),
        Position::End => None,
    }
}

impl Model {
    pub(crate) fn of(body: &MethodBody) -> Self {
        let lines: Vec<_> = body
            .instructions()
            .map(|one| Entry {
                id: one.id(),
                line: Line::of(&one),
                targets: one.targets().collect(),
            })
            .collect();
        let labels = lines.iter().flat_map(|entry| &entry.targets);
        Self {
            labels: labels
                .filter_map(|&label| Some((label, line_of(body.position(label)?))))
                .collect(),
            clauses: clauses(body),
            lines,
        }
    }

    pub(crate) fn ids(&self) -> Vec<InstructionId> {
        self.lines.iter().map(|entry| entry.id).collect()
    }

    fn index(&self, at: Option<InstructionId>) -> usize {
        let found = self.lines.iter().position(|entry| Some(entry.id) == at);
        found.unwrap_or(self.lines.len())
    }

    pub(crate) fn at(&self, index: usize) -> Option<InstructionId> {
        self.lines.get(index).map(|entry| entry.id)
    }

    pub(crate) fn next(&self, id: InstructionId) -> Option<InstructionId> {
        self.at(self.index(Some(id)) + 1)
    }

    pub(crate) fn line(&self, id: InstructionId) -> &Line {
        &self.lines[self.index(Some(id))].line
    }

    /// Inserts new code before a line; `exit` is the body's label for the exit of the code.
    pub(crate) fn insert(
        &mut self,
        body: &MethodBody,
        at: InsertionPoint,
        code: &Code,
        inserted: Option<InsertedRange>,
        exit: Option<Label>,
    ) {
        let InsertionPoint { labels, side, .. } = at;
        let before = line_of(at.position);
        let count = code.fragment.instructions().count();
        let Some(inserted) = inserted else {
            assert_eq!(count, 0, "nothing was inserted");
            return;
        };
        let mut ids = body
            .instructions()
            .map(|one| one.id())
            .skip_while(|id| *id != inserted.first);
        let ids: Vec<_> = ids.by_ref().take(count).collect();
        assert_eq!(ids.last(), Some(&inserted.last));
        let first = ids.first().copied();
        // Labels at this position move to the new code or stay.
        if labels == Labels::Move {
            let here = self.labels.values_mut().filter(|line| **line == before);
            here.for_each(|line| *line = first);
        }
        for clause in &mut self.clauses {
            for (index, bound) in clause.bounds.iter_mut().enumerate() {
                let moves = match index {
                    0 | 2 => side == Side::WithNext,
                    _ => side != Side::WithPrevious,
                };
                if *bound == before && moves {
                    *bound = first;
                }
            }
            if let Some(filter) = &mut clause.filter
                && *filter == before
                && side == Side::WithNext
            {
                *filter = first;
            }
        }
        let mut entries = Vec::new();
        for (one, &id) in code.fragment.instructions().zip(&ids) {
            let copy = body.instruction(id).expect("an inserted instruction");
            assert_eq!(Line::of(&one), Line::of(&copy), "{body}");
            let targets: Vec<_> = copy.targets().collect();
            for (own, &label) in one.targets().zip(&targets) {
                if Some(own) == code.exit {
                    assert_eq!(Some(label), exit, "{body}");
                } else if let Some(&index) = code.positions.get(&own) {
                    let line = ids.get(index).copied().or(before);
                    self.labels.insert(label, line);
                } else {
                    // A label of a try block.
                    let position = body.position(label).expect("a position");
                    self.labels.insert(label, line_of(position));
                }
            }
            let line = Line::of(&one);
            entries.push(Entry { id, line, targets });
        }
        let index = self.index(before);
        self.lines.splice(index..index, entries);
        if body.clauses().count() > self.clauses.len() {
            self.take_clauses(body);
        }
    }

    pub(crate) fn remove(&mut self, id: InstructionId) {
        let next = self.next(id);
        self.lines.retain(|entry| entry.id != id);
        self.labels
            .values_mut()
            .chain(self.clauses.iter_mut().flat_map(|clause| {
                let filter = clause.filter.as_mut().into_iter();
                clause.bounds.iter_mut().chain(filter)
            }))
            .filter(|line| **line == Some(id))
            .for_each(|line| *line = next);
    }

    pub(crate) fn place_label(&mut self, label: Label, at: Option<InstructionId>) {
        self.labels.insert(label, at);
    }

    pub(crate) fn set_target(&mut self, id: InstructionId, index: usize, label: Label) {
        let at = self.index(Some(id));
        self.lines[at].targets[index] = label;
    }

    /// Adds clauses: the old ones are kept, in their order.
    pub(crate) fn take_clauses(&mut self, body: &MethodBody) {
        let new = clauses(body);
        let mut rest = new.iter();
        for clause in &self.clauses {
            assert!(rest.any(|one| one == clause), "{clause:?}\n{body}");
        }
        self.clauses = new;
    }

    /// Checks that the branches of the current lines have their old targets, whatever else the body
    /// contains.
    ///
    /// # Panics
    ///
    /// If a check fails.
    pub(crate) fn compare_targets(&self, body: &MethodBody) {
        for entry in &self.lines {
            let one = body.instruction(entry.id).expect("an old instruction");
            for label in one.targets() {
                let now = body.position(label).expect("a position");
                let was = self.labels[&label];
                // The end moves to new code that was inserted there.
                assert!(was.is_none() || line_of(now) == was, "{body}");
            }
        }
    }

    /// Checks that the body matches the lines.
    ///
    /// # Panics
    ///
    /// If a check fails.
    pub(crate) fn compare(&self, body: &MethodBody) {
        let listing = Listing::of(body);
        assert_eq!(listing.lines.len(), self.lines.len(), "{body}");
        let order: HashMap<_, _> = (0..)
            .zip(&self.lines)
            .map(|(at, one)| (one.id, at))
            .collect();
        let number = |line: Option<_>| line.map_or(order.len(), |id| order[&id]);
        for (entry, (line, targets)) in self.lines.iter().zip(&listing.lines) {
            assert_eq!(&entry.line, line, "{body}");
            let expected = entry.targets.iter();
            let expected: Vec<_> = expected.map(|label| number(self.labels[label])).collect();
            assert_eq!(&expected, targets, "{line:?}\n{body}");
        }
        assert_eq!(clauses(body), self.clauses, "{body}");
    }
}

fn clauses(body: &MethodBody) -> Vec<Clause> {
    let clauses = body.clauses().map(|clause| Clause {
        bounds: [
            clause.try_region.start,
            clause.try_region.end,
            clause.handler.start,
            clause.handler.end,
        ]
        .map(line_of),
        filter: match clause.kind {
            HandlerKind::Filter { start } => Some(line_of(start)),
            _ => None,
        },
    });
    clauses.collect()
}
