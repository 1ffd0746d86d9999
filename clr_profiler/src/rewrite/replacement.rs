//! Bodies in place of bodies whose code may be running.
//!
//! From .NET 7 on, code that is not optimised yet is replaced in the middle of a loop. The runtime then compiles the method's current
//! IL, from the offset at which the loop is in the IL of the running code, and with the locals of its frame. IL that was set
//! meanwhile makes an `InvalidProgramException` of that, or other values.

use crate::error::{Error, Result};
use crate::info::CorProfilerInfo3;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::instruction::Position;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::token::Token;

/// The first version that does so.
const REPLACES_IN_LOOPS: u16 = 7;

/// Refuses a new body if the runtime may continue a loop of the one before in it. It may if both have the same branches and locals.
pub(super) fn check(info: &ProfilerInfo, before: &[u8], after: &[u8]) -> Result<()> {
    if info.runtime_information()?.major < REPLACES_IN_LOOPS {
        return Ok(());
    }
    let before = Shape::of(before)?;
    match before.has_loops() && before != Shape::of(after)? {
        true => Err(NotInstrumentable::MayBeInLoop.into()),
        false => Ok(()),
    }
}

/// The parts of a body by which running code is continued.
#[derive(PartialEq)]
struct Shape {
    locals: Option<Token>,
    /// The offset, the opcode and the targets of each branch.
    branches: Vec<(u32, Opcode, Vec<u32>)>,
}

impl Shape {
    fn of(bytes: &[u8]) -> Result<Self> {
        let body = MethodBody::decode(bytes).map_err(Error::other)?;
        let offset = |position| match position {
            Position::Before(id) => body.instruction(id)?.original_offset(),
            Position::End => None,
        };
        let branches = body.instructions().filter_map(|one| {
            let targets = one.targets();
            let targets: Vec<u32> = targets
                .filter_map(|label| offset(body.position(label)?))
                .collect();
            let is_branch = !targets.is_empty();
            is_branch.then_some((one.original_offset()?, one.opcode(), targets))
        });
        Ok(Self {
            locals: body.locals_token(),
            branches: branches.collect(),
        })
    }

    /// Whether control can return to an earlier instruction.
    fn has_loops(&self) -> bool {
        let mut branches = self.branches.iter();
        branches.any(|(offset, _, targets)| targets.iter().any(|target| target <= offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body with a fat header: these locals, and this code.
    fn body(locals: u32, code: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x13, 0x30, 8, 0];
        bytes.extend((code.len() as u32).to_le_bytes());
        bytes.extend(locals.to_le_bytes());
        bytes.extend(code);
        bytes
    }

    #[test]
    fn a_loop_is_continued_with_the_same_branches_and_locals() {
        let shape = |locals, code: &[u8]| Shape::of(&body(locals, code)).unwrap();
        // ldc.i4.1; pop; ldarg.0; brtrue.s 0; ret
        let before = shape(0x1100_0001, &[0x17, 0x26, 0x02, 0x2D, 0xFB, 0x2A]);
        assert!(before.has_loops());
        // nop in place of the instructions that push and pop.
        let same = shape(0x1100_0001, &[0x00, 0x00, 0x02, 0x2D, 0xFB, 0x2A]);
        assert!(before == same);
        let moved = shape(0x1100_0001, &[0x00, 0x17, 0x26, 0x02, 0x2D, 0xFB, 0x2A]);
        assert!(moved.has_loops() && before != moved);
        assert!(before != shape(0x1100_0002, &[0x17, 0x26, 0x02, 0x2D, 0xFB, 0x2A]));
        // brtrue.s to the next instruction.
        assert!(!shape(0, &[0x02, 0x2D, 0x00, 0x2A]).has_loops());
    }
}
