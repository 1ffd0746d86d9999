use super::{EditError, InsertionPoint, Labels, Side};
use crate::body::MethodBody;
use crate::code::{Bounds, Clause, ClauseKind};
use crate::flow::Ranks;
use crate::fragment::{Fragment, Name, TypeName};
use crate::instruction::{InstructionId, Label};

/// What a handler that is added handles.
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
    /// The handler, which finds the exception on the stack, is placed right after the
    /// protected code. Where the end of the code or of the handler is reached, control continues
    /// after the handler. Branches out of the protected code are not changed: there must be none
    /// but `leave`, and no `ret`.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has labels without a place.
    pub fn add_catch(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        name: impl Into<TypeName>,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Catch, Some(name.into().0), handler)
    }

    /// Protects the code from one instruction to another by a `finally`, as
    /// [`add_catch`](Self::add_catch) does by a `catch`.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has labels without a place.
    pub fn add_finally(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Finally, None, handler)
    }

    /// Protects the code from one instruction to another by a `fault`, as
    /// [`add_catch`](Self::add_catch) does by a `catch`.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, or the fragment has labels without a place.
    pub fn add_fault(
        &mut self,
        first: InstructionId,
        last: InstructionId,
        handler: &Fragment,
    ) -> Result<(), EditError> {
        self.add_handler(first, last, Kind::Fault, None, handler)
    }

    /// Protects the code from one instruction to another by a handler for the exceptions that a filter
    /// wants, as [`add_catch`](Self::add_catch) does for those of a type.
    ///
    /// The filter finds the exception on the stack, and leaves 1 there if it wants it, otherwise 0: where
    /// its end is reached, that is the answer. It comes to stand before the handler, and runs before
    /// anything that the code called is unwound.
    ///
    /// # Errors
    ///
    /// If there are no such instructions in this order, a fragment has labels without a place, or the
    /// end of the filter cannot be reached.
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
        let behind = self.code.next(last.0);
        let place = InsertionPoint {
            position: self.code.position(behind),
            labels: Labels::Stay,
            side: Side::WithPrevious,
        };
        let index = self.clause_index(covered, &ranks);
        let ends = self.ends_within(behind, covered.0, &ranks);
        // The handler's own clauses go before all others.
        let index = index + whole.code.clauses.len();
        let Some(inserted) = self.insert(place, &whole, &[])? else {
            return Err(EditError::EmptyRegion);
        };
        // Filter and handler begin with the exception.
        let above = match kind {
            Kind::Catch => handler.stack_need() + 1,
            Kind::Filter(filter) => handler.stack_need().max(filter.stack_need()) + 1,
            Kind::Finally | Kind::Fault => 0,
        };
        self.added_stack.above = self.added_stack.above.max(above);
        let try_end = inserted.first.0 + jumps;
        let handler_start = inserted.first.0 + before_handler;
        // Regions within the protected code end where it ended.
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
        self.code
            .clauses
            .insert(index.min(self.code.clauses.len()), clause);
        Ok(())
    }

    /// The ends before a node of regions that begin at a rank or after it, and whether it is just
    /// there.
    fn ends_within(&self, at: u32, first: u32, ranks: &Ranks) -> Vec<(Label, bool)> {
        let mut ends = Vec::new();
        for clause in &self.code.clauses {
            for (start, end) in [
                (clause.try_start, clause.try_end),
                (clause.handler_start, clause.handler_end),
            ] {
                let start = ranks.of(self.code.place(start));
                if self.code.place(end) == at && start >= first {
                    ends.push((end, start == first));
                }
            }
        }
        ends
    }

    /// Where a clause belongs whose try region reaches from one rank to another: after the last
    /// clause that lies within it or protects the same.
    fn clause_index(&self, (first, last): (u32, u32), ranks: &Ranks) -> usize {
        let rank = |label| ranks.of(self.code.place(label));
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

/// How many instructions a fragment has.
fn nodes(fragment: &Fragment) -> u32 {
    fragment.code.instructions().count() as u32
}
