use super::{Code, END, Label, NONE, Node, Owner, UNPLACED, pack_range, unpack_range};
use crate::opcode::OperandKind;

/// The location of a copy of other code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spliced {
    /// The first new node.
    pub(crate) first: u32,
    /// The last new node.
    pub(crate) last: u32,
    /// The offset to add to a label's index in the other code.
    pub(crate) labels: u32,
    /// The offset to add to a symbol's index in the other code.
    pub(crate) symbols: u32,
}

impl Code {
    /// Becomes a copy of code without labels and clauses, which was built only by appending.
    pub(crate) fn copy_straight(&mut self, other: &Self) {
        self.nodes.clear();
        let slots = self.nodes.with_room(other.nodes.len(), Node::ALONE);
        // Links are distances, so that they need no change.
        for (slot, node) in slots.iter_mut().zip(other.nodes.iter()) {
            *slot = *node;
        }
        self.nodes.extend_to(other.nodes.len());
        self.prefixes.clone_from(&other.prefixes);
        self.symbols.clone_from(&other.symbols);
    }

    /// Copies all of `other`, which was built only by appending, in front of a node.
    ///
    /// Labels at its end move to that node; its unplaced labels stay unplaced. Existing labels of
    /// the node stay. `None` if `other` is empty.
    #[inline]
    pub(crate) fn splice(&mut self, before: u32, other: &Self) -> Option<Spliced> {
        if other.nodes.len() < 2 {
            return None;
        }
        self.node(before)?;
        let previous = self.previous(before);
        let base = self.nodes.len() as u32;
        let last = base + other.nodes.len() as u32 - 2;
        let labels = self.labels.len() as u32;
        let symbols = self.symbols.len() as u32;
        let prefixes = self.prefixes.len() as u32;

        // The nodes are in the order in which they were appended; `link` joins both ends.
        let from = other.nodes.get(1..).unwrap_or(&[]);
        let slots = self.nodes.with_room(from.len(), Node::ALONE);
        let slots = slots.get_mut(base as usize..).unwrap_or(&mut []);
        for (slot, node) in slots.iter_mut().zip(from) {
            *slot = *node;
        }
        self.nodes.extend_to(last as usize + 1);
        self.link(previous, base);
        self.link(last, before);
        if !other.prefixes.is_empty() {
            for node in self.nodes.get_mut(base as usize..)? {
                node.first_prefix += prefixes;
            }
            self.prefixes.extend(other.prefixes.iter().map(|prefix| {
                let mut prefix = *prefix;
                if prefix.symbolic {
                    prefix.value += symbols;
                }
                prefix
            }));
        }
        if !(other.labels.is_empty() && other.symbols.is_empty()) {
            self.shift(base, other);
        }
        Some(Spliced {
            first: base,
            last,
            labels,
            symbols,
        })
    }

    /// Rebases the labels and symbols of copied nodes, which start at `base` and are already
    /// linked.
    fn shift(&mut self, base: u32, other: &Self) -> Option<()> {
        let labels = self.labels.len() as u32;
        let symbols = self.symbols.len() as u32;
        let switches = self.switches.len();
        self.symbols.extend_from_slice(&other.symbols);
        let owner = self.owner;
        let shifted = other.switches.iter().map(|label| Label {
            index: label.index + labels,
            owner,
        });
        self.switches.extend(shifted);

        let shift = |label: u32| if label == NONE { NONE } else { label + labels };
        for node in self.nodes.get_mut(base as usize..)? {
            node.labels = shift(node.labels);
            match node.opcode.operand_kind() {
                OperandKind::Target | OperandKind::ShortTarget => node.operand += u64::from(labels),
                OperandKind::Switch => {
                    let (start, count) = unpack_range(node.operand);
                    node.operand = pack_range(start + switches, count);
                }
                _ if node.symbolic => node.operand += u64::from(symbols),
                _ => {}
            }
        }
        let before = self.next(self.nodes.len() as u32 - 1);
        for slot in &other.labels {
            let mut slot = *slot;
            slot.origin = Owner::NONE;
            slot.next = shift(slot.next);
            slot.at = match slot.at {
                UNPLACED => UNPLACED,
                END => UNPLACED,
                at => base + at - 1,
            };
            self.labels.push(slot);
        }
        // The labels at the end form a chain of their own, which is joined with that of the node.
        let mut index = shift(other.node(END)?.labels);
        while let Some(next) = self.labels.get(index as usize).map(|slot| slot.next) {
            let first = self.node(before)?.labels;
            let slot = self.labels.get_mut(index as usize)?;
            (slot.at, slot.next) = (before, first);
            *self.labels_mut(before)? = index;
            index = next;
        }
        Some(())
    }
}
