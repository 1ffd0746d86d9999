use super::survey::Survey;
use super::{Caught, Code, Constructors, Wrap, WrappedMethod};
use crate::edit::{EditError, NotInstrumentable, check};
use crate::fragment::{Fragment, TypeName};
use crate::instruction::{Instruction, Label, Prefix};
use crate::opcode::Opcode;

/// A part of the new code.
pub(super) struct Part {
    pub(super) code: Fragment,
    /// The label in it for the code after all others.
    pub(super) exit: Option<Label>,
}

/// The parts of the new code; unnecessary ones are missing.
pub(super) struct Parts {
    pub(super) head: Part,
    pub(super) filter: Option<Part>,
    pub(super) catches: Vec<(TypeName, Part)>,
    pub(super) returned: Option<Part>,
    pub(super) fault: Option<Part>,
    pub(super) finally: Option<Part>,
    pub(super) exit: Option<Part>,
}

/// The position of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Before the method's code.
    Head,
    /// In a handler.
    Handler,
    /// After the method's code has returned.
    After,
}

/// Creates the parts for one method.
pub(super) struct Builder<'a, 'b> {
    pub(super) wrap: &'a Wrap,
    pub(super) wrapped: &'a WrappedMethod<'b>,
    pub(super) survey: &'a Survey,
    /// The number of locals, if known.
    pub(super) locals: Option<usize>,
}

impl Wrap {
    /// Whether there is code after the method's code.
    pub(super) fn has_code_after(&self) -> bool {
        let after = [
            &self.on_return,
            &self.fault,
            &self.finally,
            &self.after,
            &self.skip_if,
        ];
        self.has_exception()
            || !self.replace_result.is_empty()
            || after.into_iter().any(|codes| !codes.is_empty())
    }

    /// Whether any part handles exceptions.
    pub(super) fn has_exception(&self) -> bool {
        !self.catches.is_empty() || !self.observe.is_empty()
    }

    /// Whether the method can return even if its own code does not.
    pub(super) fn returns_by_itself(&self) -> bool {
        !self.skip_if.is_empty() || self.catches.iter().any(|one| one.then == Caught::Swallow)
    }
}

impl Builder<'_, '_> {
    pub(super) fn parts(&self) -> Result<Parts, EditError> {
        let head = self.head()?;
        if !self.wrap.has_code_after() {
            return Ok(Parts {
                head,
                filter: None,
                catches: Vec::new(),
                returned: None,
                fault: None,
                finally: None,
                exit: None,
            });
        }
        let [fault, finally] =
            [&self.wrap.fault, &self.wrap.finally].map(|codes| self.always(codes));
        let (fault, finally) = (fault?, finally?);
        Ok(Parts {
            head,
            filter: self.filter()?,
            catches: self.catches()?,
            returned: self.returned(fault.is_some() || finally.is_some())?,
            fault,
            finally,
            exit: self.exit()?,
        })
    }

    fn head(&self) -> Result<Part, EditError> {
        let mut part = Part::new();
        self.run(&mut part.code, Role::Head, &self.wrap.before)?;
        for (number, code) in &self.wrap.arguments {
            if usize::from(*number) >= self.wrapped.shape.signature().argument_count() {
                return Err(EditError::NoArgument(*number));
            }
            if *number == 0 && self.this_is_missing(Role::Head) {
                return Err(NotInstrumentable::UninitializedThis.into());
            }
            self.run(&mut part.code, Role::Head, std::slice::from_ref(code))?;
            part.code.starg(*number);
        }
        if !self.wrap.skip_if.is_empty() && self.this_is_missing(Role::Head) {
            return Err(NotInstrumentable::UninitializedThis.into());
        }
        for code in &self.wrap.skip_if {
            self.run(&mut part.code, Role::Head, std::slice::from_ref(code))?;
            let exit = part.exit();
            part.code.brtrue(exit);
        }
        part.checked()
    }

    fn filter(&self) -> Result<Option<Part>, EditError> {
        if self.wrap.observe.is_empty() {
            return Ok(None);
        }
        let mut part = Part::new();
        let exception = self.wrapped.exception.unwrap_or(u16::MAX);
        part.code.stloc(exception);
        for code in &self.wrap.observe {
            code(&mut part.code, self.wrapped, exception);
            self.inspect(&part.code, Role::Handler)?;
        }
        if part.code.reachable_end() {
            part.code.ldc_i4(0).endfilter();
        }
        part.checked().map(Some)
    }

    fn catches(&self) -> Result<Vec<(TypeName, Part)>, EditError> {
        let mut parts = Vec::with_capacity(self.wrap.catches.len());
        for one in &self.wrap.catches {
            if one.then == Caught::Swallow && self.this_is_missing(Role::Handler) {
                return Err(NotInstrumentable::UninitializedThis.into());
            }
            let mut part = Part::new();
            let exception = self.wrapped.exception.unwrap_or(u16::MAX);
            part.code.stloc(exception);
            (one.code)(&mut part.code, self.wrapped, exception);
            self.inspect(&part.code, Role::Handler)?;
            match one.then {
                _ if !part.code.reachable_end() => {}
                Caught::Rethrow => {
                    part.code.rethrow();
                }
                Caught::Swallow => {
                    let exit = part.exit();
                    part.code.leave(exit);
                }
            }
            parts.push((one.name.clone(), part.checked()?));
        }
        Ok(parts)
    }

    fn returned(&self, in_region: bool) -> Result<Option<Part>, EditError> {
        if !self.wrap.replace_result.is_empty() && self.wrapped.shape.return_type().is_void() {
            return Err(EditError::NoResult);
        }
        if self.survey.returns.is_empty() {
            return Ok(None);
        }
        let mut part = Part::new();
        self.run(&mut part.code, Role::After, &self.wrap.on_return)?;
        for code in &self.wrap.replace_result {
            let Some(result) = self.wrapped.result else {
                break;
            };
            code(&mut part.code, self.wrapped, result);
            self.inspect(&part.code, Role::After)?;
            part.code.stloc(result);
        }
        if part.code.is_empty() {
            return Ok(None);
        }
        if in_region && part.code.reachable_end() {
            let exit = part.exit();
            part.code.leave(exit);
        }
        part.checked().map(Some)
    }

    /// The handler of a `fault` or `finally` clause.
    fn always(&self, codes: &[Code]) -> Result<Option<Part>, EditError> {
        let mut part = Part::new();
        self.run(&mut part.code, Role::Handler, codes)?;
        if part.code.is_empty() {
            return Ok(None);
        }
        if part.code.reachable_end() {
            part.code.endfinally();
        }
        part.checked().map(Some)
    }

    fn exit(&self) -> Result<Option<Part>, EditError> {
        if self.survey.returns.is_empty() && !self.wrap.returns_by_itself() {
            return Ok(None);
        }
        let mut part = Part::new();
        self.run(&mut part.code, Role::After, &self.wrap.after)?;
        if let Some(result) = self.wrapped.result {
            part.code.ldloc(result);
        }
        part.code.ret();
        part.checked().map(Some)
    }

    fn run(&self, code: &mut Fragment, role: Role, parts: &[Code]) -> Result<(), EditError> {
        for part in parts {
            part(code, self.wrapped);
            self.inspect(code, role)?;
        }
        Ok(())
    }

    /// Whether `this` may be uninitialised where code with this role runs.
    fn this_is_missing(&self, role: Role) -> bool {
        self.wrapped.shape.constructor.is_some()
            && self.wrap.constructors == Constructors::Whole
            && role != Role::After
    }

    /// Checks a part for instructions that are not allowed in it.
    fn inspect(&self, code: &Fragment, role: Role) -> Result<(), EditError> {
        if !code.pending.is_empty() {
            return Err(EditError::DanglingPrefix);
        }
        code.instructions()
            .try_for_each(|instruction| self.inspect_one(&instruction, role))
    }

    fn inspect_one(&self, instruction: &Instruction<'_>, role: Role) -> Result<(), EditError> {
        let opcode = instruction.opcode();
        let misplaced = match opcode {
            // Control would not reach the following code.
            Opcode::Ret | Opcode::Jmp => true,
            Opcode::Localloc => role == Role::Handler,
            _ => false,
        };
        if misplaced {
            return Err(EditError::Misplaced(opcode));
        }
        if instruction.prefixes().any(|prefix| prefix == Prefix::Tail) {
            return Err(EditError::Misplaced(Opcode::Tail));
        }
        if let Some(number) = instruction.argument() {
            if usize::from(number) >= self.wrapped.shape.signature().argument_count() {
                return Err(EditError::NoArgument(number));
            }
            if number == 0 && self.this_is_missing(role) {
                return Err(NotInstrumentable::UninitializedThis.into());
            }
        }
        if let Some(number) = instruction.local()
            && let Some(count) = self.locals
            && usize::from(number) >= count
        {
            return Err(EditError::NoLocal(number));
        }
        Ok(())
    }
}

impl Part {
    fn new() -> Self {
        Self {
            code: Fragment::new(),
            exit: None,
        }
    }

    /// The label for the code after all others.
    fn exit(&mut self) -> Label {
        let code = &mut self.code;
        *self.exit.get_or_insert_with(|| code.label())
    }

    fn checked(self) -> Result<Self, EditError> {
        match self.exit {
            Some(exit) => check(&self.code, &[(exit, exit)])?,
            None => check(&self.code, &[])?,
        }
        Ok(self)
    }
}
