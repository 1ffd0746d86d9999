//! Code before and after single instructions.

use super::{Branch, Flat, GROWTH, LONG};
use crate::code::{Code, Node, PADDING};
use crate::opcode::OperandLayout;

/// The difference between the codes of a long branch and of a short one; of `leave`, -1.
const LONG_CODE: u8 = 0x0d;
const SHORT_LEAVE: u8 = 0xde;

/// The passes in which branches become long.
const PASSES: usize = 8;

/// Code at places of the code that was read, or none.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// In the order of the code.
    marks: Vec<Mark>,
    nodes: Vec<Node>,
    /// The encoded code, followed by at least [`PADDING`] bytes.
    bytes: Vec<u8>,
    /// For each offset, and the end: how far branches and regions there move.
    shifts: Vec<u32>,
    /// The same for the instruction there, which follows its mark.
    instruction_shifts: Vec<u32>,
    /// The branches that become long, in order.
    grown: Vec<u32>,
}

/// Code in front of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// The offset of the instruction.
    at: u32,
    /// Whether it belongs to the instruction before: branches skip it.
    is_after: bool,
    /// Its ends in the nodes and in the bytes; it begins where that of the mark before ends.
    nodes: u32,
    bytes: u32,
}

impl Marks {
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.nodes.clear();
        self.bytes.clear();
        self.grown.clear();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The number of marks.
    pub(super) const fn len(&self) -> usize {
        self.marks.len()
    }

    /// How far an offset of branches and regions moves.
    #[inline]
    pub(super) fn shift(&self, at: u32) -> u32 {
        self.shifts.get(at as usize).copied().unwrap_or_default()
    }

    /// How far the instruction at an offset moves.
    #[inline]
    fn instruction_shift(&self, at: u32) -> u32 {
        let shifts = &self.instruction_shifts;
        shifts.get(at as usize).copied().unwrap_or_default()
    }

    /// The size of all marks and of the growth of branches.
    pub(super) fn size(&self) -> u32 {
        match self.is_empty() {
            true => 0,
            false => self.shifts.last().copied().unwrap_or_default(),
        }
    }

    /// The marks with their nodes and bytes.
    fn each(&self) -> impl Iterator<Item = (&Mark, &[Node], &[u8])> {
        let (mut node, mut byte) = (0, 0);
        self.marks.iter().map(move |mark| {
            let nodes = self.nodes.get(node as usize..mark.nodes as usize);
            let bytes = self.bytes.get(byte as usize..mark.bytes as usize);
            (node, byte) = (mark.nodes, mark.bytes);
            (mark, nodes.unwrap_or_default(), bytes.unwrap_or_default())
        })
    }

    /// Computes how far all offsets move.
    fn shift_all(&mut self, starts: &[u8]) {
        let room = starts.len() + 1;
        self.shifts.clear();
        self.shifts.resize(room, 0);
        self.instruction_shifts.clear();
        self.instruction_shifts.resize(room, 0);
        let mut marks = self.marks.iter().peekable();
        let mut grown = self.grown.iter().peekable();
        let (mut shift, mut begin) = (0, 0);
        let shifts = self.shifts.iter_mut().zip(&mut self.instruction_shifts);
        for (at, (to, of)) in (0..).zip(shifts) {
            while grown.next_if(|start| **start < at).is_some() {
                shift += GROWTH;
            }
            let mut add = |is_after: bool| {
                while let Some(mark) = marks.next_if(|one| one.at == at && one.is_after == is_after)
                {
                    shift += mark.bytes - begin;
                    begin = mark.bytes;
                }
                shift
            };
            *to = add(true);
            *of = add(false);
        }
    }
}

impl Flat {
    /// Whether code before or after single instructions is planned.
    pub(crate) const fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Plans code before the instruction at an offset, or after the one before it, if no other code is planned; `false` if that
    /// needs nodes. [`place_marks`](Self::place_marks) has to follow. Marks come in the order of the code.
    pub(crate) fn plan_mark(&mut self, at: u32, is_after: bool, code: &Code) -> bool {
        let is_start = self.starts.get(at as usize) == Some(&1);
        let follows = self.marks.marks.last().is_none_or(|last| {
            // Those at the end of an instruction before those of the next one.
            (last.at, !last.is_after) < (at, !is_after)
        });
        if !is_start || !follows || self.prologue.size() > 0 || self.epilogue.size() > 0 {
            return false;
        }
        let Marks {
            marks,
            nodes,
            bytes,
            ..
        } = &mut self.marks;
        for node in code.nodes.iter().skip(1) {
            let encoding = node.opcode.encoding();
            let is_literal = matches!(encoding.layout, OperandLayout::Short | OperandLayout::Long)
                && !node.opcode.operand_kind().is_token()
                && !node.opcode.ends_block()
                && node.prefix_count == 0;
            if !is_literal {
                return false;
            }
            let word = u128::from(encoding.code) | u128::from(node.operand) << encoding.shift;
            let word = word.to_le_bytes();
            bytes.extend_from_slice(word.get(..usize::from(encoding.length)).unwrap_or_default());
            nodes.push(*node);
        }
        if !code.labels.is_empty() || !code.clauses.is_empty() {
            return false;
        }
        marks.push(Mark {
            at,
            is_after,
            nodes: nodes.len() as u32,
            bytes: bytes.len() as u32,
        });
        true
    }

    /// The offset after the instruction at an offset; `None` if it is the last one.
    pub(crate) fn offset_after(&self, at: u32) -> Option<u32> {
        if self.starts.get(at as usize) != Some(&1) {
            return None;
        }
        let rest = self.starts.get(at as usize + 1..)?;
        let length = rest.iter().position(|start| *start == 1)?;
        Some(at + 1 + length as u32)
    }

    /// Drops the marks that are planned.
    pub(crate) fn drop_marks(&mut self) {
        self.marks.clear();
    }

    /// Finds the places of all code, with the branches that have to become long; `false` if that needs nodes.
    pub(crate) fn place_marks(&mut self) -> bool {
        let mut marks = std::mem::take(&mut self.marks);
        marks.shift_all(&self.starts);
        // A branch that grows can move the next one out of reach. Nodes do it without another pass for each.
        let mut is_settled = false;
        for _ in 0..PASSES {
            let before = marks.grown.len();
            let mut known = std::mem::take(&mut marks.grown).into_iter().peekable();
            let mut grown = Vec::new();
            for branch in &self.branches {
                let start = branch.start();
                let is_grown = known.next_if_eq(&start).is_some();
                if is_grown || !branch.is_long && !marks.is_reached(branch) {
                    grown.push(start);
                }
            }
            marks.grown = grown;
            if marks.grown.len() == before {
                is_settled = true;
                break;
            }
            marks.shift_all(&self.starts);
        }
        let is_regular = self.size as u64 + u64::from(marks.size()) <= i32::MAX as u64;
        self.marks = marks;
        is_settled && is_regular
    }

    /// Writes the code with the marks, without the distances.
    pub(super) fn write_marked(&self, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(self.size + self.marks.size() as usize + PADDING);
        let mut grown = self.marks.grown.iter().copied().peekable();
        let mut start = 0;
        for (mark, _, code) in self.marks.each() {
            while let Some(at) = grown.next_if(|at| *at < mark.at) {
                start = self.grow(start, at, out);
            }
            out.extend_from_slice(self.between(start, mark.at));
            out.extend_from_slice(code);
            start = mark.at;
        }
        for at in grown {
            start = self.grow(start, at, out);
        }
        out.extend_from_slice(self.between(start, self.size as u32));
        out.extend_from_slice(&[0; PADDING]);
    }

    /// Copies code up to a short branch, and writes that as a long one. Returns the offset after it.
    fn grow(&self, start: u32, at: u32, out: &mut Vec<u8>) -> u32 {
        out.extend_from_slice(self.between(start, at));
        let short = self.bytes.get(at as usize).copied().unwrap_or_default();
        out.push(match short {
            SHORT_LEAVE => short - 1,
            _ => short + LONG_CODE,
        });
        out.extend_from_slice(&[0; LONG - 1]);
        at + 2
    }

    fn between(&self, start: u32, end: u32) -> &[u8] {
        let bytes = self.bytes.get(start as usize..end as usize);
        bytes.unwrap_or_default()
    }

    /// The new offset after the instruction at an offset with a length before its growth.
    pub(super) fn marked_end(&self, start: u32, end: u32) -> u32 {
        let is_grown = self.marks.grown.binary_search(&start).is_ok();
        let growth = if is_grown { GROWTH } else { 0 };
        end + self.marks.instruction_shift(start) + growth
    }

    /// Whether a branch is long in the new code.
    pub(super) fn is_long(&self, branch: &Branch) -> bool {
        branch.is_long || self.marks.grown.binary_search(&branch.start()).is_ok()
    }

    /// Visits the instructions as [`each_offset`](Self::each_offset) does.
    pub(super) fn each_marked(&self, mut visit: impl FnMut(u32, u32, bool)) {
        let mut marks = self.marks.marks.iter().peekable();
        let starts = self.starts.iter().enumerate();
        for (old, _) in starts.filter(|&(_, &start)| start == 1) {
            let old = old as u32;
            let new = old + self.marks.instruction_shift(old);
            let mut begin = None;
            while let Some(mark) = marks.next_if(|one| one.at == old) {
                // A mark at the end of the instruction before is in front of where branches lead.
                let at = old + self.marks.shift(old);
                let size = match mark.is_after {
                    true => self.marks.size_of_after(mark),
                    false => 0,
                };
                begin = begin.or(Some(at - size));
            }
            if let Some(begin) = begin {
                visit(old, begin, false);
            }
            visit(old, new, true);
        }
    }

    /// Inserts the marks into the nodes of the code that was read.
    pub(super) fn insert_marks(
        &self,
        code: &mut Code,
        node_at: impl Fn(&Code, u32) -> Option<u32>,
    ) {
        for (mark, nodes, _) in self.marks.each() {
            let Some(at) = node_at(code, mark.at) else {
                continue;
            };
            let mut fragment = Code::new();
            for node in nodes {
                fragment.append(*node);
            }
            if let Some(spliced) = code.splice(at, &fragment)
                && !mark.is_after
            {
                code.move_labels(at, spliced.first, |index, _| index < spliced.labels);
            }
        }
    }

    /// Whether each mark is code that `is_neutral` accepts, and may be where it is: no instruction needs the one after it, and none
    /// has to be the last of a region.
    pub(crate) fn marks_are(&self, mut is_neutral: impl FnMut(&[Node]) -> bool) -> bool {
        self.marks.each().all(|(mark, nodes, _)| {
            is_neutral(nodes)
                && !self.loads_function_before(mark.at)
                && !(mark.is_after && self.is_bound(mark.at))
        })
    }

    /// Whether the bytes before an offset may be those of `ldftn` or `ldvirtftn`.
    fn loads_function_before(&self, at: u32) -> bool {
        let before = (at as usize).checked_sub(6);
        let bytes = before.and_then(|before| self.bytes.get(before..before + 2));
        matches!(bytes, Some([0xfe, 0x06 | 0x07]))
    }

    fn is_bound(&self, at: u32) -> bool {
        let mut clauses = self.clauses.iter();
        clauses.any(|clause| clause.bounds().contains(&at))
    }
}

impl Marks {
    /// Whether a short branch reaches its target, with the shifts that are known.
    fn is_reached(&self, branch: &Branch) -> bool {
        let end = branch.end + self.instruction_shift(branch.start());
        let target = branch.target + self.shift(branch.target);
        let distance = i64::from(target) - i64::from(end);
        i8::try_from(distance).is_ok()
    }

    /// The size of a mark at the end of an instruction.
    fn size_of_after(&self, mark: &Mark) -> u32 {
        let index = self.marks.partition_point(|one| one.bytes < mark.bytes);
        let before = index.checked_sub(1).and_then(|at| self.marks.get(at));
        mark.bytes - before.map_or(0, |before| before.bytes)
    }
}
