use super::{EditError, InsertionPoint, Labels, Side};
use crate::body::MethodBody;
use crate::code::{Bounds, Clause, ClauseKind};
use crate::flow::Ranks;
use crate::fragment::{Fragment, Name, TypeName};
use crate::instruction::{InstructionId, Label};

/// The kind of an added handler.
#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Catch,
    Filter(&'a Fragment),
    Finally,
    Fault,
}

impl MethodBody {
    /// Protects the code from one instruction to another by a `catch`.
    ///
    /// The handler finds the exception on the stack and is inserted directly after the protected
    /// code. Control that reaches the end of the code or of the handler continues after the
    /// handler. Branches out of the protected code are not changed: there must be none except
    /// `leave`, and no `ret`.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has unplaced labels.
    pub fn add_catch(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        name: impl Into<TypeName>,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Catch, Some(name.into().0), handler)
    }

    /// Protects the code from one instruction to another by a `finally`, in the way of
    /// [`add_catch`](Self::add_catch).
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has unplaced labels.
    pub fn add_finally(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Finally, None, handler)
    }

    /// Protects the code from one instruction to another by a `fault`, in the way of
    /// [`add_catch`](Self::add_catch).
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has unplaced labels.
    pub fn add_fault(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Fault, None, handler)
    }

    /// Protects the code from one instruction to another by a handler for the exceptions that a
    /// filter accepts, in the way of [`add_catch`](Self::add_catch).
    ///
    /// The filter finds the exception on the stack and leaves 1 to accept it, otherwise 0: the
    /// value at its end is its result. It is inserted before the handler, and runs before any frame
    /// of a callee is unwound.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, a fragment has unplaced labels, or the end
    /// of the filter is unreachable.
    pub fn add_filter(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        filter: &Fragment,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        if filter.is_empty() || !filter.reachable_end() {
            return Err(EditError::EmptyRegion);
        }
        self.add_handler(first, last, Kind::Filter(filter), None, handler)
    }

    fn add_handler(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        kind: Kind<'_>,
        name: Option<Name>,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.existing(first)?;
        let last_node = *self.existing(last)?;
        let ranks = Ranks::new(&self.code);
        let covered = (ranks.of(first.0), ranks.of(last.0));
        if covered.0 > covered.1 {
            return Err(EditError::EmptyRegion);
        }
        let mut whole = Fragment::new();
        let after = whole.label();
        if !last_node.opcode.ends_block() {
            whole.leave(after);
        }
        let jumps = nodes(&whole);
        if let Kind::Filter(filter) = kind {
            whole.append(filter).endfilter();
        }
        let before_handler = nodes(&whole);
        whole.append(handler);
        if whole.reachable_end() || handler.is_empty() {
            match kind {
                Kind::Catch | Kind::Filter(_) => whole.leave(after),
                Kind::Finally | Kind::Fault => whole.endfinally(),
            };
        }
        whole.mark(after);
        let next = self.code.next(last.0);
        let point = InsertionPoint {
            position: self.code.position(next),
            labels: Labels::Stay,
            side: Side::WithPrevious,
        };
        let index = self.clause_index(covered, &ranks);
        let ends = self.ends_within(next, covered.0, &ranks);
        // The handler's own clauses precede all others.
        let index = index + whole.code.clauses.len();
        let Some(inserted) = self.insert(point, &whole, &[])? else {
            return Err(EditError::EmptyRegion);
        };
        // Filter and handler start with the exception on the stack.
        let above = match kind {
            Kind::Catch => handler.stack_need() + 1,
            Kind::Filter(filter) => handler.stack_need().max(filter.stack_need()) + 1,
            Kind::Finally | Kind::Fault => 0,
        };
        self.added_stack.above = self.added_stack.above.max(above);
        let try_end = inserted.first.0 + jumps;
        let handler_start = inserted.first.0 + before_handler;
        // Regions that ended with the protected code still end with it.
        for (end, same) in ends {
            let at = if same { try_end } else { inserted.first.0 };
            self.code.place_label(end, at);
        }
        let handler_end = self.code.next(inserted.last.0);
        let value = name.map_or((0, false), |name| name.within(&mut self.code));
        let kind = match kind {
            Kind::Catch => ClauseKind::Catch,
            Kind::Filter(_) => ClauseKind::Filter,
            Kind::Finally => ClauseKind::Finally,
            Kind::Fault => ClauseKind::Fault,
        };
        let bounds = Bounds {
            try_start: first.0,
            try_end,
            filter: (kind == ClauseKind::Filter).then_some(try_end),
            handler_start,
            handler_end,
        };
        let clause = Clause::new(&mut self.code, kind, value, bounds);
        let clauses = &mut self.code.clauses;
        clauses.insert(index.min(clauses.len()), clause);
        Ok(())
    }

    /// The labels at a node that end regions starting at a rank or after it, and whether the region
    /// starts exactly there.
    fn ends_within(&self, at: u32, first: u32, ranks: &Ranks) -> Vec<(Label, bool)> {
        let mut ends = Vec::new();
        for clause in &self.code.clauses {
            for (start, end) in [
                (clause.try_start, clause.try_end),
                (clause.handler_start, clause.handler_end),
            ] {
                let start = ranks.of(self.code.node_of(start));
                if self.code.node_of(end) == at && start >= first {
                    ends.push((end, start == first));
                }
            }
        }
        ends
    }

    /// The index of a new clause whose try region spans two ranks: after the last clause that is
    /// inside of it or protects the same code.
    fn clause_index(&self, (first, last): (u32, u32), ranks: &Ranks) -> usize {
        let rank = |label| ranks.of(self.code.node_of(label));
        let within = |clause: &Clause| {
            rank(clause.try_start) >= first && rank(clause.try_end) <= last.saturating_add(1)
        };
        self.code
            .clauses
            .iter()
            .rposition(within)
            .map_or(0, |index| index + 1)
    }
}

/// The number of nodes of a fragment.
fn nodes(fragment: &Fragment) -> u32 {
    fragment.code.instructions().count() as u32
}
