use std::ops::Range;

use crate::code::{Change, Code, END, Label, Node, PADDING, UNPLACED, copy_padded};
use crate::opcode::{Opcode, OperandLayout};

/// The size of a short branch; the code of every branch has one byte.
const SHORT: usize = 2;
/// The size of a long branch.
const LONG: usize = 5;
/// The reach of a short branch.
const SHORT_REACH: u32 = 128;
/// The difference in size between the two.
const GROWTH: usize = 3;

/// The code to be encoded: the offset of every instruction, the long branches, and the bytes
/// without the tokens of symbols.
///
/// Unchanged code is copied; the rest is written instruction by instruction, all with short
/// branches. Only where one of these does not reach is the code after it moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// The code, followed by leftovers of larger ones.
    bytes: Vec<u8>,
    /// The decoded instructions by their new offsets, in order.
    segments: Vec<Segment>,
    /// The offsets of the other instructions, with all branches short.
    inserted: Vec<u32>,
    /// The sorted changes of decoded instructions; unused if they are sorted already.
    changes: Vec<Change>,
    /// In the order of the code.
    branches: Vec<Branch>,
    /// The branches whose target is not known yet.
    open: Vec<u32>,
    /// The `switch` instructions and the offsets after them, with all branches short.
    switches: Vec<(u32, u32)>,
    /// The nodes with a symbol as operand or in a prefix, in the order of the code.
    symbolic: Vec<u32>,
    /// Branches that must become long.
    growing: Vec<u32>,
    /// The number of branches that were decoded long and kept long, and the shortest of their
    /// distances.
    long_count: u32,
    nearest: u32,
    /// The sorted offsets after the lengthened branches, computed with all branches short.
    long: Vec<u32>,
    /// The size of the code with all branches short.
    end: u32,
    /// The size of the code. The other fields are meaningless if it does not fit.
    size: u64,
    /// A branch without a target instruction.
    unplaced: Option<u32>,
}

/// Decoded instructions that are still contiguous.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The first one.
    node: u32,
    /// The difference between new and old offsets, modulo 2^32, with all branches short.
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    node: u32,
    /// The offset after the branch.
    end: u32,
    /// The offset of its target.
    target: u32,
    /// The distance from the end to the target, as far as it is known.
    distance: i32,
    long: bool,
}

impl Branch {
    const fn new(node: u32, end: usize, target: usize, long: bool) -> Self {
        Self {
            node,
            end: end as u32,
            target: target as u32,
            distance: 0,
            long,
        }
    }
}

impl Layout {
    /// Lays out all instructions with the shortest branches that reach.
    pub(crate) fn compute(&mut self, code: &Code) {
        self.long.clear();
        let original = &code.original;
        let mut changes = std::mem::take(&mut self.changes);
        // Nearly always, the forms of the decoded branches still fit.
        if original.changes.is_sorted() {
            self.write(code, &original.changes);
        } else {
            sort_into(&mut changes, &original.changes, &[]);
            self.write(code, &changes);
        }
        if self.size <= i32::MAX as u64 {
            self.find_targets(code);
            if !self.are_shortest() {
                sort_into(&mut changes, &original.changes, &original.long);
                self.write(code, &changes);
                self.find_targets(code);
                self.grow();
                self.move_grown(code);
            }
            self.write_tables(code);
        }
        self.changes = changes;
    }

    /// Whether all branches reach, and no long one would reach if all branches were short.
    fn are_shortest(&self) -> bool {
        let surely_far = SHORT_REACH + self.long_count * GROWTH as u32;
        self.growing.is_empty()
            && (self.nearest > surely_far
                || self.branches.iter().enumerate().all(|(index, branch)| {
                    !branch.long
                        || branch.distance.unsigned_abs() > surely_far
                        || i8::try_from(self.short_distance(index, branch)).is_err()
                }))
    }

    /// The distance from a branch to its target if all branches were short.
    fn short_distance(&self, index: usize, branch: &Branch) -> i32 {
        let between: &mut dyn Iterator<Item = &Branch> = if branch.distance < 0 {
            let before = self.branches.get(..=index).unwrap_or(&[]).iter().rev();
            &mut before.take_while(|other| other.end > branch.target)
        } else {
            let later = self.branches.get(index + 1..).unwrap_or(&[]).iter();
            &mut later.take_while(|other| other.end <= branch.target)
        };
        let long = between.filter(|other| other.long).count();
        branch.distance - branch.distance.signum() * (long * GROWTH) as i32
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The code; the operands of symbols are not filled in yet.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.size as usize).unwrap_or(&[])
    }

    /// The nodes with symbols, in the order of the code.
    pub(crate) fn symbolic(&self) -> &[u32] {
        &self.symbolic
    }

    /// The offset of a branch without a target.
    pub(crate) const fn unplaced(&self) -> Option<u32> {
        self.unplaced
    }

    /// The offset of a node.
    pub(crate) fn offset(&self, code: &Code, node: u32) -> u32 {
        self.grown(self.short_offset(code, node))
    }

    /// The offset of a label.
    pub(crate) fn target(&self, code: &Code, label: Label) -> u32 {
        self.offset(code, code.node_of(label))
    }

    /// The offset that a node would have if all branches were short.
    #[inline]
    fn short_offset(&self, code: &Code, node: u32) -> u32 {
        if code.original.contains(node) {
            let following = self
                .segments
                .partition_point(|segment| segment.node <= node);
            let segment = self.segments.get(following.wrapping_sub(1));
            let offset = code.node(node).map_or(0, |node| node.offset);
            offset.wrapping_add(segment.map_or(0, |segment| segment.shift))
        } else if node == END {
            self.end
        } else {
            let index = node.wrapping_sub(code.original.count + 1);
            self.inserted.get(index as usize).copied().unwrap_or(0)
        }
    }

    /// The offset of a node, found by continuing from the segment of the node before: faster than
    /// [`offset`](Self::offset) for nodes in their order.
    #[inline]
    pub(crate) fn next_offset(
        &self,
        code: &Code,
        segment: &mut usize,
        index: u32,
        node: &Node,
    ) -> u32 {
        if !code.original.contains(index) {
            return self.offset(code, index);
        }
        while self
            .segments
            .get(*segment + 1)
            .is_some_and(|next| next.node <= index)
        {
            *segment += 1;
        }
        match self.segments.get(*segment) {
            Some(found) if found.node <= index => self.grown(node.offset.wrapping_add(found.shift)),
            _ => self.offset(code, index),
        }
    }

    /// The final offset for an offset with all branches short.
    #[inline]
    fn grown(&self, offset: u32) -> u32 {
        if self.long.is_empty() {
            return offset;
        }
        let before = self.long.partition_point(|&end| end <= offset);
        offset + (before * GROWTH) as u32
    }

    /// Whether a branch has its short encoding.
    pub(crate) fn is_short(&self, code: &Code, index: u32, node: &Node) -> bool {
        let size = self.offset(code, code.next(index)) - self.offset(code, index);
        let prefixes = code.prefixes_of(node).iter();
        let prefixes = prefixes.map(|prefix| usize::from(prefix.opcode.encoding().length));
        size as usize == prefixes.sum::<usize>() + SHORT
    }

    /// Writes all instructions: changed ones one by one, with short branches, and the unchanged
    /// ones between them by copying.
    fn write(&mut self, code: &Code, changes: &[Change]) {
        let original = &code.original;
        self.segments.clear();
        self.branches.clear();
        self.open.clear();
        self.growing.clear();
        self.switches.clear();
        self.symbolic.clear();
        (self.long_count, self.nearest) = (0, u32::MAX);
        self.unplaced = None;
        let inserted = code.nodes.len().saturating_sub(original.count as usize + 1);
        if self.inserted.len() < inserted {
            self.inserted.resize(inserted, 0);
        }
        let (mut change, mut jump) = (0, 0);
        let mut at = 0;
        let mut index = code.first();
        while index != END
            && let Some(node) = code.node(index)
        {
            if original.contains(index) {
                self.segments.push(Segment {
                    node: index,
                    shift: (at as u32).wrapping_sub(node.offset),
                });
                let (stop, next) = match next_from(changes, &mut change, Change::written(index)) {
                    None => (original.count + 1, END),
                    Some(change) if change.is_followed() => {
                        let node = change.node();
                        (node + 1, code.next(node))
                    }
                    Some(change) => (change.node(), change.node()),
                };
                if stop > index {
                    at = self.copy(code, index..stop, &mut jump, at);
                    index = next;
                    continue;
                }
            } else if let Some(slot) = (index - original.count)
                .checked_sub(1)
                .and_then(|index| self.inserted.get_mut(index as usize))
            {
                *slot = at as u32;
            }
            at = self.write_one(code, index, node, at);
            index = code.next(index);
        }
        self.size = at as u64;
        self.end = at as u32;
    }

    /// Copies unchanged decoded instructions.
    fn copy(&mut self, code: &Code, nodes: Range<u32>, jump: &mut usize, at: usize) -> usize {
        let original = &code.original;
        let start = code.offset(nodes.start);
        let end = code.offset(nodes.end);
        let end_at = at + (end - start);
        if self.bytes.len() < end_at + PADDING {
            make_room(&mut self.bytes, end_at + PADDING);
        }
        copy_padded(&original.bytes, start, &mut self.bytes, at, end - start);
        while let Some(index) = next_from(&original.jumps, jump, nodes.start)
            && index < nodes.end
            && let Some(node) = code.node(index)
        {
            *jump += 1;
            if !node.opcode.is_branch() {
                continue;
            }
            let old_end = code.offset(index + 1);
            let end = old_end - start + at;
            if node.opcode == Opcode::Switch {
                self.switches.push((index, end as u32));
                continue;
            }
            let long = old_end - node.offset as usize == LONG;
            let target_node = code.node_of(code.label(node.operand as u32));
            if nodes.contains(&target_node) {
                // The offset is at hand here; elsewhere it needs a search.
                let target = code.offset(target_node) - start + at;
                self.branches.push(Branch::new(index, end, target, long));
                self.measure(self.branches.len() - 1);
            } else {
                self.note_branch(index, end, long);
            }
        }
        end_at
    }

    /// Adds a branch whose target is not known yet.
    fn note_branch(&mut self, node: u32, end: usize, long: bool) {
        self.open.push(self.branches.len() as u32);
        self.branches.push(Branch::new(node, end, end, long));
    }

    /// Writes the distance of a branch, or notes that the target is out of reach.
    #[inline]
    fn measure(&mut self, index: usize) {
        let Some(branch) = self.branches.get_mut(index) else {
            return;
        };
        branch.distance = (branch.target as i32).wrapping_sub(branch.end as i32);
        let end = branch.end as usize;
        if branch.long {
            self.long_count += 1;
            self.nearest = self.nearest.min(branch.distance.unsigned_abs());
            put(&mut self.bytes, end - 4, branch.distance.to_le_bytes());
        } else if let Ok(distance) = i8::try_from(branch.distance) {
            put(&mut self.bytes, end - 1, distance.to_le_bytes());
        } else {
            branch.long = true;
            self.growing.push(index as u32);
        }
    }

    fn write_one(&mut self, code: &Code, index: u32, node: &Node, mut at: usize) -> usize {
        if node.prefix_count > 0 {
            at = self.write_prefixes(code, index, node, at);
        }
        if node.symbolic && self.symbolic.last() != Some(&index) {
            self.symbolic.push(index);
        }
        let encoding = node.opcode.encoding();
        // Writes code and operand at once; the next instruction overwrites the excess bytes.
        let word = u64::from(encoding.code) | node.operand << encoding.shift;
        put(&mut self.bytes, at, word.to_le_bytes());
        at += usize::from(encoding.length);
        if encoding.layout == OperandLayout::Short {
            return at;
        }
        self.write_operand(code, index, node, encoding.layout, at)
    }

    /// Writes an operand that is more than a few literal bytes. `at` is the offset after the bytes
    /// written so far; returns the offset after the instruction.
    fn write_operand(
        &mut self,
        code: &Code,
        index: u32,
        node: &Node,
        layout: OperandLayout,
        mut at: usize,
    ) -> usize {
        match layout {
            OperandLayout::Short => {}
            OperandLayout::Long => put(&mut self.bytes, at - 8, node.operand.to_le_bytes()),
            OperandLayout::Target => self.note_branch(index, at, false),
            OperandLayout::Switch => {
                let count = code.switch(node.operand).len();
                put(&mut self.bytes, at - 4, (count as u32).to_le_bytes());
                at += 4 * count;
                if self.bytes.len() < at {
                    make_room(&mut self.bytes, at);
                }
                self.switches.push((index, at as u32));
            }
        }
        at
    }

    fn write_prefixes(&mut self, code: &Code, index: u32, node: &Node, mut at: usize) -> usize {
        for prefix in code.prefixes_of(node) {
            let encoding = prefix.opcode.encoding();
            let word = u64::from(encoding.code) | u64::from(prefix.value) << encoding.shift;
            put(&mut self.bytes, at, word.to_le_bytes());
            at += usize::from(encoding.length);
            if prefix.symbolic && self.symbolic.last() != Some(&index) {
                self.symbolic.push(index);
            }
        }
        at
    }

    /// Resolves the remaining targets.
    fn find_targets(&mut self, code: &Code) {
        for entry in 0..self.open.len() {
            let index = self.open.get(entry).map_or(0, |&index| index as usize);
            let Some(&branch) = self.branches.get(index) else {
                return;
            };
            let label = code.node(branch.node).map_or(0, |node| node.operand as u32);
            let target_node = code.node_of(code.label(label));
            if target_node == END || target_node == UNPLACED {
                self.unplaced = self.unplaced.or(Some(branch.end - SHORT as u32));
            }
            let target = self.short_offset(code, target_node);
            if let Some(branch) = self.branches.get_mut(index) {
                branch.target = target;
            }
            self.measure(index);
        }
    }

    /// Lengthens branches, and those that no longer reach because of it. Only nearby branches are
    /// affected: a short branch spans a bounded number of others.
    fn grow(&mut self) {
        while let Some(grown) = self.growing.pop() {
            let grown = grown as usize;
            let Some(&Branch { end: at, .. }) = self.branches.get(grown) else {
                break;
            };
            let (before, rest) = self.branches.split_at_mut(grown);
            for (index, branch) in before.iter_mut().enumerate().rev() {
                if at - branch.end > 0x80 {
                    break;
                }
                // It spans the lengthened branch.
                if !branch.long && branch.target >= at {
                    branch.distance += GROWTH as i32;
                    if i8::try_from(branch.distance).is_err() {
                        branch.long = true;
                        self.growing.push(index as u32);
                    }
                }
            }
            for (index, branch) in rest.iter_mut().enumerate().skip(1) {
                if branch.end - at > 0x80 {
                    break;
                }
                if !branch.long && branch.target < at {
                    branch.distance -= GROWTH as i32;
                    if i8::try_from(branch.distance).is_err() {
                        branch.long = true;
                        self.growing.push((grown + index) as u32);
                    }
                }
            }
        }
    }

    /// Moves the code after long branches, and writes all distances again.
    fn move_grown(&mut self, code: &Code) {
        let long = self.branches.iter().filter(|branch| branch.long);
        self.long.extend(long.map(|branch| branch.end));
        let mut copy_end = self.size as usize;
        let mut grown = self.long.len() * GROWTH;
        self.size += grown as u64;
        if self.bytes.len() < copy_end + grown {
            make_room(&mut self.bytes, copy_end + grown);
        }
        // From last to first, so that nothing is overwritten before it has moved.
        let branches = std::mem::take(&mut self.branches);
        for branch in branches.iter().rev() {
            let end = branch.end as usize;
            let new_end = end + grown;
            let distance = self.grown(branch.target).wrapping_sub(new_end as u32);
            self.bytes.copy_within(end..copy_end, new_end);
            copy_end = end - SHORT;
            let opcode = code
                .node(branch.node)
                .map_or(Opcode::Br, |node| node.opcode);
            if branch.long {
                grown -= GROWTH;
                put(&mut self.bytes, new_end - 4, distance.to_le_bytes());
                put(&mut self.bytes, new_end - 5, [opcode.code() as u8]);
            } else {
                let code = opcode.short_form().code() as u8;
                put(&mut self.bytes, new_end - SHORT, [code, distance as u8]);
            }
        }
        self.branches = branches;
    }

    /// Fills in the tables of `switch` instructions.
    fn write_tables(&mut self, code: &Code) {
        let switches = std::mem::take(&mut self.switches);
        for &(index, end) in &switches {
            let operand = code.node(index).map_or(0, |node| node.operand);
            let targets = code.switch(operand);
            let end = self.grown(end);
            let mut at = end as usize - 4 * targets.len();
            for &target in targets {
                let target_node = code.node_of(target);
                if target_node == END || target_node == UNPLACED {
                    self.unplaced = self.unplaced.or(Some(at as u32));
                }
                let distance = self.offset(code, target_node).wrapping_sub(end);
                put(&mut self.bytes, at, distance.to_le_bytes());
                at += 4;
            }
        }
        self.switches = switches;
    }
}

/// Sorts changes and the instructions to be rewritten.
fn sort_into(sorted: &mut Vec<Change>, changes: &[Change], written: &[u32]) {
    sorted.clear();
    sorted.extend_from_slice(changes);
    sorted.extend(written.iter().map(|&node| Change::written(node)));
    sorted.sort_unstable();
}

/// The first of some sorted values that is not below `from`, searched from `cursor` on.
#[inline]
fn next_from<T: Copy + PartialOrd>(values: &[T], cursor: &mut usize, from: T) -> Option<T> {
    while let Some(&value) = values.get(*cursor) {
        if value >= from {
            return Some(value);
        }
        *cursor += 1;
    }
    None
}

/// Writes bytes at an offset and makes room if necessary.
#[inline]
fn put<const N: usize>(bytes: &mut Vec<u8>, at: usize, value: [u8; N]) {
    if bytes.len() < at + N {
        make_room(bytes, at + N);
    }
    if let Some(slot) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *slot = value;
    }
}

#[cold]
fn make_room(bytes: &mut Vec<u8>, size: usize) {
    bytes.resize(size.next_power_of_two(), 0);
}
