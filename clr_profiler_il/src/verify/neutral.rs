//! The comparison of a body with its original: inserted code that is neutral breaks no rule.
//!
//! Neutral code has no tokens, variables or branches, uses no values below its own, and leaves none. All other instructions find the
//! stack that they have in the original, so that nothing of the module has to be resolved.

use super::kind::Kind;
use crate::body::{HandlerKind, MethodBody, Region};
use crate::flat::Flat;
use crate::instruction::{Instruction, Operand, Position, Prefix};
use crate::opcode::Opcode;

/// The number of values that neutral code may have on the stack at once.
const MOST: usize = 4;

/// Reused memory.
#[derive(Clone, Debug, Default)]
pub(super) struct NeutralBuffers {
    original: MethodBody,
    /// For each new instruction, by its id.
    olds: Vec<Of>,
}

/// Which old instruction a new one is or precedes.
#[derive(Clone, Copy, Debug, Default)]
struct Of {
    /// `None` if values of inserted code are on the stack.
    old: Option<u32>,
    is_inserted: bool,
}

/// Whether all code of a lazily decoded body is marks, which are neutral and have room on the stack above the declared depth.
pub(super) fn has_neutral_marks(flat: &Flat, edited: &MethodBody, declared: u16) -> bool {
    let mut most = 0;
    let are_neutral = flat.marks_are(|nodes| {
        let mut stack = Values::default();
        let runs = nodes.iter().all(|node| {
            let runs = stack.execute(node.opcode);
            most = most.max(stack.depth);
            runs
        });
        runs && stack.depth == 0
    });
    are_neutral && edited.max_stack() >= u32::from(declared) + most as u32
}

/// Whether all inserted instructions of an edited body may be in neutral code.
pub(super) fn may_be_neutral(edited: &MethodBody) -> bool {
    let mut inserted = edited.inserted().peekable();
    !edited.locals.changed
        && inserted.peek().is_some()
        && inserted.all(|one| is_known(one.opcode()) && one.prefixes().next().is_none())
}

fn loads_int32(opcode: Opcode) -> bool {
    opcode.int32(0).is_some()
}

fn is_known(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Nop
            | Opcode::Dup
            | Opcode::Pop
            | Opcode::LdcI8
            | Opcode::ConvI
            | Opcode::ConvU
            | Opcode::Add
            | Opcode::LdindU4
            | Opcode::StindI1
            | Opcode::StindI4
    ) || loads_int32(opcode)
}

/// Whether a body, as it was just decoded, is the original with neutral code between its instructions.
pub(super) fn differs_by_neutral_code(
    new: &MethodBody,
    original: &[u8],
    buffers: &mut NeutralBuffers,
) -> bool {
    let NeutralBuffers {
        original: old,
        olds,
    } = buffers;
    old.decode_into(original).is_ok()
        && new.locals_token() == old.locals_token()
        && new.init_locals() == old.init_locals()
        && are_all_there(new, old, olds)
        && have_same_targets(new, old, olds)
        && have_same_clauses(new, old, olds)
}

/// Whether all instructions of the original are there, with neutral code between them, for which there is room on the stack.
fn are_all_there(new: &MethodBody, old: &MethodBody, olds: &mut Vec<Of>) -> bool {
    olds.clear();
    let mut record = |new: &Instruction<'_>, of: Of| {
        let index = new.id().0 as usize;
        olds.resize(olds.len().max(index + 1), Of::default());
        if let Some(slot) = olds.get_mut(index) {
            *slot = of;
        }
    };
    let mut expected = old.instructions();
    let mut next = expected.next();
    let mut before: Option<Instruction<'_>> = None;
    let mut stack = Values::default();
    let mut most = 0;
    for one in new.instructions() {
        // Code after the last instruction would be fallen into, or fall off the end.
        let Some(old) = next else { return false };
        let is_between = stack.depth == 0;
        let is_inserted = !(is_between && is_same(&one, &old));
        let old = is_between.then_some(old.id().0);
        record(&one, Of { old, is_inserted });
        if !is_inserted {
            before = next;
            next = expected.next();
            continue;
        }
        if before.is_some_and(|before| needs_next(&before)) {
            return false;
        }
        if one.prefixes().next().is_some() || !stack.execute(one.opcode()) {
            return false;
        }
        most = most.max(stack.depth);
    }
    next.is_none() && new.max_stack() >= old.max_stack() + most as u32
}

/// Whether two instructions are the same but for their targets.
fn is_same(new: &Instruction<'_>, old: &Instruction<'_>) -> bool {
    let is_same_operand = match (new.operand(), old.operand()) {
        (Operand::Target(_), Operand::Target(_)) => true,
        (Operand::Switch(new), Operand::Switch(old)) => new.len() == old.len(),
        (new, old) => new == old,
    };
    new.opcode() == old.opcode() && is_same_operand && new.prefixes().eq(old.prefixes())
}

/// Whether nothing may come between an instruction and the next one.
fn needs_next(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::Ldftn | Opcode::Ldvirtftn)
        || instruction.prefixes().any(|prefix| prefix == Prefix::Tail)
}

/// Whether branches lead to the same instructions, or to the code inserted before them.
fn have_same_targets(new: &MethodBody, old: &MethodBody, olds: &[Of]) -> bool {
    let targets = |body: &MethodBody| {
        let all = body.instructions().flat_map(|one| one.targets());
        let all = all.map(|target| body.code.node_of(target));
        all.collect::<Vec<_>>()
    };
    let (new, old) = (targets(new), targets(old));
    let mut both = new.iter().zip(&old);
    new.len() == old.len()
        && both.all(|(new, old)| {
            let of = olds.get(*new as usize);
            of.is_some_and(|of| of.old == Some(*old))
        })
}

/// Whether the exception clauses have the same bounds. Code that is inserted at a bound has to follow it: it may come after an
/// instruction that has to be the last of its region.
fn have_same_clauses(new: &MethodBody, old: &MethodBody, olds: &[Of]) -> bool {
    let of = |id: u32| olds.get(id as usize).copied().unwrap_or_default();
    let is_same = |new: Position, old: Position| match (new, old) {
        (Position::End, Position::End) => true,
        (Position::Before(new), Position::Before(old)) => {
            let follows = new.0.checked_sub(1).is_some_and(|id| of(id).is_inserted);
            of(new.0).old == Some(old.0) && !follows
        }
        _ => false,
    };
    let are_same =
        |new: Region, old: Region| is_same(new.start, old.start) && is_same(new.end, old.end);
    let mut clauses = old.clauses();
    let are_all = new.clauses().all(|new| {
        clauses.next().is_some_and(|old| {
            let is_same_kind = match (new.kind, old.kind) {
                (HandlerKind::Filter { start: new }, HandlerKind::Filter { start: old }) => {
                    is_same(new, old)
                }
                (new, old) => new == old,
            };
            is_same_kind
                && are_same(new.try_region, old.try_region)
                && are_same(new.handler, old.handler)
        })
    });
    are_all && clauses.next().is_none()
}

/// The values of inserted code.
#[derive(Default)]
struct Values {
    kinds: [Option<Kind>; MOST],
    depth: usize,
}

impl Values {
    /// Executes an instruction; `false` if it takes values that are not there or not of its kind.
    fn execute(&mut self, opcode: Opcode) -> bool {
        use Kind::{Int32, Int64, NativeInt};
        if loads_int32(opcode) {
            return self.push(Int32);
        }
        match opcode {
            Opcode::Nop => true,
            Opcode::LdcI8 => self.push(Int64),
            Opcode::Pop => self.pop().is_some(),
            Opcode::Dup => self
                .pop()
                .is_some_and(|kind| self.push(kind) && self.push(kind)),
            Opcode::ConvI | Opcode::ConvU => self.pop().is_some() && self.push(NativeInt),
            Opcode::Add => {
                let (right, left) = (self.pop(), self.pop());
                left == right && left.is_some_and(|kind| self.push(kind))
            }
            Opcode::LdindU4 => self.pop() == Some(NativeInt) && self.push(Int32),
            Opcode::StindI1 | Opcode::StindI4 => {
                self.pop() == Some(Int32) && self.pop() == Some(NativeInt)
            }
            _ => false,
        }
    }

    fn push(&mut self, kind: Kind) -> bool {
        let slot = self.kinds.get_mut(self.depth);
        self.depth += 1;
        slot.map(|slot| *slot = Some(kind)).is_some()
    }

    fn pop(&mut self) -> Option<Kind> {
        self.depth = self.depth.checked_sub(1)?;
        self.kinds.get_mut(self.depth)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ldarg.0; brtrue.s L; ldc.i4.1; ret; L: ldc.i4.2; ret`.
    const ORIGINAL: [u8; 8] = [0x1e, 0x02, 0x2d, 0x02, 0x17, 0x2a, 0x18, 0x2a];

    /// `ldc.i4 0x12345678; conv.u; ldc.i4.1; stind.i1`.
    const MARK: [u8; 8] = [0x20, 0x78, 0x56, 0x34, 0x12, 0xe0, 0x17, 0x52];

    /// Compares a body with this code and depth to the original.
    fn is_neutral(max_stack: u8, parts: &[&[u8]]) -> bool {
        let code = parts.concat();
        let mut bytes = vec![
            0x03,
            0x30,
            max_stack,
            0,
            code.len() as u8,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        bytes.extend(code);
        let new = MethodBody::decode(&bytes).unwrap();
        differs_by_neutral_code(&new, &ORIGINAL, &mut NeutralBuffers::default())
    }

    #[test]
    fn code_that_leaves_nothing_may_be_before_any_instruction() {
        let first: &[u8] = &[0x02];
        let rest: &[u8] = &[0x17, 0x2a];
        let last: &[u8] = &[0x18, 0x2a];
        assert!(is_neutral(10, &[&MARK, first, &[0x2d, 0x02], rest, last]));
        // The branch leads to the mark, or after it.
        assert!(is_neutral(10, &[first, &[0x2d, 0x02], rest, &MARK, last]));
        assert!(is_neutral(10, &[first, &[0x2d, 0x0a], rest, &MARK, last]));
        // While a value is on the stack.
        assert!(is_neutral(10, &[first, &MARK, &[0x2d, 0x02], rest, last]));
    }

    #[test]
    fn other_changes_are_not_neutral() {
        let first: &[u8] = &[0x02];
        let branch: &[u8] = &[0x2d, 0x02];
        let rest: &[u8] = &[0x17, 0x2a];
        let last: &[u8] = &[0x18, 0x2a];
        // No room on the stack.
        assert!(!is_neutral(9, &[&MARK, first, branch, rest, last]));
        // Into the mark; to another instruction.
        assert!(!is_neutral(10, &[first, &[0x2d, 0x07], rest, &MARK, last]));
        assert!(!is_neutral(10, &[first, &[0x2d, 0x0b], rest, &MARK, last]));
        // It takes a value of the original, leaves one, or stores an integer as an address.
        assert!(!is_neutral(10, &[first, &[0x26, 0x16], branch, rest, last]));
        assert!(!is_neutral(10, &[&[0x16], first, branch, rest, last]));
        assert!(!is_neutral(
            10,
            &[&[0x16, 0x17, 0x52], first, branch, rest, last]
        ));
        // An instruction is missing, changed, or added at the end.
        assert!(!is_neutral(10, &[&MARK, branch, rest, last]));
        assert!(!is_neutral(
            10,
            &[&MARK, first, branch, rest, &[0x19, 0x2a]]
        ));
        assert!(!is_neutral(10, &[first, branch, rest, last, &MARK]));
    }
}
