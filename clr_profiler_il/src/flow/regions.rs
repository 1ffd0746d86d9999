use super::Ranks;
use crate::code::{ClauseKind, Code, END, Label};

/// Outside of all regions.
pub(crate) const OUTSIDE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Try,
    Filter,
    /// The handler of a catch or filter.
    Catch,
    /// The handler of a finally or fault.
    Finally,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) kind: RegionKind,
    /// The ranks of the first instruction and of the one after the last.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The first and last of its clauses.
    pub(crate) first_clause: u32,
    pub(crate) last_clause: u32,
    /// The enclosing region.
    pub(crate) parent: u32,
    /// Whether it is, or is inside of, a filter, finally or fault, which control must not leave.
    pub(crate) closed: bool,
}

/// A rule that the regions of a clause break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A try region or handler contains no instruction, or ends before it begins.
    Empty,
    /// As `Empty`, for a filter.
    EmptyFilter,
    /// It overlaps another region, and neither contains the other.
    Overlap,
    /// It is after a clause that should follow it.
    Order,
}

/// All regions, as a tree.
pub(crate) struct Regions {
    pub(crate) all: Vec<Region>,
    /// The innermost region of every instruction, by rank.
    innermost: Vec<u32>,
}

impl Regions {
    /// The regions of code without clauses.
    pub(crate) const NONE: Self = Self {
        all: Vec::new(),
        innermost: Vec::new(),
    };

    /// Builds the tree. `report` receives the faults with their clause and the node of its handler.
    /// Empty regions are omitted, and other faults are not searched for while there are any.
    pub(crate) fn new(
        code: &Code,
        ranks: &Ranks,
        mut report: impl FnMut(usize, u32, Fault),
    ) -> Self {
        if code.clauses.is_empty() {
            return Self::NONE;
        }
        // The end ranks after all instructions.
        let count = ranks.of(END);
        let mut all = Vec::with_capacity(code.clauses.len() * 2);
        let mut whole = true;
        for (index, clause) in code.clauses.iter().enumerate() {
            let mut add = |kind, start: Label, end: Label| {
                let region = Region {
                    kind,
                    start: ranks.of(code.node_of(start)),
                    end: ranks.of(code.node_of(end)),
                    first_clause: index as u32,
                    last_clause: index as u32,
                    parent: OUTSIDE,
                    closed: matches!(kind, RegionKind::Filter | RegionKind::Finally),
                };
                let full = region.start < region.end;
                if full {
                    all.push(region);
                }
                full
            };
            let handler = match clause.kind {
                ClauseKind::Catch | ClauseKind::Filter => RegionKind::Catch,
                ClauseKind::Finally | ClauseKind::Fault => RegionKind::Finally,
            };
            let mut full = add(RegionKind::Try, clause.try_start, clause.try_end);
            full &= add(handler, clause.handler_start, clause.handler_end);
            let filter = clause.kind != ClauseKind::Filter
                || add(RegionKind::Filter, clause.filter, clause.handler_start);
            for (full, fault) in [(full, Fault::Empty), (filter, Fault::EmptyFilter)] {
                if !full {
                    report(index, code.node_of(clause.handler_start), fault);
                    whole = false;
                }
            }
        }
        Self::nest(all, count, |clause, fault| {
            if whole {
                report(clause as usize, u32::MAX, fault);
            }
        })
    }

    fn nest(mut all: Vec<Region>, count: u32, mut report: impl FnMut(u32, Fault)) -> Self {
        // Outer regions first; equal try regions adjacent, by clause.
        all.sort_by_key(|region| (region.start, std::cmp::Reverse(region.end)));
        all.dedup_by(|later, earlier| {
            let same = later.kind == RegionKind::Try
                && earlier.kind == RegionKind::Try
                && (later.start, later.end) == (earlier.start, earlier.end);
            if same {
                earlier.first_clause = earlier.first_clause.min(later.first_clause);
                earlier.last_clause = earlier.last_clause.max(later.last_clause);
            }
            same
        });
        let mut regions = Self {
            all,
            innermost: vec![OUTSIDE; count as usize],
        };
        let (mut innermost, mut filled) = (OUTSIDE, 0);
        for index in 0..regions.all.len() {
            let Some(&region) = regions.all.get(index) else {
                break;
            };
            let parent = regions.close(innermost, &mut filled, region.start);
            let mut closed = region.closed;
            if let Some(around) = regions.get(parent) {
                closed |= around.closed;
                let equal = (around.start, around.end) == (region.start, region.end);
                let clauses = around.first_clause..=around.last_clause;
                let own = region.kind != RegionKind::Try
                    && around.kind == RegionKind::Try
                    && clauses.contains(&region.first_clause);
                if region.end > around.end || equal || own {
                    report(region.first_clause, Fault::Overlap);
                } else if region.kind == RegionKind::Try && region.last_clause > around.first_clause
                {
                    report(region.last_clause, Fault::Order);
                }
            }
            if let Some(region) = regions.all.get_mut(index) {
                (region.parent, region.closed) = (parent, closed);
            }
            innermost = index as u32;
        }
        regions.close(innermost, &mut filled, count);
        regions
    }

    /// Closes the regions that end up to a rank, innermost first, and records the innermost region
    /// of every instruction before it. Returns the innermost region that stays open.
    fn close(&mut self, mut innermost: u32, filled: &mut u32, to: u32) -> u32 {
        loop {
            let region = self.get(innermost).copied();
            let end = region.map_or(u32::MAX, |region| region.end);
            let until = end.min(to);
            if let Some(slots) = self.innermost.get_mut(*filled as usize..until as usize) {
                slots.fill(innermost);
                *filled = until;
            }
            match region {
                Some(region) if end <= to => innermost = region.parent,
                _ => return innermost,
            }
        }
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Region> {
        self.all.get(index as usize)
    }

    /// The innermost region of the instruction with this rank.
    pub(crate) fn at(&self, rank: u32) -> u32 {
        let innermost = self.innermost.get(rank as usize);
        innermost.copied().unwrap_or(OUTSIDE)
    }

    /// Whether a region equals or encloses the other one.
    pub(crate) fn encloses(&self, outer: u32, inner: u32) -> bool {
        let mut region = inner;
        while region != outer {
            match self.get(region) {
                Some(inside) => region = inside.parent,
                None => return false,
            }
        }
        true
    }

    /// The region that control must come from to enter an instruction normally: the one around all
    /// try regions that begin there.
    pub(crate) fn entrance(&self, to: u32) -> u32 {
        self.entrance_from(OUTSIDE, to)
    }

    /// Whether control may transfer from a region to an instruction: one in the same region, or the
    /// first one of try regions in it.
    pub(crate) fn may_enter(&self, from: u32, to: u32) -> bool {
        self.entrance_from(from, to) == from
    }

    /// As [`entrance`](Self::entrance), but does not leave a region that control comes from.
    fn entrance_from(&self, from: u32, to: u32) -> u32 {
        let mut region = self.at(to);
        while region != from
            && let Some(entered) = self.get(region)
            && entered.kind == RegionKind::Try
            && entered.start == to
        {
            region = entered.parent;
        }
        region
    }

    /// The kind of the innermost handler or filter that encloses a region.
    pub(crate) fn handler(&self, region: u32) -> Option<RegionKind> {
        let mut around = self.get(region);
        while let Some(inside) = around.filter(|inside| inside.kind == RegionKind::Try) {
            around = self.get(inside.parent);
        }
        around.map(|inside| inside.kind)
    }
}
