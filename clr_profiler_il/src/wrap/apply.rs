use super::parts::{Builder, Part, Parts};
use super::survey::Survey;
use super::{MethodShape, TailCalls, Wrap, WrappedMethod};
use crate::body::MethodBody;
use crate::code::{Bounds, ClauseKind, END, LabelKind, UNPLACED};
use crate::edit::{EditError, InsertionPoint, Labels, Side};
use crate::fragment::{Fragment, TypeName};
use crate::instruction::Label;
use crate::opcode::Opcode;
use crate::signature::{MAX_LOCALS, SignatureError, SignatureErrorKind, TypeSig};

impl MethodBody {
    /// Wraps the whole method in code; see [`wrap`](crate::wrap).
    ///
    /// If the wrap needs locals, they are appended, so the types of the existing ones must be known
    /// ([`set_locals`](Self::set_locals), [`resolve_locals`](Self::resolve_locals)). If a new local
    /// may be read before it is written, [`init_locals`](Self::init_locals) is set.
    ///
    /// A wrapped body can be wrapped again, by code around all of it.
    ///
    /// # Errors
    ///
    /// - [`NotInstrumentable`](crate::edit::NotInstrumentable) with the reason, if the method
    ///   cannot be wrapped;
    /// - [`UnknownLocals`](EditError::UnknownLocals), or an error if there are too many locals;
    /// - an error in the wrap's code for this method: unplaced labels, arguments or locals that do
    ///   not exist, instructions that are not allowed at their position.
    ///
    /// The body is then unchanged.
    pub fn wrap<'a>(
        &mut self,
        wrap: &Wrap,
        shape: &'a MethodShape<'a>,
    ) -> Result<WrappedMethod<'a>, EditError> {
        let survey = Survey::new(self, wrap, shape)?;
        let known = self.locals().map(|locals| locals.locals.len());
        let (wrapped, added) = allot(known, wrap, shape, &survey)?;
        let parts = Builder {
            wrap,
            wrapped: &wrapped,
            survey: &survey,
            locals: known.map(|known| known + added.len()),
        }
        .parts()?;
        // Nothing fails from here on.
        if wrap.tail_calls == TailCalls::StripPrefix {
            self.strip_tail_calls();
        }
        for local in added {
            self.add_local(local)?;
        }
        if may_read_unwritten(wrap, &wrapped) {
            self.set_init_locals(true);
        }
        Assembly {
            body: self,
            start: survey.start,
            exit: None,
            need: 0,
        }
        .assemble(parts, &survey, wrapped.result)?;
        Ok(wrapped)
    }
}

/// Assigns indexes to the new locals.
fn allot<'a>(
    known: Option<usize>,
    wrap: &Wrap,
    shape: &'a MethodShape<'a>,
    survey: &Survey,
) -> Result<(WrappedMethod<'a>, Vec<TypeSig>), EditError> {
    let mut added = wrap.locals.clone();
    let returns = !survey.returns.is_empty() || wrap.returns_by_itself();
    let has_result = wrap.has_code_after() && returns && !shape.return_type().is_void();
    if has_result {
        // The local is without modifiers: a `modreq` of the result concerns only callers.
        added.push(shape.return_type().unmodified().clone());
    }
    let has_exception = wrap.has_exception();
    if has_exception {
        added.push(shape.exception().clone());
    }
    if added.is_empty() {
        let wrapped = WrappedMethod {
            shape,
            result: None,
            exception: None,
            locals: 0..0,
        };
        return Ok((wrapped, added));
    }
    let count = known.ok_or(EditError::UnknownLocals)? + added.len();
    let too_many = || {
        let kind = SignatureErrorKind::TooManyLocals(count);
        EditError::Locals(SignatureError::new(kind, 0))
    };
    let end = u16::try_from(count).map_err(|_| too_many())?;
    if count > MAX_LOCALS {
        return Err(too_many());
    }
    let exception = has_exception.then(|| end - 1);
    let end = exception.unwrap_or(end);
    let result = has_result.then(|| end - 1);
    let end = result.unwrap_or(end);
    let wrapped = WrappedMethod {
        shape,
        result,
        exception,
        locals: end - wrap.locals.len() as u16..end,
    };
    Ok((wrapped, added))
}

/// Whether new code may read a new local before it is written.
fn may_read_unwritten(wrap: &Wrap, wrapped: &WrappedMethod<'_>) -> bool {
    let ends = !wrap.fault.is_empty() || !wrap.finally.is_empty();
    let result = wrapped.result.is_some() && (ends || wrap.returns_by_itself());
    let exception = wrapped.exception.is_some() && (ends || !wrap.after.is_empty());
    result || exception || !wrap.locals.is_empty()
}

/// Inserts the parts into a body.
struct Assembly<'a> {
    body: &'a mut MethodBody,
    /// The first instruction of the method's code.
    start: u32,
    /// The label of the code after all others.
    exit: Option<Label>,
    /// The maximum need of a part on the stack, which is empty at its start.
    need: u32,
}

impl Assembly<'_> {
    fn assemble(
        mut self,
        parts: Parts,
        survey: &Survey,
        result: Option<u16>,
    ) -> Result<(), EditError> {
        let stack = self.body.added_stack;
        let exit = parts.exit.as_ref().map(|_| self.new_label());
        self.exit = exit;
        let returned = parts.returned.as_ref().map(|_| self.new_label());
        let protected = parts.fault.is_some()
            || parts.finally.is_some()
            || parts.filter.is_some()
            || !parts.catches.is_empty();

        let filter = match parts.filter {
            Some(part) => Some(self.filter(&part)?),
            None => None,
        };
        let mut catches = Vec::with_capacity(parts.catches.len());
        for (name, part) in parts.catches {
            catches.push((name, self.append(&part)?));
            // The exception is on the stack at the start.
            self.need = self.need.max(part.code.stack_need().saturating_add(1));
        }
        let mut behind_catches = None;
        if let (Some(part), Some(label)) = (&parts.returned, returned) {
            let first = self.append(part)?;
            self.body.code.place_label(label, first);
            behind_catches = Some(first);
        }
        let fault = parts.fault.map(|part| self.append(&part)).transpose()?;
        let finally = parts.finally.map(|part| self.append(&part)).transpose()?;
        let exit_node = parts.exit.map(|part| self.append(&part)).transpose()?;
        if let (Some(label), Some(node)) = (exit, exit_node) {
            self.body.code.place_label(label, node);
        }
        if let Some(target) = returned.or(exit) {
            self.redirect(survey, target, protected, result)?;
        }
        self.insert(self.start, &parts.head)?;

        let after = exit_node.unwrap_or(END);
        let behind_catches = behind_catches.or(fault).or(finally).unwrap_or(after);
        let mut catches = catches.into_iter().peekable();
        let first_catch = catches.peek().map_or(behind_catches, |&(_, node)| node);
        let first_handler = filter.map_or(first_catch, |(node, _)| node);
        if let Some((node, handler)) = filter {
            let bounds = Bounds {
                try_start: self.start,
                try_end: first_handler,
                filter: Some(node),
                handler_start: handler,
                handler_end: first_catch,
            };
            self.clause(ClauseKind::Filter, None, bounds);
        }
        while let Some((name, node)) = catches.next() {
            let end = catches.peek().map_or(behind_catches, |&(_, node)| node);
            let bounds = self.bounds(first_handler, (node, end));
            self.clause(ClauseKind::Catch, Some(name), bounds);
        }
        if let Some(node) = fault {
            let bounds = self.bounds(node, (node, finally.unwrap_or(after)));
            self.clause(ClauseKind::Fault, None, bounds);
        }
        if let Some(node) = finally {
            let bounds = self.bounds(node, (node, after));
            self.clause(ClauseKind::Finally, None, bounds);
        }
        self.body.added_stack = stack;
        let at_entry = &mut self.body.added_stack.at_entry;
        *at_entry = (*at_entry).max(self.need);
        Ok(())
    }

    fn new_label(&mut self) -> Label {
        self.body.code.add_label(UNPLACED, LabelKind::Branch)
    }

    /// Appends a part at the end and returns its first node.
    fn append(&mut self, part: &Part) -> Result<u32, EditError> {
        self.insert(END, part)
    }

    fn insert(&mut self, before: u32, part: &Part) -> Result<u32, EditError> {
        self.need = self.need.max(part.code.stack_need());
        let point = InsertionPoint {
            position: self.body.code.position(before),
            // Labels at the end of the code are continuations of the previous part.
            labels: if before == END {
                Labels::Move
            } else {
                Labels::Stay
            },
            side: Side::Outside,
        };
        let exits = part.exit.zip(self.exit);
        let inserted = self.body.insert(point, &part.code, exits.as_slice())?;
        Ok(inserted.map_or(before, |inserted| inserted.first.0))
    }

    /// Makes every `ret` store the result and continue at the code after the method's.
    fn redirect(
        &mut self,
        survey: &Survey,
        target: Label,
        protected: bool,
        result: Option<u16>,
    ) -> Result<(), EditError> {
        for one in &survey.returns {
            let opcode = if protected || one.in_region {
                Opcode::Leave
            } else {
                Opcode::Br
            };
            let Some(node) = self.body.code.node_mut(one.node) else {
                continue;
            };
            let Some(result) = result else {
                (node.opcode, node.operand) = (opcode, u64::from(target.index));
                continue;
            };
            node.opcode = Opcode::Stloc.for_variable(result);
            node.operand = u64::from(result);
            let next = self.body.code.next(one.node);
            let point = InsertionPoint {
                position: self.body.code.position(next),
                labels: Labels::Stay,
                side: Side::WithPrevious,
            };
            let mut go = Fragment::new();
            let to = go.label();
            match opcode {
                Opcode::Leave => go.leave(to),
                _ => go.br(to),
            };
            self.body.insert(point, &go, &[(to, target)])?;
        }
        Ok(())
    }

    /// Appends the filter at the end, with a handler that never runs.
    fn filter(&mut self, part: &Part) -> Result<(u32, u32), EditError> {
        let node = self.append(part)?;
        // The exception is on the stack at the start.
        self.need = self.need.max(part.code.stack_need().saturating_add(1));
        let mut never = Fragment::new();
        never.rethrow();
        let handler = self.append(&Part {
            code: never,
            exit: None,
        })?;
        Ok((node, handler))
    }

    fn bounds(&self, try_end: u32, (handler_start, handler_end): (u32, u32)) -> Bounds {
        Bounds {
            try_start: self.start,
            try_end,
            filter: None,
            handler_start,
            handler_end,
        }
    }

    /// Adds a clause around all existing ones.
    fn clause(&mut self, kind: ClauseKind, name: Option<TypeName>, bounds: Bounds) {
        let code = &mut self.body.code;
        let value = name.map_or((0, false), |name| name.0.within(code));
        code.add_clause(kind, value, bounds);
    }
}
