use super::EditError;
use crate::body::MethodBody;
use crate::code::{Code, END, LabelKind, Node, UNPLACED};
use crate::fragment::Fragment;
use crate::instruction::{InstructionId, Label, Position};
use crate::opcode::OperandKind;

/// The effect of an insertion on branches to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Labels {
    /// They target the new code.
    Move,
    /// They keep their target and skip the new code.
    Stay,
}

/// The regions of inserted code at a position where regions begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The regions of the next instruction: inside of those that begin here.
    WithNext,
    /// The regions of the previous instruction: inside of those that end here.
    WithPrevious,
    /// Neither.
    Outside,
}

/// A position, and how to insert code there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InsertionPoint {
    /// The position.
    pub position: Position,
    /// The effect on branches to this position.
    pub labels: Labels,
    /// The side of the bounds of regions.
    pub side: Side,
}

/// The first and last inserted instruction. An empty fragment inserts none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InsertedRange {
    /// The first.
    pub first: InstructionId,
    /// The last.
    pub last: InstructionId,
}

impl MethodBody {
    /// Inserts code before an instruction, in its regions.
    ///
    /// # Errors
    ///
    /// If there is no such instruction, or the fragment has unplaced labels.
    pub fn insert_before(
        &mut self,
        id: InstructionId,
        labels: Labels,
        fragment: &Fragment,
    ) -> Result<Option<InsertedRange>, EditError> {
        let point = InsertionPoint {
            position: Position::Before(id),
            labels,
            side: Side::WithNext,
        };
        self.insert(point, fragment, &[])
    }

    /// Inserts code after an instruction, in its regions. `labels` applies to branches to the
    /// instruction after it.
    ///
    /// # Errors
    ///
    /// If there is no such instruction, or the fragment has unplaced labels.
    pub fn insert_after(
        &mut self,
        id: InstructionId,
        labels: Labels,
        fragment: &Fragment,
    ) -> Result<Option<InsertedRange>, EditError> {
        self.existing(id)?;
        let point = InsertionPoint {
            position: self.code.position(self.code.next(id.0)),
            labels,
            side: Side::WithPrevious,
        };
        self.insert(point, fragment, &[])
    }

    /// Inserts code at the end, after all regions.
    ///
    /// # Errors
    ///
    /// If the fragment has unplaced labels.
    pub fn append(&mut self, fragment: &Fragment) -> Result<Option<InsertedRange>, EditError> {
        let point = InsertionPoint {
            position: Position::End,
            labels: Labels::Move,
            side: Side::Outside,
        };
        self.insert(point, fragment, &[])
    }

    /// Inserts code at any position. `exits` maps the labels that the fragment did not mark to
    /// labels of the body.
    ///
    /// ```
    /// use clr_profiler_il::body::MethodBody;
    /// use clr_profiler_il::edit::{Labels, InsertionPoint, Side};
    /// use clr_profiler_il::fragment::Fragment;
    /// use clr_profiler_il::instruction::Position;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `nop; ret`, and a way to skip the `nop`.
    /// let mut body = MethodBody::decode(&[0x0a, 0x00, 0x2a])?;
    /// let ids: Vec<_> = body.instructions().map(|one| one.id()).collect();
    /// let mut skip = Fragment::new();
    /// let out = skip.label();
    /// skip.ldarg(0).brtrue(out);
    /// let point = InsertionPoint {
    ///     position: Position::Before(ids[0]),
    ///     labels: Labels::Stay,
    ///     side: Side::Outside,
    /// };
    /// let ret = body.label(Position::Before(ids[1]))?;
    /// body.insert(point, &skip, &[(out, ret)])?;
    /// assert!(body.to_string().contains("brtrue.s   IL_0004"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no such position, or a label of the fragment has no target. The body is then
    /// unchanged.
    pub fn insert(
        &mut self,
        point: InsertionPoint,
        fragment: &Fragment,
        exits: &[(Label, Label)],
    ) -> Result<Option<InsertedRange>, EditError> {
        let before = self.node_at(point.position)?;
        check(fragment, exits)?;
        for &(_, label) in exits {
            self.known(label)?;
        }
        let sides = (point.labels, point.side);
        Ok(self.insert_checked(before, sides, fragment, exits))
    }

    /// Inserts checked code before a node.
    #[inline]
    pub(super) fn insert_checked(
        &mut self,
        before: u32,
        (labels, side): (Labels, Side),
        fragment: &Fragment,
        exits: &[(Label, Label)],
    ) -> Option<InsertedRange> {
        let spliced = self.code.splice(before, &fragment.code)?;
        // The labels of the fragment at this node are the newest ones.
        self.code.move_labels(before, spliced.first, |index, kind| {
            index < spliced.labels
                && match kind {
                    LabelKind::Branch => labels == Labels::Move,
                    LabelKind::RegionStart => side == Side::WithNext,
                    LabelKind::RegionEnd => side != Side::WithPrevious,
                }
        });
        if !exits.is_empty() {
            let bind = |label: Label| {
                let own = label.index.wrapping_sub(spliced.labels);
                let exit = exits.iter().find(|(from, _)| from.index == own);
                exit.map_or(label, |&(_, to)| to)
            };
            self.rebind(spliced.first, spliced.last, bind);
        }
        if !fragment.code.clauses.is_empty() {
            let clauses = fragment.code.clauses.iter();
            let copies = clauses.map(|clause| clause.shifted(spliced.labels, spliced.symbols));
            // No existing clause is inside of the new code, so all may follow.
            self.code.clauses.splice(0..0, copies);
        }
        self.account(before, fragment);
        Some(InsertedRange {
            first: InstructionId(spliced.first),
            last: InstructionId(spliced.last),
        })
    }

    /// Replaces an instruction. Branches to it, and bounds at it, move to the first instruction of
    /// the new code.
    ///
    /// # Errors
    ///
    /// If there is no such instruction, or the fragment has unplaced labels.
    pub fn replace(
        &mut self,
        id: InstructionId,
        fragment: &Fragment,
    ) -> Result<Option<InsertedRange>, EditError> {
        let offset = self.existing(id)?.offset;
        let inserted = self.insert_before(id, Labels::Move, fragment)?;
        self.code.unlink(id.0);
        if let Some(inserted) = inserted
            && let Some(node) = self.code.node_mut(inserted.first.0)
        {
            // For the offset map: the replacement of the old instruction.
            node.offset = offset;
        }
        Ok(inserted)
    }

    /// Removes an instruction. Branches to it, and bounds at it, move to the next one.
    ///
    /// # Errors
    ///
    /// If there is no such instruction.
    pub fn remove(&mut self, id: InstructionId) -> Result<(), EditError> {
        self.existing(id)?;
        self.code.unlink(id.0);
        Ok(())
    }

    /// Creates a label for branches to a position. It stays with its instruction, unless code is
    /// inserted with [`Labels::Move`].
    ///
    /// # Errors
    ///
    /// If there is no such position.
    pub fn label(&mut self, position: Position) -> Result<Label, EditError> {
        let at = self.node_at(position)?;
        Ok(self.code.add_label(at, LabelKind::Branch))
    }

    /// Moves a label, and with it the target of all its branches.
    ///
    /// # Errors
    ///
    /// If there is no such label or position.
    pub fn move_label(&mut self, label: Label, position: Position) -> Result<(), EditError> {
        let at = self.node_at(position)?;
        self.known(label)?;
        self.code.place_label(label, at);
        Ok(())
    }

    /// Sets one target of a branch: the `index`th of a `switch`, the 0th of any other.
    ///
    /// # Errors
    ///
    /// If there is no such instruction, target or label.
    pub fn set_target(
        &mut self,
        id: InstructionId,
        index: usize,
        label: Label,
    ) -> Result<(), EditError> {
        self.known(label)?;
        let node = *self.existing(id)?;
        if index >= self.instruction(id).map_or(0, |one| one.targets().count()) {
            return Err(EditError::NoTarget(id));
        }
        if node.opcode.operand_kind() == OperandKind::Switch {
            let (start, _) = crate::code::unpack_range(node.operand);
            if let Some(slot) = self.code.switches.get_mut(start + index) {
                *slot = label;
            }
        } else if let Some(node) = self.code.node_mut(id.0) {
            node.operand = u64::from(label.index);
        }
        Ok(())
    }

    pub(crate) fn existing(&self, id: InstructionId) -> Result<&Node, EditError> {
        let instruction = self.code.instruction(id);
        let instruction = instruction.ok_or(EditError::UnknownInstruction(id))?;
        Ok(instruction.node)
    }

    pub(super) fn node_at(&self, position: Position) -> Result<u32, EditError> {
        match position {
            Position::End => Ok(END),
            Position::Before(id) => self.existing(id).map(|_| id.0),
        }
    }

    fn known(&self, label: Label) -> Result<(), EditError> {
        match self.code.labels.get(label.index as usize) {
            Some(slot) if slot.kind == LabelKind::Branch && self.code.owns(label) => Ok(()),
            _ => Err(EditError::UnknownLabel(label)),
        }
    }

    /// Replaces the labels in the operands from one node to another.
    fn rebind(&mut self, first: u32, last: u32, bind: impl Fn(Label) -> Label) {
        for index in first..=last {
            let Some(target) = self.code.node(index).map(|node| node.operand) else {
                return;
            };
            let target = self.code.label(target as u32);
            let Some(node) = self.code.nodes.get_mut(index as usize) else {
                return;
            };
            match node.opcode.operand_kind() {
                OperandKind::Target | OperandKind::ShortTarget => {
                    node.operand = u64::from(bind(target).index);
                }
                OperandKind::Switch => {
                    let (start, count) = crate::code::unpack_range(node.operand);
                    let labels = self.code.switches.iter_mut().skip(start).take(count);
                    labels.for_each(|label| *label = bind(*label));
                }
                _ => {}
            }
        }
    }

    /// Adds the stack need of a fragment, inserted before a node, to that of the body.
    fn account(&mut self, before: u32, fragment: &Fragment) {
        let need = fragment.stack_need();
        let left = u32::try_from(fragment.stack_change()).unwrap_or(0);
        let in_old_code = self
            .code
            .node(before)
            .is_some_and(|node| node.original_offset().is_some());
        let added = &mut self.added_stack;
        added.left = added.left.saturating_add(left);
        if in_old_code {
            added.above = added.above.max(need);
        } else {
            // Inside of inserted code, whose values may be on the stack as well.
            added.above = added.above.saturating_add(need);
            added.at_entry = added.at_entry.saturating_add(need);
        }
    }
}

/// Checks that every label that the fragment branches to is its own and has a position.
pub(crate) fn check(fragment: &Fragment, exits: &[(Label, Label)]) -> Result<(), EditError> {
    let code: &Code = &fragment.code;
    if !fragment.pending.is_empty() {
        return Err(EditError::DanglingPrefix);
    }
    let mut exit_labels = exits.iter().map(|(from, _)| *from);
    let foreign = fragment
        .foreign
        .or(exit_labels.find(|from| !code.owns(*from)));
    if let Some(label) = foreign {
        return Err(EditError::UnknownLabel(label));
    }
    if code.labels.is_empty() {
        return Ok(());
    }
    let mut targets = code.instructions().flat_map(|one| one.targets());
    let unbound = targets.find(|label| {
        let is_exit = |(from, _): &(Label, Label)| from.index == label.index;
        code.node_of(*label) == UNPLACED && !exits.iter().any(is_exit)
    });
    unbound.map_or(Ok(()), |label| Err(EditError::UnboundLabel(label)))
}
