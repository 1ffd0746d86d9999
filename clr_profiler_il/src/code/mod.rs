//! The storage of bodies and fragments: instructions in one array, linked by index, so that an
//! insertion moves nothing and ids stay valid; their labels and exception clauses.
//!
//! Node 0 is not an instruction but the end node: it closes the ring of links and carries the
//! labels at the end.

mod clause;
mod ids;
mod original;
mod slots;
mod splice;

use std::sync::Arc;

use crate::opcode::{Opcode, OperandKind};
use crate::symbol::{Reference, Symbol};
use crate::token::Token;

pub use ids::{InstructionId, Label, Position};

pub(crate) use clause::{Bounds, Clause, ClauseKind};
pub(crate) use ids::Owner;
pub(crate) use original::{Change, Original, PADDING, copy_padded};
pub(crate) use slots::Slots;

/// The end node.
pub(crate) const END: u32 = 0;
/// No label or offset.
pub(crate) const NONE: u32 = u32::MAX;
/// The position of a label that was removed from its code or not yet placed.
pub(crate) const UNPLACED: u32 = u32::MAX;

/// One instruction.
///
/// The fields that decoding sets alike in every node are adjacent, so that few stores suffice.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Node {
    /// The bits of a number, a variable, a token, a label, or for a `switch` the first label and
    /// the number of labels.
    pub(crate) operand: u64,
    /// The distances to the next and the previous node, modulo 2^32: 1 for adjacent nodes.
    pub(crate) to_next: u32,
    pub(crate) to_previous: u32,
    /// The first of the labels before the instruction.
    pub(crate) labels: u32,
    pub(crate) first_prefix: u32,
    /// The offset in the decoded code, or `NONE`.
    pub(crate) offset: u32,
    pub(crate) opcode: Opcode,
    pub(crate) prefix_count: u8,
    /// Whether the operand is the index of a symbol instead of a token.
    pub(crate) symbolic: bool,
    pub(crate) removed: bool,
}

impl Node {
    /// A ring of the end node alone.
    const ALONE: Self = Self {
        to_next: 0,
        to_previous: 0,
        ..Self::new(Opcode::Nop, 0)
    };

    /// An instruction linked to the adjacent nodes.
    #[inline]
    pub(crate) const fn new(opcode: Opcode, operand: u64) -> Self {
        Self {
            operand,
            to_next: 1,
            to_previous: 1,
            labels: NONE,
            first_prefix: 0,
            offset: NONE,
            opcode,
            prefix_count: 0,
            symbolic: false,
            removed: false,
        }
    }

    pub(crate) const fn original_offset(&self) -> Option<u32> {
        if self.offset == NONE {
            None
        } else {
            Some(self.offset)
        }
    }

    pub(crate) const fn is_branch(&self) -> bool {
        matches!(
            self.opcode.operand_kind(),
            OperandKind::Target | OperandKind::ShortTarget
        )
    }
}

/// The role of a label, which decides whether it moves when code is inserted at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelKind {
    Branch,
    RegionStart,
    RegionEnd,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelSlot {
    /// The node that it precedes.
    pub(crate) at: u32,
    /// The next label at the same node.
    pub(crate) next: u32,
    pub(crate) kind: LabelKind,
    /// The code from which this one was cloned, if the label was made there.
    pub(crate) origin: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrefixSlot {
    pub(crate) opcode: Opcode,
    pub(crate) symbolic: bool,
    pub(crate) value: u32,
}

#[derive(Debug)]
pub(crate) struct Code {
    /// Changed only by [`node_mut`](Self::node_mut), which keeps track of changes.
    pub(crate) nodes: Slots<Node>,
    pub(crate) labels: Vec<LabelSlot>,
    pub(crate) switches: Vec<Label>,
    pub(crate) prefixes: Vec<PrefixSlot>,
    pub(crate) symbols: Vec<Arc<Symbol>>,
    /// Inner ones before those that enclose them.
    pub(crate) clauses: Vec<Clause>,
    pub(crate) original: Original,
    /// The owner of the labels made here.
    owner: Owner,
}

impl Clone for Code {
    /// The clone shares the existing labels; labels made later belong to one of the two.
    fn clone(&self) -> Self {
        let mut labels = self.labels.clone();
        for slot in labels.iter_mut().filter(|slot| slot.origin == Owner::NONE) {
            slot.origin = self.owner;
        }
        Self {
            nodes: self.nodes.clone(),
            labels,
            switches: self.switches.clone(),
            prefixes: self.prefixes.clone(),
            symbols: self.symbols.clone(),
            clauses: self.clauses.clone(),
            original: self.original.clone(),
            owner: Owner::new(),
        }
    }
}

impl Code {
    pub(crate) fn new() -> Self {
        let mut nodes = Slots::new();
        nodes.push(Node::ALONE);
        Self {
            nodes,
            labels: Vec::new(),
            switches: Vec::new(),
            prefixes: Vec::new(),
            symbols: Vec::new(),
            clauses: Vec::new(),
            original: Original::default(),
            owner: Owner::new(),
        }
    }

    /// The label of this code with this index.
    #[inline]
    pub(crate) fn label(&self, index: u32) -> Label {
        let owner = self.owner;
        Label { index, owner }
    }

    /// Whether a label belongs to this code: labels of others may have the same index.
    pub(crate) fn owns(&self, label: Label) -> bool {
        let slot = self.labels.get(label.index as usize);
        slot.is_some_and(|slot| label.owner == self.owner || label.owner == slot.origin)
    }

    /// The offset of a decoded instruction; for the end, the size of the code.
    #[inline]
    pub(crate) fn offset(&self, node: u32) -> usize {
        if self.original.contains(node) {
            self.node(node).map_or(0, |node| node.offset as usize)
        } else {
            self.original.size
        }
    }

    /// Clears everything but keeps the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::ALONE);
        self.labels.clear();
        self.switches.clear();
        self.prefixes.clear();
        self.symbols.clear();
        self.clauses.clear();
        self.original.clear();
        self.owner = Owner::new();
    }

    /// A node of this code. The index must be known to be valid: slots past the last node hold
    /// leftovers of earlier bodies.
    #[inline]
    pub(crate) fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.slot(index as usize)
    }

    /// A node, for changes of its opcode, operand or prefixes.
    pub(crate) fn node_mut(&mut self, index: u32) -> Option<&mut Node> {
        self.original.note(Change::written(index));
        self.nodes.slot_mut(index as usize)
    }

    /// Links two nodes in order.
    #[inline]
    fn link(&mut self, previous: u32, next: u32) {
        self.original.note(Change::followed(previous));
        if let Some(node) = self.nodes.slot_mut(previous as usize) {
            node.to_next = next.wrapping_sub(previous);
        }
        if let Some(node) = self.nodes.slot_mut(next as usize) {
            node.to_previous = next.wrapping_sub(previous);
        }
    }

    /// The first label at a node. Labels have no bytes, so this is not a change of the node.
    fn labels_mut(&mut self, index: u32) -> Option<&mut u32> {
        self.nodes
            .slot_mut(index as usize)
            .map(|node| &mut node.labels)
    }

    /// The next node in order; `END` after the last one.
    #[inline]
    pub(crate) fn next(&self, index: u32) -> u32 {
        self.node(index)
            .map_or(END, |node| index.wrapping_add(node.to_next))
    }

    /// The previous node in order; `END` before the first one.
    #[inline]
    pub(crate) fn previous(&self, index: u32) -> u32 {
        self.node(index)
            .map_or(END, |node| index.wrapping_sub(node.to_previous))
    }

    /// The first node in order, `END` if there is none.
    #[inline]
    pub(crate) fn first(&self) -> u32 {
        self.next(END)
    }

    /// The last node in order, `END` if there is none.
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        self.previous(END)
    }

    /// Makes a ring of the first nodes, up to this one, which are adjacent.
    pub(crate) fn close(&mut self, last: u32) {
        for (from, to) in [(last, END), (END, u32::from(last != END))] {
            if let Some(node) = self.nodes.slot_mut(from as usize) {
                node.to_next = to.wrapping_sub(from);
            }
        }
        if let Some(end) = self.nodes.slot_mut(END as usize) {
            end.to_previous = END.wrapping_sub(last);
        }
    }

    pub(crate) fn position(&self, at: u32) -> Position {
        if at == END || at == UNPLACED {
            Position::End
        } else {
            Position::Before(InstructionId(at))
        }
    }

    /// The node that a label precedes; `UNPLACED` if it has no position.
    #[inline]
    pub(crate) fn node_of(&self, label: Label) -> u32 {
        self.labels
            .get(label.index as usize)
            .map_or(UNPLACED, |slot| slot.at)
    }

    pub(crate) fn switch(&self, operand: u64) -> &[Label] {
        let (start, count) = unpack_range(operand);
        self.switches
            .get(start..start.saturating_add(count))
            .unwrap_or(&[])
    }

    pub(crate) fn prefixes_of(&self, node: &Node) -> &[PrefixSlot] {
        if node.prefix_count == 0 {
            return &[];
        }
        let start = node.first_prefix as usize;
        self.prefixes
            .get(start..start + usize::from(node.prefix_count))
            .unwrap_or(&[])
    }

    pub(crate) fn symbol(&self, index: u32) -> Option<&Symbol> {
        self.symbols.get(index as usize).map(|symbol| &**symbol)
    }

    /// A token, or the symbol with this index.
    pub(crate) fn reference(&self, value: u32, symbolic: bool) -> Reference<'_> {
        match self.symbol(value) {
            Some(symbol) if symbolic => Reference::Symbol(symbol),
            _ => Reference::Token(Token::new(value)),
        }
    }

    /// Creates a label at a node, or unplaced.
    pub(crate) fn add_label(&mut self, at: u32, kind: LabelKind) -> Label {
        let index = self.labels.len() as u32;
        let mut next = NONE;
        if let Some(labels) = self.labels_mut(at) {
            next = std::mem::replace(labels, index);
        }
        let origin = Owner::NONE;
        self.labels.push(LabelSlot {
            at,
            next,
            kind,
            origin,
        });
        self.label(index)
    }

    /// A label for branches to a node: an existing or a new one.
    pub(crate) fn branch_label(&mut self, at: u32) -> Label {
        if let Some(node) = self.node(at)
            && let Some(slot) = self.labels.get(node.labels as usize)
            && slot.kind == LabelKind::Branch
        {
            return self.label(node.labels);
        }
        self.add_label(at, LabelKind::Branch)
    }

    /// Moves a label.
    pub(crate) fn place_label(&mut self, label: Label, at: u32) {
        let from = self.node_of(label);
        self.move_labels(from, UNPLACED, |index, _| index == label.index);
        let mut next = NONE;
        if let Some(labels) = self.labels_mut(at) {
            next = std::mem::replace(labels, label.index);
        }
        if let Some(slot) = self.labels.get_mut(label.index as usize) {
            (slot.at, slot.next) = (at, next);
        }
    }

    /// Moves the labels at one node that a predicate selects to another node.
    #[inline]
    pub(crate) fn move_labels(
        &mut self,
        from: u32,
        to: u32,
        chosen: impl Fn(u32, LabelKind) -> bool,
    ) {
        // Few instructions have labels.
        if self.node(from).is_some_and(|node| node.labels != NONE) {
            self.move_some_labels(from, to, chosen);
        }
    }

    fn move_some_labels(&mut self, from: u32, to: u32, chosen: impl Fn(u32, LabelKind) -> bool) {
        let Some(labels) = self.labels_mut(from) else {
            return;
        };
        let mut index = std::mem::replace(labels, NONE);
        let (mut staying, mut moving) = (NONE, self.node(to).map_or(NONE, |node| node.labels));
        while let Some(slot) = self.labels.get_mut(index as usize) {
            let next = slot.next;
            if chosen(index, slot.kind) {
                slot.at = to;
                slot.next = std::mem::replace(&mut moving, index);
            } else {
                slot.next = std::mem::replace(&mut staying, index);
            }
            index = next;
        }
        if let Some(labels) = self.labels_mut(from) {
            *labels = staying;
        }
        if let Some(labels) = self.labels_mut(to) {
            *labels = moving;
        }
    }

    /// Appends an instruction; labels at the end then precede it.
    pub(crate) fn append(&mut self, node: Node) -> u32 {
        let index = self.nodes.len() as u32;
        let last = self.last();
        self.nodes.push(node);
        self.link(last, index);
        self.link(index, END);
        if self.node(END).is_some_and(|end| end.labels != NONE) {
            self.move_labels(END, index, |_, _| true);
        }
        index
    }

    pub(crate) fn add_symbol(&mut self, symbol: Symbol) -> u32 {
        let index = self.symbols.len() as u32;
        self.symbols.push(Arc::new(symbol));
        index
    }

    pub(crate) fn add_switch(&mut self, targets: &[Label]) -> u64 {
        let start = self.switches.len();
        self.switches.extend_from_slice(targets);
        pack_range(start, targets.len())
    }

    /// Visits the nodes of all `ret` and `jmp` instructions, including removed ones and possibly
    /// some twice.
    #[inline]
    pub(crate) fn each_exit(&self, mut visit: impl FnMut(u32, &Node)) {
        let mut look = |index: u32| {
            if let Some(node) = self.node(index)
                && node.opcode.is_exit()
            {
                visit(index, node);
            }
        };
        // Decoded exits are known, except for changes since.
        self.original.jumps.iter().copied().for_each(&mut look);
        self.original.written().for_each(&mut look);
        (self.original.count + 1..self.nodes.len() as u32).for_each(look);
    }

    /// Unlinks an instruction; its labels move to the next one.
    pub(crate) fn unlink(&mut self, index: u32) {
        let Some(node) = self.nodes.get_mut(index as usize) else {
            return;
        };
        node.removed = true;
        let (previous, next) = (self.previous(index), self.next(index));
        self.link(previous, next);
        self.move_labels(index, next, |_, _| true);
    }
}

/// Packs the first label of a `switch` and the number of labels into an operand.
pub(crate) const fn pack_range(start: usize, count: usize) -> u64 {
    ((start as u64) << 32) | count as u64
}

pub(crate) const fn unpack_range(operand: u64) -> (usize, usize) {
    ((operand >> 32) as usize, operand as u32 as usize)
}
