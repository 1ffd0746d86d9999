//! Tracks the values on the stack along every path of control.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

use super::kind::{Kind, Kinds, KindsMemory, Want};
use super::neutral::NeutralBuffers;
use super::rule::Expected;
use super::stack::{Stack, Values};
use super::{MethodContext, Rule, Violation};
use crate::body::MethodBody;
use crate::code::END;
use crate::flow::{At, Domain, PathsMemory, Walk, along_paths};
use crate::instruction::{Instruction, InstructionId};
use crate::symbol::Resolver;

pub(super) struct Pass<'a> {
    pub(super) body: &'a MethodBody,
    pub(super) context: &'a MethodContext<'a>,
    pub(super) kinds: Kinds<'a>,
    pub(super) values: Values,
    pub(super) arguments: Vec<Kind>,
    pub(super) locals: Vec<Kind>,
    /// Otherwise each local is of unknown kind.
    pub(super) has_locals: bool,
    paths: PathsMemory<Stack>,
    most: u32,
    deepest: u32,
    found: Vec<Violation>,
    /// The indexes of the violations of each instruction.
    noted: HashMap<InstructionId, Vec<usize>>,
}

/// Reusable memory for the verification of bodies.
///
/// ```
/// use clr_profiler_il::body::MethodBody;
/// use clr_profiler_il::signature::{MethodSig, TypeSig};
/// use clr_profiler_il::verify::{MethodContext, VerifyBuffers};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let signature = MethodSig::new(TypeSig::Void, Vec::new());
/// let context = MethodContext::new(&signature);
/// let mut buffers = VerifyBuffers::new();
/// for bytes in [[0x06, 0x2a], [0x06, 0x00]] {
///     let body = MethodBody::decode(&bytes)?;
///     let violations = body.verify_with(&mut buffers, &context, &());
///     assert_eq!(violations.len(), usize::from(bytes[1] == 0x00));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct VerifyBuffers {
    kinds: KindsMemory,
    values: Values,
    arguments: Vec<Kind>,
    locals: Vec<Kind>,
    paths: PathsMemory<Stack>,
    /// Inserted code.
    pub(super) inserted: Vec<u8>,
    pub(super) neutral: NeutralBuffers,
}

impl VerifyBuffers {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The violations of the rules for values.
pub(super) fn violations(
    body: &MethodBody,
    context: &MethodContext<'_>,
    resolver: &dyn Resolver,
    buffers: &mut VerifyBuffers,
) -> Vec<Violation> {
    with_pass(body, context, resolver, buffers, |pass| {
        pass.run();
        std::mem::take(&mut pass.found)
    })
}

/// Calls a function with a pass that has found nothing yet.
pub(super) fn with_pass<R>(
    body: &MethodBody,
    context: &MethodContext<'_>,
    resolver: &dyn Resolver,
    buffers: &mut VerifyBuffers,
    run: impl FnOnce(&mut Pass<'_>) -> R,
) -> R {
    let inserted = std::mem::take(&mut buffers.inserted);
    let neutral = std::mem::take(&mut buffers.neutral);
    let mut pass = Pass::new(body, context, resolver, std::mem::take(buffers));
    let result = run(&mut pass);
    *buffers = VerifyBuffers {
        kinds: pass.kinds.into_memory(),
        values: pass.values,
        arguments: pass.arguments,
        locals: pass.locals,
        paths: pass.paths,
        inserted,
        neutral,
    };
    result
}

impl<'a> Pass<'a> {
    fn new(
        body: &'a MethodBody,
        context: &'a MethodContext<'a>,
        resolver: &'a dyn Resolver,
        memory: VerifyBuffers,
    ) -> Self {
        let VerifyBuffers {
            kinds,
            mut values,
            mut arguments,
            mut locals,
            paths,
            ..
        } = memory;
        let mut kinds = Kinds::new(resolver, context.references, kinds);
        values.clear();
        arguments.clear();
        locals.clear();
        let signature = context.signature;
        let this = match context.this_is_pointer {
            _ if !signature.has_this || signature.explicit_this => None,
            true => Some(Kind::ByRef),
            false => Some(Kind::Object),
        };
        arguments.extend(this);
        arguments.extend(signature.params.iter().map(|param| kinds.of(param)));
        let read;
        let (types, has_locals) = match (body.locals(), body.locals_token()) {
            (Some(locals), _) => (Some(locals), true),
            (None, None) => (None, true),
            (None, Some(token)) => {
                read = resolver.locals(token);
                (read.as_ref(), read.is_some())
            }
        };
        let types = types.into_iter().flat_map(|types| &types.locals);
        locals.extend(types.map(|local| kinds.of(local)));
        Self {
            body,
            context,
            kinds,
            values,
            arguments,
            locals,
            has_locals,
            paths,
            most: 0,
            deepest: END,
            found: Vec::new(),
            noted: HashMap::new(),
        }
    }

    fn run(&mut self) {
        let mut paths = std::mem::take(&mut self.paths);
        let ControlFlow::Continue(()) = along_paths(&self.body.code, &mut paths, self);
        self.paths = paths;
        let declared = self.body.max_stack();
        if self.most > declared
            && let Some(instruction) = self.body.code.instruction(InstructionId(self.deepest))
        {
            let depth = self.most;
            self.blame(&instruction, Rule::MaxStack { declared, depth });
        }
    }

    /// Whether there are no violations.
    pub(super) const fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// Records a violation once, however many paths lead to it.
    pub(super) fn blame(&mut self, instruction: &Instruction<'_>, rule: Rule) {
        let violation = Violation {
            instruction: Some(instruction.id),
            offset: instruction.original_offset(),
            clause: None,
            rule,
        };
        let noted = self.noted.entry(instruction.id).or_default();
        if noted
            .iter()
            .all(|&index| self.found.get(index) != Some(&violation))
        {
            noted.push(self.found.len());
            self.found.push(violation);
        }
    }

    pub(super) fn blame_operand(
        &mut self,
        instruction: &Instruction<'_>,
        index: usize,
        expected: Expected,
        found: Kind,
    ) {
        let rule = Rule::Operand {
            operand: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
            expected,
            found: self.kinds.public(found),
        };
        self.blame(instruction, rule);
    }

    pub(super) fn must_be_empty(&mut self, instruction: &Instruction<'_>, stack: Stack) {
        if stack.depth > 0 {
            self.blame(instruction, Rule::NotEmpty { depth: stack.depth });
        }
    }

    /// Checks that there are this many values.
    pub(super) fn has(
        &mut self,
        instruction: &Instruction<'_>,
        stack: Stack,
        count: usize,
    ) -> Option<()> {
        let (depth, pops) = (stack.depth, u32::try_from(count).unwrap_or(u32::MAX));
        if pops > depth {
            self.blame(instruction, Rule::Underflow { depth, pops });
            return None;
        }
        Some(())
    }

    /// Takes values of any kind, the deepest first.
    pub(super) fn take<const N: usize>(
        &mut self,
        instruction: &Instruction<'_>,
        mut stack: Stack,
    ) -> Option<(Stack, [Kind; N])> {
        self.has(instruction, stack, N)?;
        let mut kinds = [Kind::Unknown; N];
        for slot in kinds.iter_mut().rev() {
            (*slot, stack) = self.values.pop(stack)?;
        }
        Some((stack, kinds))
    }

    /// Takes one value as the operand with this index.
    pub(super) fn pop(
        &mut self,
        instruction: &Instruction<'_>,
        stack: Stack,
        index: usize,
        want: Want,
    ) -> Option<Stack> {
        let (found, below) = self.values.pop(stack)?;
        if !want.accepts(found) {
            let expected = match want {
                Want::Kind(kind) => Expected::Kind(self.kinds.public(kind)),
                Want::Anything | Want::Convertible | Want::Pinnable => Expected::Number,
                Want::Address => Expected::Address,
                Want::Index => Expected::Index,
                Want::Condition => Expected::Condition,
                Want::Instance | Want::InstanceOrValue(_) => Expected::Instance,
            };
            self.blame_operand(instruction, index, expected, found);
        }
        Some(below)
    }
}

/// Records every violation and continues.
impl Domain for Pass<'_> {
    type Stack = Stack;
    type Stop = Infallible;

    const EMPTY: Stack = Stack::EMPTY;

    fn caught(&mut self) -> Stack {
        self.most = self.most.max(1);
        self.values.push(Stack::EMPTY, Kind::Object)
    }

    fn step(&mut self, at: At<'_>, stack: Stack) -> Walk<Self, Option<Stack>> {
        let after = self.execute(at.instruction, stack);
        if let Some(after) = after
            && after.depth > self.most
        {
            (self.most, self.deepest) = (after.depth, at.instruction.id.0);
        }
        ControlFlow::Continue(after)
    }

    fn join(&mut self, at: At<'_>, known: Stack, arriving: Stack) -> Walk<Self, Stack> {
        let (depth, other) = (arriving.depth, known.depth);
        if depth != other {
            self.blame(at.instruction, Rule::JoinDepth { depth, other });
            return ControlFlow::Continue(known);
        }
        ControlFlow::Continue(self.values.join(known, arriving).unwrap_or_else(|clash| {
            let rule = Rule::JoinKind {
                value: depth.saturating_sub(clash.from_top),
                found: self.kinds.public(clash.other),
                other: self.kinds.public(clash.kind),
            };
            self.blame(at.instruction, rule);
            known
        }))
    }

    /// The stack must be empty at the entry of a try region.
    fn enter_try(&mut self, first: &Instruction<'_>, stack: Stack) {
        self.must_be_empty(first, stack);
    }
}
