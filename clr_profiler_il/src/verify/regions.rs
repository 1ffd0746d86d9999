use super::{Check, Rule};
use crate::code::{ClauseKind, END, Label};

/// No region: outside of all.
pub(super) const OUTSIDE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Try,
    Filter,
    /// The handler of a catch or filter.
    Catch,
    /// The handler of a finally or fault.
    Finally,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) kind: Kind,
    /// Ranks of the first instruction and of the one behind the last.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The first and last of the clauses that it belongs to.
    pub(super) first_clause: u32,
    pub(super) last_clause: u32,
    /// The region around it.
    pub(super) parent: u32,
}

/// All regions as a tree.
pub(super) struct Regions {
    pub(super) all: Vec<Region>,
    /// The innermost region of every instruction, by rank.
    pub(super) innermost: Vec<u32>,
}

impl Regions {
    /// Those of a body without clauses.
    pub(super) const NONE: Self = Self {
        all: Vec::new(),
        innermost: Vec::new(),
    };

    pub(super) fn get(&self, index: u32) -> Option<&Region> {
        self.all.get(index as usize)
    }

    pub(super) fn at(&self, rank: u32) -> u32 {
        self.innermost
            .get(rank as usize)
            .copied()
            .unwrap_or(OUTSIDE)
    }

    /// `None` if the regions are no tree; that was then reported.
    pub(super) fn collect(check: &mut Check<'_>) -> Option<Self> {
        // The end ranks behind all.
        let count = check.rank(END);
        let before = check.found.len();
        let mut all = Vec::with_capacity(check.body.code.clauses.len() * 2);
        for (index, clause) in check.body.code.clauses.iter().enumerate() {
            let place = |label: Label| check.body.code.place(label);
            let mut add = |kind, start: Label, end: Label| {
                let region = Region {
                    kind,
                    start: check.rank(place(start)),
                    end: check.rank(place(end)),
                    first_clause: index as u32,
                    last_clause: index as u32,
                    parent: OUTSIDE,
                };
                all.push(region);
                region.start < region.end
            };
            let handler = match clause.kind {
                ClauseKind::Catch | ClauseKind::Filter => Kind::Catch,
                ClauseKind::Finally | ClauseKind::Fault => Kind::Finally,
            };
            let mut full = add(Kind::Try, clause.try_start, clause.try_end);
            full &= add(handler, clause.handler_start, clause.handler_end);
            let filter = clause.kind != ClauseKind::Filter
                || add(Kind::Filter, clause.filter, clause.handler_start);
            let at = place(clause.handler_start);
            if !full {
                check.blame_clause(index, at, Rule::EmptyRegion);
            }
            if !filter {
                check.blame_clause(index, at, Rule::Filter);
            }
        }
        if check.found.len() > before {
            return None;
        }
        let tree = Self::nest(check, all, count);
        (check.found.len() == before).then_some(tree)
    }

    fn nest(check: &mut Check<'_>, mut all: Vec<Region>, count: u32) -> Self {
        // Outer ones first; equal try regions next to each other, by clause.
        all.sort_by_key(|region| (region.start, std::cmp::Reverse(region.end)));
        all.dedup_by(|later, earlier| {
            let same = later.kind == Kind::Try
                && earlier.kind == Kind::Try
                && (later.start, later.end) == (earlier.start, earlier.end);
            if same {
                earlier.first_clause = earlier.first_clause.min(later.first_clause);
                earlier.last_clause = earlier.last_clause.max(later.last_clause);
            }
            same
        });
        let mut open: Vec<u32> = Vec::new();
        let mut parents = Vec::with_capacity(all.len());
        let mut innermost = vec![OUTSIDE; count as usize];
        let mut filled = 0;
        for (index, region) in all.iter().enumerate() {
            close(&all, &mut open, &mut innermost, &mut filled, region.start);
            let parent = open.last().copied().unwrap_or(OUTSIDE);
            if let Some(around) = all.get(parent as usize) {
                let equal = (around.start, around.end) == (region.start, region.end);
                let clauses = around.first_clause..=around.last_clause;
                let own = region.kind != Kind::Try
                    && around.kind == Kind::Try
                    && clauses.contains(&region.first_clause);
                if region.end > around.end || equal || own {
                    check.blame_clause(region.first_clause as usize, u32::MAX, Rule::Overlap);
                } else if region.kind == Kind::Try && region.last_clause > around.first_clause {
                    let clause = region.last_clause as usize;
                    check.blame_clause(clause, u32::MAX, Rule::ClauseOrder);
                }
            }
            parents.push(parent);
            open.push(index as u32);
        }
        close(&all, &mut open, &mut innermost, &mut filled, count);
        for (region, parent) in all.iter_mut().zip(parents) {
            region.parent = parent;
        }
        Self { all, innermost }
    }
}

/// Closes the regions that end up to a rank, and notes the innermost region of every instruction
/// before it.
fn close(all: &[Region], open: &mut Vec<u32>, innermost: &mut [u32], filled: &mut u32, to: u32) {
    let mut fill = |end: u32, region: u32| {
        if let Some(slots) = innermost.get_mut(*filled as usize..end as usize) {
            slots.fill(region);
            *filled = end;
        }
    };
    while let Some(&last) = open.last() {
        let end = all.get(last as usize).map_or(0, |region| region.end);
        if end > to {
            fill(to, last);
            return;
        }
        fill(end, last);
        open.pop();
    }
    fill(to, OUTSIDE);
}
