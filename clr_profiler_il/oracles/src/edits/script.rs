use arbitrary::Unstructured;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::{EditError, InsertionPoint, Labels, NotInstrumentable, Side};
use clr_profiler_il::instruction::{InstructionId, Position, Prefix};
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::MethodSig;
use clr_profiler_il::verify::MethodContext;
use clr_profiler_il::wrap::{Caught, MethodShape, TailCalls, Wrap};

use super::code::Code;
use super::model::Model;
use crate::tokens::{Meanings, some_type};

/// The maximum number of times that a body is wrapped.
const MOST_WRAPS: u8 = 4;

/// Chooses edits and applies them to a body and to its lines.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    signature: &'a MethodSig,
    /// Whether the depth of the stack is known, and the declared one is sufficient.
    stack_is_known: bool,
    /// Whether all edits so far preserve validity.
    is_careful: bool,
    wraps: u8,
}

impl<'a> Script<'a> {
    pub(crate) const fn new(signature: &'a MethodSig, stack_is_known: bool) -> Self {
        Self {
            signature,
            stack_is_known,
            is_careful: true,
            wraps: 0,
        }
    }

    /// Whether a body without violations still has none.
    pub(crate) const fn keeps_structure(&self) -> bool {
        self.is_careful
    }

    /// Applies one edit.
    pub(crate) fn step(
        &mut self,
        input: &mut Unstructured<'_>,
        body: &mut MethodBody,
        model: &mut Model,
    ) {
        let choice = input.int_in_range(0..=15_u8).unwrap_or_default();
        let ids = model.ids();
        let number = usize::from(input.arbitrary::<u16>().unwrap_or_default());
        let id = ids.get(number % ids.len().max(1)).copied();
        if matches!(choice, 0..=2 | 5) && has_tail_call(body) {
            // The code may be inserted between the call and its `ret`.
            self.is_careful = false;
        }
        match (choice, id) {
            (0..=2, Some(id)) => before(body, model, id, &Code::balanced(input)),
            (3, _) => prologue(body, model, &Code::balanced(input)),
            (4, _) => before_ret(body, model, &Code::balanced(input)),
            (5, Some(id)) => self.protect(input, body, model, id),
            (6, _) => self.wrap(input, body, model),
            (7, _) => add_local(input, body),
            (8, _) => body.strip_tail_calls(),
            (_, Some(id)) => {
                self.is_careful = false;
                self.stack_is_known = false;
                careless(choice, input, body, model, id);
            }
            _ => {}
        }
        if choice == 8 {
            *model = Model::of(body);
        }
        if self.stack_is_known {
            let depths = body.stack_depths(&Meanings);
            let depths = depths.unwrap_or_else(|error| panic!("{error}\n{body}"));
            let (declared, needed) = (body.max_stack(), depths.max());
            assert!(declared >= needed, "{declared} of {needed}\n{body}");
        }
    }

    /// Inserts code in a new protected region, where the stack is empty.
    fn protect(
        &mut self,
        input: &mut Unstructured<'_>,
        body: &mut MethodBody,
        model: &mut Model,
        id: InstructionId,
    ) {
        let depth = body.stack_depths(&Meanings).ok();
        let depth = depth.and_then(|depths| depths.before(id));
        let has_filter = body
            .instructions()
            .any(|one| one.opcode() == Opcode::Endfilter);
        if depth != Some(0) || has_filter {
            self.is_careful = false;
            self.stack_is_known = false;
        }
        let code = Code::balanced(input);
        let inserted = body
            .insert_before(id, Labels::Move, &code.fragment)
            .expect("code without labels");
        model.insert(
            body,
            at(Some(id), Labels::Move, Side::WithNext),
            &code,
            inserted,
            None,
        );
        let Some(inserted) = inserted else { return };
        let kind = input.int_in_range(0..=2_u8).unwrap_or_default();
        add_handler(kind, input, body, model, inserted.first, inserted.last);
    }

    fn wrap(&mut self, input: &mut Unstructured<'_>, body: &mut MethodBody, model: &mut Model) {
        self.wraps += 1;
        if self.wraps > MOST_WRAPS {
            return;
        }
        let shape = MethodShape::new(self.signature);
        let context = MethodContext::new(self.signature);
        let sound = body.verify_structure().is_empty();
        let clean = sound && body.verify(&context, &Meanings).is_empty();
        let before = body.to_string();
        let wrap = some_wrap(input);
        match body.wrap(&wrap, &shape) {
            Ok(wrapped) => {
                let locals = body.locals().map_or(0, |locals| locals.locals.len());
                let numbers = wrapped
                    .locals
                    .clone()
                    .chain(wrapped.result)
                    .chain(wrapped.exception);
                numbers.for_each(|number| assert!(usize::from(number) < locals));
            }
            Err(_) => {
                assert_eq!(body.to_string(), before, "a refused body is changed");
                return;
            }
        }
        let kept: Vec<_> = model.ids();
        let now: Vec<_> = body.instructions().map(|one| one.id()).collect();
        let mut rest = now.iter();
        for id in &kept {
            // A `ret` becomes a branch to the exit.
            let is_ret = model.line(*id).opcode == Opcode::Ret;
            assert!(is_ret || rest.any(|one| one == id), "{before}\n{body}");
        }
        if sound {
            let found = body.verify_structure();
            assert!(
                found.is_empty(),
                "{}\n{before}\n{wrap:?}",
                found[0].display(body)
            );
        }
        if clean {
            let found = body.verify(&context, &Meanings);
            assert!(
                found.is_empty(),
                "{}\n{before}\n{wrap:?}",
                found[0].display(body)
            );
        }
        // The depths of the stack do not tell the kind of the value that `ret` takes.
        self.stack_is_known &= clean;
        if self.stack_is_known {
            let depths = body.stack_depths(&Meanings);
            assert!(depths.is_ok(), "{depths:?}\n{before}\n{body}");
        }
        *model = Model::of(body);
    }
}

fn has_tail_call(body: &MethodBody) -> bool {
    let mut prefixes = body.instructions().flat_map(|one| one.prefixes());
    prefixes.any(|prefix| prefix == Prefix::Tail)
}

fn at(before: Option<InstructionId>, labels: Labels, side: Side) -> InsertionPoint {
    InsertionPoint {
        position: before.map_or(Position::End, Position::Before),
        labels,
        side,
    }
}

fn before(body: &mut MethodBody, model: &mut Model, id: InstructionId, code: &Code) {
    let inserted = body
        .insert_before(id, Labels::Move, &code.fragment)
        .expect("code without labels");
    model.insert(
        body,
        at(Some(id), Labels::Move, Side::WithNext),
        code,
        inserted,
        None,
    );
}

fn prologue(body: &mut MethodBody, model: &mut Model, code: &Code) {
    let first = body.first();
    let count = body.len();
    body.prologue(&code.fragment).expect("code without labels");
    let inserted = inserted(body, body.len() - count, 0);
    model.insert(
        body,
        at(first, Labels::Stay, Side::WithPrevious),
        code,
        inserted,
        None,
    );
}

/// The new instructions, whose number and first index are known.
fn inserted(
    body: &MethodBody,
    count: usize,
    index: usize,
) -> Option<clr_profiler_il::edit::InsertedRange> {
    let mut ids = body.instructions().map(|one| one.id()).skip(index);
    let first = ids.next().filter(|_| count > 0)?;
    let last = match count {
        1 => first,
        _ => ids.nth(count - 2)?,
    };
    Some(clr_profiler_il::edit::InsertedRange { first, last })
}

fn before_ret(body: &mut MethodBody, model: &mut Model, code: &Code) {
    let rets: Vec<_> = body
        .instructions()
        .filter(|one| one.opcode() == Opcode::Ret)
        .map(|one| one.id())
        .collect();
    match body.before_ret(&code.fragment) {
        Ok(()) => {}
        Err(EditError::NotInstrumentable(
            NotInstrumentable::TailCall(id) | NotInstrumentable::Jmp(id),
        )) => return assert!(body.instruction(id).is_some()),
        Err(error) => panic!("{error}"),
    }
    let count = code.fragment.instructions().count();
    for ret in rets {
        let index = body.instructions().position(|one| one.id() == ret);
        let index = index.expect("a ret") - count;
        let inserted = inserted(body, count, index);
        model.insert(
            body,
            at(Some(ret), Labels::Move, Side::WithNext),
            code,
            inserted,
            None,
        );
    }
}

fn add_local(input: &mut Unstructured<'_>, body: &mut MethodBody) {
    let count = body.locals().map(|locals| locals.locals.len());
    let number = input.arbitrary::<u8>().unwrap_or_default();
    match body.add_local(some_type(u32::from(number))) {
        Ok(number) => assert_eq!(Some(usize::from(number)), count),
        Err(EditError::UnknownLocals) => {
            assert_eq!(count, None);
            body.resolve_locals(&Meanings).expect("known to the module");
        }
        Err(error) => panic!("{error}"),
    }
}

/// Edits whose result no JIT may accept, but which must still be applied as requested.
fn careless(
    choice: u8,
    input: &mut Unstructured<'_>,
    body: &mut MethodBody,
    model: &mut Model,
    id: InstructionId,
) {
    match choice {
        9 => {
            body.remove(id).expect("an instruction");
            assert!(body.instruction(id).is_none());
            assert_eq!(body.remove(id), Err(EditError::UnknownInstruction(id)));
            model.remove(id);
        }
        10 => {
            let code = Code::any(input);
            match body.replace(id, &code.fragment) {
                Ok(inserted) => {
                    model.insert(
                        body,
                        at(Some(id), Labels::Move, Side::WithNext),
                        &code,
                        inserted,
                        None,
                    );
                    model.remove(id);
                }
                Err(error) => refused(error, &code),
            }
        }
        11 => {
            let code = Code::any(input);
            let next = model.next(id);
            match body.insert_after(id, Labels::Stay, &code.fragment) {
                Ok(inserted) => {
                    model.insert(
                        body,
                        at(next, Labels::Stay, Side::WithPrevious),
                        &code,
                        inserted,
                        None,
                    );
                }
                Err(error) => refused(error, &code),
            }
        }
        12 => retarget(input, body, model, id),
        13 => {
            let ids = model.ids();
            let other = usize::from(input.arbitrary::<u8>().unwrap_or_default());
            let last = ids[other % ids.len()];
            let kind = input.int_in_range(0..=2_u8).unwrap_or_default();
            add_handler(kind, input, body, model, id, last);
        }
        _ => anywhere(input, body, model, id),
    }
}

fn anywhere(
    input: &mut Unstructured<'_>,
    body: &mut MethodBody,
    model: &mut Model,
    id: InstructionId,
) {
    let code = Code::any(input);
    let at_end = input.ratio(1, 8).unwrap_or_default();
    let position = if at_end {
        Position::End
    } else {
        Position::Before(id)
    };
    let labels = match input.arbitrary().unwrap_or_default() {
        true => Labels::Move,
        false => Labels::Stay,
    };
    let side = match input.int_in_range(0..=2_u8).unwrap_or_default() {
        0 => Side::WithNext,
        1 => Side::WithPrevious,
        _ => Side::Outside,
    };
    let point = InsertionPoint {
        position,
        labels,
        side,
    };
    let exit = body.label(Position::Before(id)).expect("a position");
    model.place_label(exit, Some(id));
    let exits: Vec<_> = code.exit.iter().map(|&label| (label, exit)).collect();
    match body.insert(point, &code.fragment, &exits) {
        Ok(inserted) => model.insert(body, point, &code, inserted, Some(exit)),
        Err(error) => refused(error, &code),
    }
    let ids = model.ids();
    let other = usize::from(input.arbitrary::<u8>().unwrap_or_default());
    if let Some(&to) = ids.get(other) {
        body.move_label(exit, Position::Before(to))
            .expect("a label");
        model.place_label(exit, Some(to));
    }
}

fn retarget(
    input: &mut Unstructured<'_>,
    body: &mut MethodBody,
    model: &mut Model,
    id: InstructionId,
) {
    let targets = body.instruction(id).map_or(0, |one| one.targets().count());
    let index = usize::from(input.arbitrary::<u8>().unwrap_or_default()) % (targets + 1);
    let ids = model.ids();
    let to = usize::from(input.arbitrary::<u8>().unwrap_or_default()) % (ids.len() + 1);
    let to = ids.get(to).copied();
    let label = body
        .label(to.map_or(Position::End, Position::Before))
        .expect("a position");
    model.place_label(label, to);
    match body.set_target(id, index, label) {
        Ok(()) => model.set_target(id, index, label),
        Err(error) => {
            assert_eq!(error, EditError::NoTarget(id));
            assert_eq!(index, targets);
        }
    }
}

/// The code has an unplaced label, or ends in a prefix.
fn refused(error: EditError, code: &Code) {
    match error {
        EditError::UnboundLabel(label) => assert!(!code.positions.contains_key(&label)),
        EditError::DanglingPrefix => {}
        error => panic!("{error}"),
    }
}

fn add_handler(
    kind: u8,
    input: &mut Unstructured<'_>,
    body: &mut MethodBody,
    model: &mut Model,
    first: InstructionId,
    last: InstructionId,
) {
    let mut handler = Code::default();
    if kind == 0 {
        handler.fragment.pop();
    }
    handler.fragment.append(&Code::balanced(input).fragment);
    let clauses = body.clauses().count();
    let added = match kind {
        0 => body.add_catch(first, last, "[A]T", &handler.fragment),
        1 => body.add_finally(first, last, &handler.fragment),
        _ => body.add_fault(first, last, &handler.fragment),
    };
    let ids = model.ids();
    let index = |id| ids.iter().position(|one| *one == id);
    if index(first) > index(last) {
        return assert_eq!(added, Err(EditError::EmptyRegion));
    }
    added.unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert_eq!(body.clauses().count(), clauses + 1, "{body}");
    let found = body.clauses().any(|clause| {
        clause.try_region.start == Position::Before(first)
            && clause.try_region.end == clause.handler.start
    });
    assert!(found, "{body}");
    // The old instructions are all present, in their order, with their old targets.
    let mut rest = body.instructions().map(|one| one.id());
    for id in &ids {
        assert!(rest.any(|one| one == *id), "{body}");
    }
    model.compare_targets(body);
    *model = Model::of(body);
}

/// A wrap with any combination of parts.
fn some_wrap(input: &mut Unstructured<'_>) -> Wrap {
    let parts: u16 = input.arbitrary().unwrap_or_default();
    let mut wrap = Wrap::new();
    let mut code = || Code::balanced(input).fragment;
    if parts & 1 != 0 {
        let code = code();
        wrap = wrap.before(move |out, _| {
            out.append(&code);
        });
    }
    if parts & 2 != 0 {
        let code = code();
        wrap = wrap.on_return(move |out, _| {
            out.append(&code);
        });
    }
    if parts & 4 != 0 {
        let code = code();
        let then = if parts & 8 != 0 {
            Caught::Rethrow
        } else {
            Caught::Swallow
        };
        wrap = wrap.on_exception("[A]T", then, move |out, _, exception| {
            out.append(&code).ldloc(exception).pop();
        });
    }
    if parts & 16 != 0 {
        let code = code();
        wrap = match parts & 8 != 0 {
            true => wrap.fault(move |out, _| {
                out.append(&code);
            }),
            false => wrap.finally(move |out, _| {
                out.append(&code);
            }),
        };
    }
    if parts & 32 != 0 {
        let code = code();
        wrap = wrap.after(move |out, _| {
            out.append(&code);
        });
    }
    if parts & 64 != 0 {
        wrap = wrap.skip_if(|out, _| {
            out.ldc_i4(0);
        });
    }
    if parts & 128 != 0 {
        wrap = wrap.tail_calls(TailCalls::StripPrefix);
    }
    if parts & 256 != 0 {
        wrap = wrap.local(some_type(u32::from(parts >> 9)));
    }
    if parts & 512 != 0 {
        wrap = wrap.replace_result(|out, _, result| {
            out.ldloc(result);
        });
    }
    if parts & 1024 != 0 {
        wrap = wrap.replace_argument(0, |out, _| {
            out.ldarg(0);
        });
    }
    wrap
}
