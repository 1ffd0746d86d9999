use std::fmt;

use crate::instruction::InstructionId;
use crate::opcode::Opcode;

/// A rule about the structure of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A branch goes to a label without an instruction (III.1.7.2).
    NoTarget,
    /// The last instruction goes on to a next one (III.1.7.2).
    FallsOffTheEnd,
    /// A region holds no instruction, or ends before it begins (II.25.4.6).
    EmptyRegion,
    /// Regions overlap without one lying in the other (II.19).
    Overlap,
    /// A clause stands behind one that encloses it (II.19).
    ClauseOrder,
    /// A filter does not end in its only `endfilter`, right before its handler (II.19).
    Filter,
    /// Control enters a region otherwise than at the first instruction of a try region (II.19,
    /// III.1.7.2).
    Enters,
    /// Control leaves a region by a branch or by going on (II.19).
    Leaves,
    /// `leave` goes out of a finally, fault or filter (III.3.46).
    LeavesHandler,
    /// An instruction stands in a region where it may not: `ret` in any, `endfinally` outside of a
    /// finally or fault, `endfilter` outside of a filter, `rethrow` outside of a catch (III.3.35,
    /// III.3.34, III.4.24, III.3.56).
    Misplaced(Opcode),
    /// A prefix before an instruction that it does not apply to (III.2).
    Prefix(Opcode),
    /// `tail.` on a call that no `ret` follows (III.2.4).
    TailWithoutRet,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTarget => "a branch goes to no instruction",
            Self::FallsOffTheEnd => "control falls off the end of the code",
            Self::EmptyRegion => "a region without an instruction",
            Self::Overlap => "regions overlap",
            Self::ClauseOrder => "the clause stands behind one that encloses it",
            Self::Filter => "a filter does not end in its only endfilter before its handler",
            Self::Enters => "control enters a region in its middle, or a handler",
            Self::Leaves => "control leaves a region other than by leave",
            Self::LeavesHandler => "leave goes out of a finally, fault or filter",
            Self::Misplaced(opcode) => return write!(f, "{opcode} may not stand in this region"),
            Self::Prefix(opcode) => {
                return write!(f, "{opcode} does not apply to this instruction");
            }
            Self::TailWithoutRet => "a tail call without a ret behind it",
        })
    }
}

/// A rule that a body breaks, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The instruction, or the first one of the region; `None` if there is none.
    pub instruction: Option<InstructionId>,
    /// Its offset in the decoded code; `None` if it was inserted.
    pub offset: Option<u32>,
    /// The exception clause, counted from 0, if the violation is one of a clause.
    pub clause: Option<usize>,
    /// The broken rule.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.offset, self.instruction) {
            (Some(offset), _) => write!(f, "IL_{offset:04x}: ")?,
            (None, Some(id)) => write!(f, "inserted instruction {}: ", id.0)?,
            (None, None) => {}
        }
        if let Some(clause) = self.clause {
            write!(f, "exception clause {clause}: ")?;
        }
        self.rule.fmt(f)
    }
}
