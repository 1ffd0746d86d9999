use crate::code::{Code, END, Node, UNPLACED};
use crate::instruction::Label;
use crate::opcode::OperandLayout;

/// A branch in its short form has this many bytes; every branch has a code of one byte.
const SHORT: usize = 2;
/// What the long form has more.
const GROWTH: usize = 3;

/// The code as it is going to be: where every instruction lies, which branches are long, and the
/// bytes but for the tokens of symbols.
///
/// In one pass, all instructions are written with short branches. Only where that does not reach are
/// instructions moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// The code, and behind it what is left of larger ones.
    bytes: Vec<u8>,
    /// By node; that of the end is the size of the code.
    offsets: Vec<u32>,
    /// In the order of the code.
    branches: Vec<Branch>,
    /// The nodes of `switch` instructions.
    switches: Vec<u32>,
    /// The nodes with a symbol as operand or in a prefix, in the order of the code.
    symbolic: Vec<u32>,
    /// Branches that must become long.
    growing: Vec<u32>,
    /// The size of the code; all else means nothing if it does not fit.
    size: u64,
    /// A branch without an instruction to go to.
    unplaced: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    node: u32,
    target: u32,
    /// The offset behind it.
    end: u32,
    /// From there to the target, by what is known.
    distance: i64,
    long: bool,
}

impl Layout {
    /// Lays out all instructions with the shortest branches that reach.
    pub(crate) fn compute(&mut self, code: &Code) {
        self.branches.clear();
        self.switches.clear();
        self.symbolic.clear();
        self.growing.clear();
        self.unplaced = None;
        if self.offsets.len() < code.nodes.len() {
            self.offsets.resize(code.nodes.len(), 0);
        }
        self.write_short(code);
        if self.size > i32::MAX as u64 {
            return;
        }
        self.find_long();
        if !self.growing.is_empty() {
            self.grow();
            self.place_grown(code);
        }
        self.write_distances(code);
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The code; the operands that are symbols are to be filled in.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.size as usize).unwrap_or(&[])
    }

    /// The nodes with symbols, in the order of the code.
    pub(crate) fn symbolic(&self) -> &[u32] {
        &self.symbolic
    }

    /// The offset of a branch that goes nowhere.
    pub(crate) const fn unplaced(&self) -> Option<u32> {
        self.unplaced
    }

    /// The offset of a node.
    pub(crate) fn offset(&self, node: u32) -> u32 {
        self.offsets.get(node as usize).copied().unwrap_or(0)
    }

    /// The offset of a label.
    pub(crate) fn target(&self, code: &Code, label: Label) -> u32 {
        self.offset(code.place(label))
    }

    /// Whether each branch is long, in the order of the code.
    pub(crate) fn long_branches(&self) -> impl Iterator<Item = bool> {
        self.branches.iter().map(|branch| branch.long)
    }

    fn write_short(&mut self, code: &Code) {
        let mut at = 0;
        let mut index = code.first();
        while index != END
            && let Some(node) = code.node(index)
        {
            if let Some(slot) = self.offsets.get_mut(index as usize) {
                *slot = at as u32;
            }
            if node.prefix_count > 0 {
                at = self.write_prefixes(code, index, node, at);
            }
            if node.symbolic && self.symbolic.last() != Some(&index) {
                self.symbolic.push(index);
            }
            let form = node.opcode.form();
            // Code and operand at once; what is too much is overwritten by what comes next.
            let word = u64::from(form.code) | node.operand << form.shift;
            put(&mut self.bytes, at, word.to_le_bytes());
            let start = at;
            at += usize::from(form.length);
            match form.layout {
                OperandLayout::Short => {}
                OperandLayout::Long => {
                    put(&mut self.bytes, at - 8, node.operand.to_le_bytes());
                }
                OperandLayout::Target => {
                    let target = code.place(Label(node.operand as u32));
                    if target == END || target == UNPLACED {
                        self.unplaced = self.unplaced.or(Some(start as u32));
                    }
                    self.branches.push(Branch {
                        node: index,
                        target,
                        end: at as u32,
                        distance: 0,
                        long: false,
                    });
                }
                OperandLayout::Switch => {
                    let targets = code.switch(node.operand);
                    let nowhere = |&label: &Label| matches!(code.place(label), END | UNPLACED);
                    if targets.iter().any(nowhere) {
                        self.unplaced = self.unplaced.or(Some(start as u32));
                    }
                    put(
                        &mut self.bytes,
                        at - 4,
                        (targets.len() as u32).to_le_bytes(),
                    );
                    at += 4 * targets.len();
                    self.switches.push(index);
                }
            }
            index = node.next;
        }
        self.size = at as u64;
        if let Some(end) = self.offsets.first_mut() {
            *end = at as u32;
        }
    }

    fn write_prefixes(&mut self, code: &Code, index: u32, node: &Node, mut at: usize) -> usize {
        for prefix in code.prefixes_of(node) {
            let form = prefix.opcode.form();
            let word = u64::from(form.code) | u64::from(prefix.value) << form.shift;
            put(&mut self.bytes, at, word.to_le_bytes());
            at += usize::from(form.length);
            if prefix.symbolic && self.symbolic.last() != Some(&index) {
                self.symbolic.push(index);
            }
        }
        at
    }

    /// Notes the branches that are out of reach in any case.
    fn find_long(&mut self) {
        for (index, branch) in self.branches.iter_mut().enumerate() {
            branch.distance = distance(branch, &self.offsets);
            if i8::try_from(branch.distance).is_err() {
                branch.long = true;
                self.growing.push(index as u32);
            }
        }
    }

    /// Makes branches long, and those that thereby come out of reach too. Only the ones close by can
    /// be: a short branch reaches over a bounded number of others.
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
                // It goes over the grown one, to where it ends or beyond.
                if !branch.long
                    && i64::from(branch.end) + distance(branch, &self.offsets) >= i64::from(at)
                {
                    branch.distance += GROWTH as i64;
                    if i8::try_from(branch.distance).is_err() {
                        branch.long = true;
                        self.growing.push(index as u32);
                    }
                }
            }
            for (index, branch) in rest.iter_mut().enumerate().skip(1) {
                if branch.end - at > 0x100 {
                    break;
                }
                let target = i64::from(branch.end) + distance(branch, &self.offsets);
                if !branch.long && target < i64::from(at) {
                    branch.distance -= GROWTH as i64;
                    if i8::try_from(branch.distance).is_err() {
                        branch.long = true;
                        self.growing.push((grown + index) as u32);
                    }
                }
            }
        }
    }

    /// Moves all that stands behind long branches.
    fn place_grown(&mut self, code: &Code) {
        let mut grown = 0;
        let mut branches = self.branches.iter();
        let mut index = code.first();
        let mut next = branches.next();
        while index != END
            && let Some(node) = code.node(index)
        {
            if let Some(slot) = self.offsets.get_mut(index as usize) {
                *slot = (*slot as usize + grown) as u32;
            }
            if let Some(branch) = next.filter(|branch| branch.node == index) {
                grown += if branch.long { GROWTH } else { 0 };
                next = branches.next();
            }
            index = node.next;
        }
        let mut behind = self.size as usize;
        self.size += grown as u64;
        if let Some(end) = self.offsets.first_mut() {
            *end = self.size as u32;
        }
        if self.bytes.len() < behind + grown {
            self.bytes.resize(behind + grown, 0);
        }
        // From the last one to the first: nothing is overwritten that has yet to move.
        for branch in self.branches.iter_mut().rev() {
            let end = branch.end as usize;
            branch.end = (end + grown) as u32;
            self.bytes.copy_within(end..behind, end + grown);
            if branch.long {
                grown -= GROWTH;
            }
            behind = end - SHORT;
            let opcode = code.node(branch.node).map(|node| node.opcode);
            if let (Some(opcode), Some(slot)) = (opcode, self.bytes.get_mut(behind + grown)) {
                let opcode = if branch.long {
                    opcode
                } else {
                    opcode.short_form()
                };
                *slot = opcode.code() as u8;
            }
        }
    }

    /// Fills in the operands of branches and the tables of `switch` instructions.
    fn write_distances(&mut self, code: &Code) {
        for branch in &self.branches {
            let end = branch.end as usize;
            let distance = distance(branch, &self.offsets);
            if branch.long {
                put(&mut self.bytes, end - 4, (distance as i32).to_le_bytes());
            } else {
                put(&mut self.bytes, end - 1, [distance as u8]);
            }
        }
        for &index in &self.switches {
            let Some(node) = code.node(index) else {
                continue;
            };
            let targets = code.switch(node.operand);
            let end = self.offset(node.next);
            let mut at = end as usize - 4 * targets.len();
            for &target in targets {
                let distance = self.offset(code.place(target)).wrapping_sub(end);
                put(&mut self.bytes, at, distance.to_le_bytes());
                at += 4;
            }
        }
    }
}

/// From the end of a branch to its target.
#[inline]
fn distance(branch: &Branch, offsets: &[u32]) -> i64 {
    let target = offsets.get(branch.target as usize).copied();
    i64::from(target.unwrap_or(branch.end)) - i64::from(branch.end)
}

/// Puts bytes at a place, where there is room or room is made.
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
