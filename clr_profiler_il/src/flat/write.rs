use super::plan::Planned;
use super::{Branch, Flat, FlatClause, GROWTH};
use crate::code::{PADDING, copy_padded};
use crate::symbol::Symbol;

/// The reach of a short branch.
const SHORT_REACH: u32 = 128;

impl Flat {
    /// The size of the code with the insertions.
    pub(crate) fn new_size(&self) -> u64 {
        let epilogues = u64::from(self.epilogue.size()) * self.rets.len() as u64;
        let all = u64::from(self.prologue.size()) + epilogues;
        self.size as u64 + all + u64::from(self.marks.size())
    }

    /// Writes the code with the insertions, and [`PADDING`] bytes after it; the operands of symbols
    /// are not filled in yet. `false` if branches need forms that are not planned, or the code is too large.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> bool {
        let size = self.new_size();
        if size > i32::MAX as u64 {
            return false;
        }
        if self.has_marks() {
            self.write_marked(out);
            return self.write_distances(out);
        }
        let room = size as usize + PADDING;
        if out.len() < room {
            out.resize(room.next_power_of_two(), 0);
        }
        let (from, to) = (&*self.bytes, &mut **out);
        let mut at = insert(&self.prologue, to, 0);
        let mut start = 0;
        let rets: &[u32] = match self.epilogue.size() {
            0 => &[],
            _ => &self.rets,
        };
        for &ret in rets {
            let length = ret as usize - start;
            copy_padded(from, start, to, at, length);
            at = insert(&self.epilogue, to, at + length);
            start = ret as usize;
        }
        copy_padded(from, start, to, at, self.size - start);
        self.write_distances(out)
    }

    /// Writes the distances of all branches and switches.
    fn write_distances(&self, out: &mut [u8]) -> bool {
        let mut is_regular = true;
        let (mut long_count, mut nearest) = (0, u32::MAX);
        for branch in &self.branches {
            let end = self.new_end(branch.start(), branch.end);
            let distance = (self.moved(branch.target) as i32).wrapping_sub(end as i32);
            if self.is_long(branch) {
                long_count += 1;
                nearest = nearest.min(distance.unsigned_abs());
                put(out, end as usize - 4, distance.to_le_bytes());
            } else {
                is_regular &= i8::try_from(distance).is_ok();
                put(out, end as usize - 1, [distance as u8]);
            }
        }
        for &switch in &self.switches {
            let end = self.new_end(switch, self.end_of_switch(switch) as u32);
            let mut at = end as usize - 4 * self.targets_of(switch).count();
            for target in self.targets_of(switch) {
                let distance = self.moved(target as u32).wrapping_sub(end);
                put(out, at, distance.to_le_bytes());
                at += 4;
            }
        }
        let surely_far = SHORT_REACH + long_count * GROWTH;
        is_regular && (nearest > surely_far || self.long_are_shortest(surely_far))
    }

    /// Whether no long branch would reach if all branches were short.
    #[cold]
    fn long_are_shortest(&self, surely_far: u32) -> bool {
        let mut branches = self.branches.iter().enumerate();
        branches.all(|(index, branch)| {
            let end = self.new_end(branch.start(), branch.end);
            let distance = self.moved(branch.target) as i32 - end as i32;
            !branch.is_long
                || distance.unsigned_abs() > surely_far
                || i8::try_from(self.short_distance(index, branch, distance)).is_err()
        })
    }

    /// The distance from a branch to its target if all branches were short.
    fn short_distance(&self, index: usize, branch: &Branch, distance: i32) -> i32 {
        let between: &mut dyn Iterator<Item = &Branch> = if distance < 0 {
            let before = self.branches.get(..=index).unwrap_or(&[]).iter().rev();
            &mut before.take_while(|other| other.end > branch.target)
        } else {
            let later = self.branches.get(index + 1..).unwrap_or(&[]).iter();
            &mut later.take_while(|other| other.end <= branch.target)
        };
        let long = between.filter(|other| self.is_long(other)).count();
        distance - distance.signum() * (long as u32 * GROWTH) as i32
    }

    /// The new offset for branches to an offset, and for bounds of regions: insertions before a
    /// `ret` belong to it, the one before all code to nothing.
    #[inline]
    fn moved(&self, at: u32) -> u32 {
        if self.has_marks() {
            return at + self.marks.shift(at);
        }
        let epilogues = match &*self.rets {
            [] => 0,
            [one] => u32::from(*one < at),
            rets => rets.partition_point(|&ret| ret < at) as u32,
        };
        at + self.prologue.size() + epilogues * self.epilogue.size()
    }

    /// The new offset after a branch or `switch`, from its own offset and the one after it.
    #[inline]
    fn new_end(&self, start: u32, end: u32) -> u32 {
        match self.has_marks() {
            true => self.marked_end(start, end),
            false => self.moved(end),
        }
    }

    /// The clauses at their new offsets.
    pub(crate) fn new_clauses(&self) -> impl Iterator<Item = FlatClause> {
        self.clauses.iter().map(|clause| FlatClause {
            try_start: self.moved(clause.try_start),
            try_end: self.moved(clause.try_end),
            filter: self.moved(clause.filter),
            handler_start: self.moved(clause.handler_start),
            handler_end: self.moved(clause.handler_end),
            ..*clause
        })
    }

    /// Writes the tokens of symbols into the new code, in the order of the code.
    pub(crate) fn fill_in<E>(
        &self,
        code: &mut [u8],
        mut token: impl FnMut(&Symbol) -> Result<u32, E>,
    ) -> Result<(), E> {
        for (end, symbol) in self.prologue.symbolic() {
            put(code, end - 4, token(symbol)?.to_le_bytes());
        }
        for (end, symbol) in self.epilogue.symbolic() {
            let bytes = token(symbol)?.to_le_bytes();
            for &ret in &self.rets {
                put(code, self.moved(ret) as usize + end - 4, bytes);
            }
        }
        Ok(())
    }

    /// Copies the inserted code from the new code, the epilogue once after the prologue, and returns the size of the
    /// prologue.
    pub(crate) fn copy_planned(&self, new: &[u8], out: &mut Vec<u8>) -> u32 {
        out.clear();
        let mut copy = |start: u32, size: u32| {
            let bytes = new.get(start as usize..(start + size) as usize);
            out.extend_from_slice(bytes.unwrap_or(&[]));
        };
        copy(0, self.prologue.size());
        if let Some(&ret) = self.rets.first() {
            copy(self.moved(ret), self.epilogue.size());
        }
        self.prologue.size()
    }

    /// Visits the instructions by their old and new offsets, and the insertions with the old offset of
    /// the instruction that they lead to. The last argument is whether it is the instruction.
    pub(crate) fn each_offset(&self, mut visit: impl FnMut(u32, u32, bool)) {
        if self.has_marks() {
            return self.each_marked(visit);
        }
        let mut shift = self.prologue.size();
        let mut inserted = (shift > 0).then_some(0);
        let mut rets = self.rets.iter().peekable();
        let starts = self.starts.iter().enumerate();
        for (old, _) in starts.filter(|&(_, &start)| start == 1) {
            let old = old as u32;
            if rets.next_if_eq(&&old).is_some() && self.epilogue.size() > 0 {
                inserted = inserted.or(Some(old + shift));
                shift += self.epilogue.size();
            }
            if let Some(new) = inserted.take() {
                visit(old, new, false);
            }
            visit(old, old + shift, true);
        }
    }

    /// The number of instructions that were read, and of insertions.
    pub(crate) fn count(&self) -> usize {
        let starts: usize = self.starts.iter().copied().map(usize::from).sum();
        starts + self.rets.len().max(self.marks.len()) + 1
    }
}

/// Copies planned code, and returns the offset after it.
fn insert(planned: &Planned, to: &mut [u8], at: usize) -> usize {
    let size = planned.size() as usize;
    if size > 0 {
        copy_padded(planned.padded(), 0, to, at, size);
    }
    at + size
}

#[inline]
fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(slot) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *slot = value;
    }
}
