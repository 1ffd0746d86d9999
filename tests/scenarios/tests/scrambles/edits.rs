//! Edits without an effect on a method's behaviour.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::edit::{InsertionPoint, Labels, Side};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::instruction::{InstructionId, Position};
use clr_profiler::il::opcode::{FlowControl, Opcode};
use clr_profiler::il::signature::TypeSig;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

/// Numbers that are not random: the same seed gives the same ones (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }
}

/// A body that is edited at random.
pub(super) struct Edits<'e, 'b, 'c> {
    random: Random,
    body: &'b mut MethodBody,
    cx: &'e mut RewriteContext<'c>,
    /// Instructions before which the stack is empty in the original body.
    empty: Vec<InstructionId>,
    /// Whether each call has to keep its line. The runtime's compiler knows lines of statements: if
    /// one is split in the middle, it may not know the line of its second part.
    keeps_lines: bool,
    pub(super) done: usize,
    pub(super) handlers: usize,
}

impl<'e, 'b, 'c> Edits<'e, 'b, 'c> {
    pub(super) fn new(
        seed: u64,
        keeps_lines: bool,
        body: &'b mut MethodBody,
        cx: &'e mut RewriteContext<'c>,
    ) -> Result<Self> {
        let depths = body.stack_depths(&cx.resolver()).map_err(Error::other)?;
        let empty = body.instructions().map(|one| one.id());
        let empty = empty.filter(|id| depths.before(*id) == Some(0)).collect();
        Ok(Self {
            random: Random(seed),
            body,
            cx,
            empty,
            keeps_lines,
            done: 0,
            handlers: 0,
        })
    }

    /// Some edits, of any kind.
    pub(super) fn run(&mut self) -> Result<()> {
        for _ in 0..4 + self.random.below(12) {
            match self.random.below(8) {
                0 | 1 => self.insert()?,
                2 => self.copy()?,
                3 => self.split()?,
                4 => self.detour()?,
                5 => self.stretch()?,
                6 => self.protect()?,
                _ => {
                    let code = self.nothing()?;
                    self.body.prologue(&code)?;
                }
            }
            self.done += 1;
        }
        Ok(())
    }

    fn any(&mut self) -> Result<InstructionId> {
        let count = self.body.len();
        let mut ids = self.body.instructions().map(|one| one.id());
        let id = ids.nth(self.random.below(count));
        id.ok_or_else(|| Error::other("a body without instructions"))
    }

    /// Code without effect, on a stack with any contents.
    fn nothing(&mut self) -> Result<Fragment> {
        let mut code = Fragment::new();
        for _ in 0..=self.random.below(3) {
            let number = self.random.next();
            match self.random.below(7) {
                0 => code.nop(),
                1 => code.ldc_i4(number as i32).pop(),
                2 => code.ldc_i8(number as i64).ldc_r8(number as f64).pop().pop(),
                3 => code.ldnull().dup().pop().pop(),
                4 => code.ldstr("unused").pop(),
                5 => {
                    let types = [TypeSig::I4, TypeSig::R8, TypeSig::Object, TypeSig::String];
                    let local = types[self.random.below(types.len())].clone();
                    let local = self.body.add_local(local)?;
                    code.ldloc(local).stloc(local)
                }
                _ => code.ldc_i4(number as i32).ldc_i4(3).add().neg().pop(),
            };
        }
        Ok(code)
    }

    fn insert(&mut self) -> Result<()> {
        let (id, code) = (self.any()?, self.nothing()?);
        // After an unconditional branch the code would be unreachable, and its stack would be empty.
        let is_reached = self.falls_into(id);
        let labels = match self.random.below(2) {
            0 if is_reached => Labels::Stay,
            _ => Labels::Move,
        };
        self.body.insert_before(id, labels, &code)?;
        Ok(())
    }

    /// Whether control falls through to this instruction from the previous one.
    fn falls_into(&self, id: InstructionId) -> bool {
        let mut before = self.body.instructions().take_while(|one| one.id() != id);
        let last = before.by_ref().last();
        last.is_some_and(|last| !last.opcode().ends_block())
    }

    /// `dup; pop` after an instruction that leaves a value.
    fn copy(&mut self) -> Result<()> {
        let id = self.any()?;
        if self.keeps_lines {
            return Ok(());
        }
        let opcode = self.body.instruction(id).map(|one| one.opcode());
        if opcode.is_some_and(|opcode| opcode.push_count() == Some(1)) {
            self.body
                .insert_after(id, Labels::Stay, Fragment::new().dup().pop())?;
        }
        Ok(())
    }

    /// A branch to the next instruction.
    fn split(&mut self) -> Result<()> {
        let id = self.any()?;
        if self.keeps_lines && !self.empty.contains(&id) {
            return Ok(());
        }
        let mut code = Fragment::new();
        let next = code.label();
        code.br(next).mark(next);
        self.body.insert_before(id, Labels::Move, &code)?;
        Ok(())
    }

    /// A branch takes a detour to the end of the method.
    fn detour(&mut self) -> Result<()> {
        let id = self.any()?;
        // No branch leaves a region.
        if self.body.clauses().next().is_some() {
            return Ok(());
        }
        let Some(target) = self
            .body
            .instruction(id)
            .and_then(|one| one.targets().next())
        else {
            return Ok(());
        };
        // Code that is reached only by backward branches has an empty stack (III.1.7.5).
        let is_empty = |at| matches!(at, Position::Before(id) if self.empty.contains(&id));
        if !self.body.position(target).is_some_and(is_empty) {
            return Ok(());
        }
        let mut code = Fragment::new();
        let exit = code.label();
        code.br(exit);
        let point = InsertionPoint {
            position: Position::End,
            labels: Labels::Stay,
            side: Side::Outside,
        };
        if let Some(inserted) = self.body.insert(point, &code, &[(exit, target)])? {
            let label = self.body.label(Position::Before(inserted.first))?;
            self.body.set_target(id, 0, label)?;
        }
        Ok(())
    }

    /// Branches across this position become long.
    fn stretch(&mut self) -> Result<()> {
        let id = self.any()?;
        let mut code = Fragment::new();
        for _ in 0..130 {
            code.nop();
        }
        self.body.insert_before(id, Labels::Move, &code)?;
        Ok(())
    }

    /// A handler for an exception that is never thrown, around code that begins and ends with an empty stack and
    /// is entered and left only there.
    fn protect(&mut self) -> Result<()> {
        let Some((first, last)) = self.straight() else {
            return Ok(());
        };
        let code = self.nothing()?;
        match self.random.below(3) {
            0 => self.body.add_finally(first, last, &code)?,
            1 => self.body.add_fault(first, last, &code)?,
            _ => {
                let never = self
                    .cx
                    .import_type("[corelib]System.StackOverflowException")?;
                let mut handler = Fragment::new();
                handler.pop().append(&code).rethrow();
                self.body.add_catch(first, last, never, &handler)?;
            }
        }
        self.handlers += 1;
        Ok(())
    }

    /// The first and last instruction of such code.
    fn straight(&mut self) -> Option<(InstructionId, InstructionId)> {
        let mut marked: Vec<_> = self
            .body
            .instructions()
            .flat_map(|one| one.targets())
            .filter_map(|label| self.body.position(label))
            .collect();
        for clause in self.body.clauses() {
            let (protected, handler) = (clause.try_region, clause.handler);
            marked.extend([protected.start, protected.end, handler.start, handler.end]);
            // Filters contain no protected code, and their beginnings are not recognised here.
            if matches!(
                clause.kind,
                clr_profiler::il::body::HandlerKind::Filter { .. }
            ) {
                return None;
            }
        }
        let all: Vec<_> = self.body.instructions().collect();
        let starts: Vec<_> = (0..all.len())
            .filter(|&at| self.empty.contains(&all[at].id()))
            .collect();
        let start = *starts.get(self.random.below(starts.len()))?;
        let mut end = None;
        for at in start..all.len().saturating_sub(1) {
            let here = &all[at];
            let goes_on = matches!(
                here.opcode().flow_control(),
                FlowControl::Next | FlowControl::Call
            );
            let is_entered = at > start && marked.contains(&Position::Before(here.id()));
            if !goes_on || is_entered || here.opcode() == Opcode::Localloc {
                break;
            }
            // After the code the stack is empty, too.
            if self.empty.contains(&all[at + 1].id()) {
                end = Some(at);
                if self.random.below(3) == 0 {
                    break;
                }
            }
        }
        Some((all[start].id(), all[end?].id()))
    }
}
