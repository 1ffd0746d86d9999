use crate::code::{Code, END, Node, UNPLACED, unpack_range};
use crate::instruction::Label;
use crate::opcode::OperandKind;

/// A branch in its short form has this many bytes; every branch has a code of one byte.
const SHORT: u32 = 2;
/// What the long form has more.
const GROWTH: u32 = 3;

/// Where every instruction lies in the code to be written, and which branches are long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// By node; that of the end is the size of the code.
    offsets: Vec<u32>,
    /// In the order of the code.
    branches: Vec<Branch>,
    /// Branches that must become long.
    growing: Vec<u32>,
    /// The size of the code; `offsets` mean nothing if it does not fit.
    size: u64,
    /// A branch without an instruction to go to.
    unplaced: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    node: u32,
    target: u32,
    /// The offset behind it, all branches being short.
    end: u32,
    /// From there to the target, by what is known.
    distance: i64,
    long: bool,
}

impl Layout {
    /// Lays out all instructions with the shortest branches that reach.
    pub(crate) fn compute(&mut self, code: &Code) {
        self.branches.clear();
        self.growing.clear();
        self.unplaced = None;
        self.offsets.clear();
        self.offsets.resize(code.nodes.len(), 0);
        self.place_short(code);
        if self.size > i32::MAX as u64 {
            return;
        }
        self.find_long();
        if !self.growing.is_empty() {
            self.grow();
            self.place_grown(code);
        }
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
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

    fn place_short(&mut self, code: &Code) {
        let mut offset = 0_u64;
        let mut index = code.first();
        while index != END
            && let Some(node) = code.node(index)
        {
            if let Some(slot) = self.offsets.get_mut(index as usize) {
                *slot = offset as u32;
            }
            match node.opcode.operand_kind() {
                OperandKind::Target | OperandKind::ShortTarget => {
                    let target = code.place(Label(node.operand as u32));
                    if target == END || target == UNPLACED {
                        self.unplaced = self.unplaced.or(Some(offset as u32));
                    }
                    offset += u64::from(SHORT) + prefix_size(code, node);
                    self.branches.push(Branch {
                        node: index,
                        target,
                        end: offset as u32,
                        distance: 0,
                        long: false,
                    });
                }
                OperandKind::Switch => {
                    let unplaced = code
                        .switch(node.operand)
                        .iter()
                        .any(|&label| matches!(code.place(label), END | UNPLACED));
                    if unplaced {
                        self.unplaced = self.unplaced.or(Some(offset as u32));
                    }
                    offset += fixed_size(code, node);
                }
                _ => offset += fixed_size(code, node),
            }
            index = node.next;
        }
        self.size = offset;
        if let Some(end) = self.offsets.first_mut() {
            *end = offset as u32;
        }
    }

    /// Notes the branches that are out of reach in any case.
    fn find_long(&mut self) {
        for (index, branch) in self.branches.iter_mut().enumerate() {
            let target = self.offsets.get(branch.target as usize).copied();
            branch.distance = i64::from(target.unwrap_or(branch.end)) - i64::from(branch.end);
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
                    && i64::from(branch.end) + original(branch, &self.offsets) >= i64::from(at)
                {
                    branch.distance += i64::from(GROWTH);
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
                let target = i64::from(branch.end) + original(branch, &self.offsets);
                if !branch.long && target < i64::from(at) {
                    branch.distance -= i64::from(GROWTH);
                    if i8::try_from(branch.distance).is_err() {
                        branch.long = true;
                        self.growing.push((grown + index) as u32);
                    }
                }
            }
        }
    }

    fn place_grown(&mut self, code: &Code) {
        let mut grown = 0_u64;
        let mut branches = self.branches.iter();
        let mut index = code.first();
        let mut next = branches.next();
        while index != END
            && let Some(node) = code.node(index)
        {
            if let Some(slot) = self.offsets.get_mut(index as usize) {
                *slot = (u64::from(*slot) + grown) as u32;
            }
            if let Some(branch) = next.filter(|branch| branch.node == index) {
                grown += if branch.long { u64::from(GROWTH) } else { 0 };
                next = branches.next();
            }
            index = node.next;
        }
        self.size += grown;
        if let Some(end) = self.offsets.first_mut() {
            *end = self.size as u32;
        }
    }
}

/// The distance with all branches short.
fn original(branch: &Branch, offsets: &[u32]) -> i64 {
    let target = offsets.get(branch.target as usize).copied();
    i64::from(target.unwrap_or(branch.end)) - i64::from(branch.end)
}

#[inline]
fn prefix_size(code: &Code, node: &Node) -> u64 {
    if node.prefix_count == 0 {
        return 0;
    }
    let prefixes = code.prefixes_of(node).iter();
    prefixes
        .map(|prefix| 2 + u64::from(prefix.opcode.operand_kind().size().unwrap_or(0)))
        .sum()
}

#[inline]
fn fixed_size(code: &Code, node: &Node) -> u64 {
    let operand = match node.opcode.operand_kind().size() {
        Some(size) => u64::from(size),
        None => 4 + 4 * unpack_range(node.operand).1 as u64,
    };
    u64::from(node.opcode.code_length()) + operand + prefix_size(code, node)
}
