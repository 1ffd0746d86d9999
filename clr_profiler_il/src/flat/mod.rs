//! Bodies without nodes, for the most frequent edits: code before all other code and before every
//! `ret`, or code before and after single instructions.
//!
//! [`Flat::read`] is one pass over the code, which records where instructions start, and where
//! branches, switches and returns are. [`Flat::write`] is the other pass: it copies the code between the
//! insertions, and writes the distances of branches again. Both accept only code for which the bytes
//! are the same as by nodes: no prefix of a branch, no long form where a shorter one is
//! equivalent. Branches get other forms next to single instructions alone. Nodes do the rest.

mod marks;
mod plan;
mod read;
mod write;

use crate::code::{ClauseKind, Slots};

use marks::Marks;
use plan::Planned;

/// The size of a long branch; a short one has two bytes.
const LONG: usize = 5;
/// The difference in size between the two.
const GROWTH: u32 = 3;

/// Decoded code, and the insertions that are planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flat {
    /// The code, followed by [`PADDING`](crate::code::PADDING) bytes.
    bytes: Vec<u8>,
    /// The size of the code.
    size: usize,
    /// 1 for each offset at which an instruction or its first prefix starts, otherwise 0.
    starts: Vec<u8>,
    /// The offsets of branches and exits, in order.
    jumps: Slots<u32>,
    /// In order.
    branches: Vec<Branch>,
    /// The offsets of `switch` instructions, in order.
    switches: Vec<u32>,
    /// The offsets of `ret` instructions, in order.
    rets: Vec<u32>,
    clauses: Vec<FlatClause>,
    prologue: Planned,
    epilogue: Planned,
    marks: Marks,
    /// Whether the epilogue was planned before the prologue.
    is_epilogue_first: bool,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    /// The offset after the branch.
    end: u32,
    target: u32,
    is_long: bool,
}

impl Branch {
    /// The offset of the branch, which has no prefix.
    const fn start(&self) -> u32 {
        self.end - if self.is_long { LONG as u32 } else { 2 }
    }
}

/// An exception clause in offsets, each the start of an instruction or the end of the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatClause {
    pub(crate) kind: ClauseKind,
    /// The type of a catch; for a finally or fault, the decoded bytes of that field.
    pub(crate) value: u32,
    pub(crate) try_start: u32,
    pub(crate) try_end: u32,
    /// The start of a filter; for other clauses the handler's start.
    pub(crate) filter: u32,
    pub(crate) handler_start: u32,
    pub(crate) handler_end: u32,
}

impl FlatClause {
    const fn bounds(&self) -> [u32; 5] {
        [
            self.try_start,
            self.try_end,
            self.filter,
            self.handler_start,
            self.handler_end,
        ]
    }
}

impl Flat {
    /// The code as it was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.size).unwrap_or(&[])
    }

    /// The clauses as they were read.
    pub(crate) fn clauses(&self) -> &[FlatClause] {
        &self.clauses
    }

    /// Whether nothing is planned.
    pub(crate) const fn is_as_read(&self) -> bool {
        self.prologue.size() == 0 && self.epilogue.size() == 0 && !self.has_marks()
    }

    /// Adds a clause, in evaluation order; `false` if its bounds are not those of regions.
    pub(crate) fn add_clause(&mut self, clause: FlatClause) -> bool {
        let is_start = |at: u32| self.starts.get(at as usize) == Some(&1);
        let is_bound = |at: u32| at as usize == self.size || is_start(at);
        let is_regular = clause.bounds().into_iter().all(is_bound)
            && clause.try_start <= clause.try_end
            && clause.handler_start <= clause.handler_end;
        if is_regular {
            self.clauses.push(clause);
        }
        is_regular
    }
}
